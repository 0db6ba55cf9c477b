// What belongs to the gateway on this machine and is hidden from commands that start by a rule alone.
import { join } from "node:path";

import { DEFAULT_AGENT, type AgentId } from "../../core/names.ts";
import { expandHome, type Env, type Paths } from "../../base/paths.ts";
import { agentIds, workspaceOf } from "../../config/agents.ts";
import type { Config } from "../../config/schema/index.ts";
import { entriesOf } from "../box/strays.ts";

/** As configured: links are resolved later. */
export interface GuardPlaces {
  /** The one folder of the gateway's files that stays, with full access. */
  readonly workspace?: string;
  readonly home: string;
  /** Rules and secrets: must be hidden, and nothing may be put in their place. */
  readonly state: string;
  readonly configs: readonly string[];
  /** Folders and files that are hidden where they exist. */
  readonly hidden: readonly string[];
  /** Would be read in place of the state folder if a command created it. */
  readonly rival?: string;
}

export interface GatewayFacts {
  readonly paths: Paths;
  readonly env: Env;
  readonly config: Config;
  /** The config and every file it includes. */
  readonly files: readonly string[];
}

export function gatewayPlaces(facts: GatewayFacts, agent: AgentId, workspace: string): GuardPlaces {
  const { paths, config, files } = facts;
  const { agents, logging, gateway } = config;
  const others = [DEFAULT_AGENT, ...agentIds(config)].filter((id) => id !== agent);
  const named = [logging?.file, gateway?.tls?.keyPath].filter((path) => path !== undefined);
  return {
    ...machinePlaces(paths, facts.env),
    workspace,
    configs: [paths.config, ...files],
    hidden: [
      ...statesIn(paths, facts.env),
      ...others.map((id) => workspaceOf(config, id, paths)),
      ...[...(agents?.list ?? []).flatMap(({ agentDir }) => (agentDir === undefined ? [] : [agentDir])), ...named].map(
        (path) => expandHome(path, paths.home),
      ),
    ],
  };
}

/** Without a config: for a node host. */
export function machinePlaces(paths: Paths, env: Env): GuardPlaces {
  return {
    home: paths.home,
    state: paths.state,
    configs: [paths.config],
    hidden: statesIn(paths, env),
    ...(paths.product === "moltbot" ? { rival: join(paths.home, ".openclaw") } : {}),
  };
}

/** State folders of every profile and of the older name, in every home we know. */
function statesIn({ home }: Paths, env: Env): string[] {
  const homes = [...new Set([home, env["HOME"] ?? home])];
  return homes.flatMap((folder) =>
    entriesOf(folder)
      .filter((name) => /^\.(?:openclaw|moltbot)(?:$|-)/.test(name))
      .map((name) => join(folder, name)),
  );
}
