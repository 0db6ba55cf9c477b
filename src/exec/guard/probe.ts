// Tests which agents' allowlists cannot be enforced on this machine, by a real start; for doctor and audit.
import type { AgentId } from "../../core/names.ts";
import type { Paths } from "../../base/paths.ts";
import { agentIds, workspaceOf } from "../../config/agents.ts";
import type { LoadedConfig } from "../../config/load.ts";
import { createGuard } from "../guard.ts";
import { routeOfSession } from "../route.ts";
import { gatewayGuardedPaths } from "./guarded-paths.ts";

export interface Unguarded {
  readonly agents: readonly AgentId[];
  readonly reason: string;
  readonly fix: string;
}

/** Undefined when every agent with an allowlist on this host can be guarded. */
export async function guardProbe(loaded: LoadedConfig, paths: Paths): Promise<Unguarded | undefined> {
  const { config, files, env } = loaded;
  const listed = agentIds(config).filter((agent) => {
    const { host, security } = routeOfSession(config, agent, {});
    return host.value === "gateway" && security.value === "allowlist";
  });
  const guard = createGuard();
  try {
    for (const agent of listed) {
      const workspace = workspaceOf(config, agent, paths);
      const answer = await guard.works(gatewayGuardedPaths({ paths, env, config, files }, agent, workspace));
      if (!answer.works) return { agents: listed, reason: answer.reason, fix: answer.fix };
    }
    return undefined;
  } finally {
    guard.close();
  }
}
