// Lists the files of the gateway that are hidden from commands that no person approved.
import { join } from "node:path";

import { DEFAULT_AGENT, type AgentId } from "../../core/names.ts";
import type { Env, Paths } from "../../base/paths.ts";
import { agentIds, workspaceOf } from "../../config/agents.ts";
import { gatewayFiles } from "../../config/gateway-files.ts";
import type { Config } from "../../config/schema/index.ts";
import { entriesOf } from "../sandbox/inherited-fds.ts";

/** As configured; links are resolved later. */
export interface GuardedPaths {
  /** The only folder of the gateway that stays fully accessible. */
  readonly workspace?: string;
  readonly home: string;
  /** Holds rules and secrets: must be hidden, and a command must not be able to replace it. */
  readonly state: string;
  readonly configs: readonly string[];
  /** Folders and files that are hidden where they exist. */
  readonly hidden: readonly string[];
  /** What the gateway runs, serves or reads as instructions: visible but read-only. */
  readonly readOnly: readonly string[];
  /** The gateway would read this folder in place of the state folder if a command created it. */
  readonly alternateState?: string;
}

export interface GatewayFacts {
  readonly paths: Paths;
  readonly env: Env;
  readonly config: Config;
  /** The config and every file it includes. */
  readonly files: readonly string[];
}

export function gatewayGuardedPaths(facts: GatewayFacts, agent: AgentId, workspace: string): GuardedPaths {
  const { paths, config, files } = facts;
  const others = [DEFAULT_AGENT, ...agentIds(config)].filter((id) => id !== agent);
  const named = gatewayFiles(config, paths.home);
  return {
    ...machineGuardedPaths(paths, facts.env),
    workspace,
    configs: [paths.config, ...files],
    hidden: [...stateFolders(paths, facts.env), ...others.map((id) => workspaceOf(config, id, paths)), ...named.hidden],
    readOnly: named.kept,
  };
}

/** For a browser, which sees no agent's workspace: `userData` is the only folder of the gateway that it needs. */
export function browserHiddenPaths(facts: GatewayFacts, userData: string): GuardedPaths {
  const { workspace: _own, hidden, ...rest } = gatewayGuardedPaths(facts, DEFAULT_AGENT, userData);
  return { ...rest, workspace: userData, hidden: [...hidden, workspaceOf(facts.config, DEFAULT_AGENT, facts.paths)] };
}

/** For a node host, which has no gateway config. */
export function machineGuardedPaths(paths: Paths, env: Env): GuardedPaths {
  return {
    home: paths.home,
    state: paths.state,
    configs: [paths.config],
    hidden: stateFolders(paths, env),
    readOnly: [],
    ...(paths.product === "moltbot" ? { alternateState: join(paths.home, ".openclaw") } : {}),
  };
}

/** State folders of every profile and of the older product name, in every known home. */
function stateFolders({ home }: Paths, env: Env): string[] {
  const homes = [...new Set([home, env["HOME"] ?? home])];
  return homes.flatMap((folder) =>
    entriesOf(folder)
      .filter((name) => /^\.(?:openclaw|moltbot)(?:$|-)/.test(name))
      .map((name) => join(folder, name)),
  );
}
