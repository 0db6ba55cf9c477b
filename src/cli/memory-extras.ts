// Where the optional packages of memory belong, for the commands that add and remove them.
import type { Io } from "./io.ts";
import { requireConfig } from "./settings.ts";

export async function extrasHere(io: Io): Promise<string> {
  const { extrasFolder } = await import("../memory/embed/extra.ts");
  const { config } = await requireConfig(io);
  return extrasFolder(io.paths(), config.agents?.defaults?.memorySearch?.local?.modelCacheDir);
}
