// The sandboxes of this machine for a command; works from files and the sandbox engine, without a gateway.
import { openLog } from "../base/log.ts";
import { systemClock } from "../base/clock.ts";
import { createMask } from "../base/mask.ts";
import { workspaceOf } from "../config/agents.ts";
import type { LoadedConfig } from "../config/load.ts";
import { createSandboxes, type Sandboxes } from "../exec/sandboxes.ts";
import type { Io } from "./io.ts";

export async function withSandboxes<T>(
  io: Io,
  { config, env }: LoadedConfig,
  use: (sandboxes: Sandboxes) => Promise<T>,
): Promise<T> {
  const log = openLog({
    level: "silent",
    consoleLevel: "warn",
    consoleStyle: "compact",
    mask: createMask(),
    write: (line) => io.say(line),
  });
  const paths = io.paths();
  const sandboxes = createSandboxes({
    paths,
    env,
    config: () => config,
    log,
    clock: systemClock,
    workspaceOf: (agent) => workspaceOf(config, agent, paths),
  });
  try {
    return await use(sandboxes);
  } finally {
    await sandboxes.close();
    log.close();
  }
}
