// What belongs to the gateway on this machine and is hidden from commands that start by a rule alone.
import { join } from "node:path";

import { DEFAULT_AGENT, type AgentId } from "../../core/names.ts";
import type { Env, Paths } from "../../base/paths.ts";
import { agentIds, workspaceOf } from "../../config/agents.ts";
import { ownPlaces } from "../../config/own-places.ts";
import type { Config } from "../../config/schema/index.ts";
import { entriesOf } from "../sandbox/inherited-fds.ts";

/** As configured: links are resolved later. */
export interface GuardedPaths {
  /** The one folder of the gateway's files that stays, with full access. */
  readonly workspace?: string;
  readonly home: string;
  /** Rules and secrets: must be hidden, and nothing may be put in their place. */
  readonly state: string;
  readonly configs: readonly string[];
  /** Folders and files that are hidden where they exist. */
  readonly hidden: readonly string[];
  /** What the gateway runs, serves or reads as instructions: seen, but not changed. */
  readonly readOnly: readonly string[];
  /** Would be read in place of the state folder if a command created it. */
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
  const named = ownPlaces(config, paths.home);
  return {
    ...machineGuardedPaths(paths, facts.env),
    workspace,
    configs: [paths.config, ...files],
    hidden: [...stateFolders(paths, facts.env), ...others.map((id) => workspaceOf(config, id, paths)), ...named.hidden],
    readOnly: named.kept,
  };
}

/** Without a config: for a node host. */
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

/** State folders of every profile and of the older name, in every home we know. */
function stateFolders({ home }: Paths, env: Env): string[] {
  const homes = [...new Set([home, env["HOME"] ?? home])];
  return homes.flatMap((folder) =>
    entriesOf(folder)
      .filter((name) => /^\.(?:openclaw|moltbot)(?:$|-)/.test(name))
      .map((name) => join(folder, name)),
  );
}
