// Moves a folder to the trash of the desktop, or to the trash folder of the state directory.
import { existsSync, mkdirSync, renameSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";

import type { Env } from "../base/paths.ts";
import { errnoOf } from "../core/error.ts";

/** Returns where it is now; undefined when there was no such folder. */
export function moveToTrash(folder: string, label: string, stateDir: string, env: Env): string | undefined {
  if (!existsSync(folder)) return undefined;
  const stamp = new Date().toISOString().replaceAll(/[:.]/g, "-");
  const name = `${label}-${stamp}`;
  const home = env["HOME"];
  if (home !== undefined && home !== "" && process.platform !== "win32") {
    const isMac = process.platform === "darwin";
    const root = isMac ? join(home, ".Trash") : join(env["XDG_DATA_HOME"] || join(home, ".local", "share"), "Trash");
    const moved = tryMove(folder, isMac ? root : join(root, "files"), name);
    if (moved !== undefined) {
      if (!isMac) describeInTrash(root, name, folder);
      return moved;
    }
  }
  const own = join(stateDir, "trash");
  mkdirSync(own, { recursive: true, mode: 0o700 });
  const to = join(own, name);
  renameSync(folder, to);
  return to;
}

/** Undefined when the trash is on another disk or cannot be written. */
function tryMove(folder: string, into: string, name: string): string | undefined {
  try {
    mkdirSync(into, { recursive: true, mode: 0o700 });
    const to = join(into, name);
    renameSync(folder, to);
    return to;
  } catch (error) {
    const code = errnoOf(error);
    if (code === "EXDEV" || code === "EACCES" || code === "EPERM" || code === "EROFS" || code === "ENOTDIR")
      return undefined;
    throw error;
  }
}

/** The format of the freedesktop.org trash specification. */
function describeInTrash(root: string, name: string, from: string): void {
  const info = join(root, "info");
  mkdirSync(info, { recursive: true, mode: 0o700 });
  const date = new Date().toISOString().slice(0, 19);
  const path = from.split("/").map(encodeURIComponent).join("/");
  writeFileSync(join(info, `${basename(name)}.trashinfo`), `[Trash Info]\nPath=${path}\nDeletionDate=${date}\n`, {
    mode: 0o600,
  });
}
