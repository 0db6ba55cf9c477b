// Tests by a real start, in a temporary folder, whether the configured sandbox works on this machine.
import { tmpdir } from "node:os";
import { join } from "node:path";

import type { AgentId } from "../../core/names.ts";
import { systemClock } from "../../base/clock.ts";
import { newId } from "../../base/ids.ts";
import type { Log } from "../../base/log.ts";
import type { Env, Paths } from "../../base/paths.ts";
import { agentIds } from "../../config/agents.ts";
import type { Config } from "../../config/schema/index.ts";
import { backendChoice } from "./choose-backend.ts";
import { sandboxWorks } from "./detect.ts";
import { sandboxSettings } from "../sandbox-settings.ts";

export interface ProbeAnswer {
  readonly works: boolean;
  readonly reason?: string;
  readonly fix?: string;
}

/** Tests the first agent with a sandbox; works when there is none. */
export async function sandboxProbe(
  { config, env }: { readonly config: Config; readonly env: Env },
  paths: Paths,
  agents: readonly AgentId[] = agentIds(config),
): Promise<ProbeAnswer> {
  const settings = agents.map((agent) => sandboxSettings(config, agent, paths)).find(({ mode }) => mode !== "off");
  if (settings === undefined) return { works: true };
  const folder = join(tmpdir(), `openclaw-probe-${newId()}`);
  const answer = await sandboxWorks({ folder, env, log: quiet, clock: systemClock }, backendChoice(settings));
  if ("backend" in answer) return { works: true };
  // A hint may list several fixes; the first one is enough here.
  return { works: false, reason: answer.reason, fix: answer.fix.split("; or ")[0] ?? answer.fix };
}

const quiet: Log = { error() {}, warn() {}, info() {}, debug() {}, child: () => quiet };
