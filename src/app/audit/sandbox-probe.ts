// Does a sandbox of the configured kind start on this machine: told by a real trial, in a folder that goes away.
import { tmpdir } from "node:os";
import { join } from "node:path";

import { systemClock } from "../../base/clock.ts";
import { newId } from "../../base/ids.ts";
import type { Log } from "../../base/log.ts";
import type { Paths } from "../../base/paths.ts";
import { agentIds } from "../../config/agents.ts";
import type { LoadedConfig } from "../../config/load.ts";
import { sandboxWorks } from "../../exec/box/detect.ts";
import { sandboxSettings } from "../../exec/sandbox-settings.ts";

export interface ProbeAnswer {
  readonly works: boolean;
  readonly reason?: string;
  readonly fix?: string;
}

/** For the first agent that has a sandbox; true when none has. */
export async function sandboxProbe({ config, env }: LoadedConfig, paths: Paths): Promise<ProbeAnswer> {
  const settings = agentIds(config)
    .map((agent) => sandboxSettings(config, agent, paths))
    .find(({ mode }) => mode !== "off");
  if (settings === undefined) return { works: true };
  const { backend, docker } = settings;
  // Only containers can have a network.
  const choice = backend === "auto" && docker.network !== "none" ? "docker" : backend;
  const folder = join(tmpdir(), `openclaw-probe-${newId()}`);
  const answer = await sandboxWorks({ folder, env, log: quiet, clock: systemClock }, choice);
  if ("backend" in answer) return { works: true };
  // A hint may name several ways; one command is enough to begin with.
  return { works: false, reason: answer.reason, fix: answer.fix.split("; or ")[0] ?? answer.fix };
}

const quiet: Log = { error() {}, warn() {}, info() {}, debug() {}, child: () => quiet };
