// Does a sandbox of the configured kind start on this machine: told by a real trial, in a folder that goes away.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { systemClock } from "../../base/clock.ts";
import type { Log } from "../../base/log.ts";
import type { Paths } from "../../base/paths.ts";
import { agentIds } from "../../config/agents.ts";
import type { LoadedConfig } from "../../config/load.ts";
import { HouseError } from "../../core/error.ts";
import { createBackends } from "../../exec/box/builtin.ts";
import { chooseBackend } from "../../exec/box/choose.ts";
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
  const folder = mkdtempSync(join(tmpdir(), "openclaw-probe-"));
  const backends = createBackends({ folder, env, log: quiet, clock: systemClock });
  try {
    await chooseBackend(settings, backends.all);
    return { works: true };
  } catch (error) {
    if (!(error instanceof HouseError)) throw error;
    return { works: false, reason: error.message, ...(error.hint === undefined ? {} : { fix: firstFix(error.hint) }) };
  } finally {
    await backends.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

const quiet: Log = { error() {}, warn() {}, info() {}, debug() {}, child: () => quiet };

/** A hint may name several ways; one command is enough to begin with. */
function firstFix(hint: string): string {
  return hint.split("; or ")[0] ?? hint;
}
