// Runs hooks of a workspace from a copy, so that the bytes compared with the pin are the bytes that run.
import { rmSync } from "node:fs";
import { basename, join } from "node:path";

import { OpenClawError } from "../../core/error.ts";
import { writeFileAtomic } from "../../base/atomic-file.ts";
import { readHookFiles } from "./folder.ts";
import type { HookRow } from "./hook.ts";

/** The script to load. Throws `hook.bad` when the files differ from the pin. */
export function scriptOf(row: HookRow, stateFolder: string): string {
  const { file, folder, name, needsPin, digest } = row;
  if (file === undefined || folder === undefined)
    throw new OpenClawError("hook.bad", `hook ${name} has no script`, { hint: `openclaw hooks info ${name}` });
  if (!needsPin) return file;
  const now = readHookFiles(folder);
  if (now.digest !== digest)
    throw new OpenClawError("hook.bad", `hook ${name} was changed while it was loaded`, {
      hint: `openclaw hooks enable ${name}`,
    });
  const copy = join(stateFolder, "cache", "hooks", now.digest);
  rmSync(copy, { recursive: true, force: true });
  for (const [path, bytes] of now.files) writeFileAtomic(join(copy, path), bytes);
  return join(copy, basename(file));
}
