// The boxes of this machine for a command: kept by files and the engine, so no gateway need run.
import { openLog } from "../base/log.ts";
import { systemClock } from "../base/clock.ts";
import { createMask } from "../base/mask.ts";
import { workspaceOf } from "../config/agents.ts";
import type { LoadedConfig } from "../config/load.ts";
import { createBoxes, type Boxes } from "../exec/boxes.ts";
import type { Io } from "./io.ts";

export async function withBoxes<T>(
  io: Io,
  { config, env }: LoadedConfig,
  use: (boxes: Boxes) => Promise<T>,
): Promise<T> {
  const log = openLog({
    level: "silent",
    consoleLevel: "warn",
    consoleStyle: "compact",
    mask: createMask(),
    write: (line) => io.say(line),
  });
  const paths = io.paths();
  const boxes = createBoxes({
    paths,
    env,
    config: () => config,
    log,
    clock: systemClock,
    workspaceOf: (agent) => workspaceOf(config, agent, paths),
  });
  try {
    return await use(boxes);
  } finally {
    await boxes.close();
    log.close();
  }
}
