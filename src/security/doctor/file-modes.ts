// Whether private folders (700) and files (600) are private.
import { chmodSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";

import { errnoOf } from "../../core/error.ts";
import { ok, shortPath, type Check, type Finding } from "./check.ts";

export const fileModes: Check = {
  name: "File modes",
  needsConfig: false,
  run({ paths, loaded }) {
    if (process.platform === "win32")
      return [{ level: "note", message: "not checked: Windows does not use file modes" }];
    const { state } = paths;
    const short = (path: string): string => shortPath(path, { paths });
    const folders = [state, join(state, "identity"), join(state, "logs"), join(state, "credentials")];
    const files = [
      ...loaded.files,
      join(state, ".env"),
      join(state, "exec-approvals.json"),
      ...storeFiles(state),
      ...inside(join(state, "identity")),
      ...inside(join(state, "logs")),
    ];
    const found = [
      ...folders.flatMap((path) => judge(path, 0o700, short)),
      ...files.flatMap((path) => judge(path, 0o600, short)),
    ];
    return found.length === 0 ? [ok("private files are readable by you only")] : found;
  },
};

/** Checks the rights of group and others only. */
function judge(path: string, wanted: number, short: (path: string) => string): Finding[] {
  const mode = statSync(path, { throwIfNoEntry: false })?.mode;
  if (mode === undefined || (mode & 0o077) === 0) return [];
  const octal = (mode & 0o777).toString(8);
  return [
    {
      level: "warn",
      message: `${short(path)} can be read or written by others (mode ${octal})`,
      hint: `chmod ${wanted.toString(8)} ${path}`,
      repair: { does: `set mode ${wanted.toString(8)} on ${short(path)}`, apply: () => chmodSync(path, wanted) },
    },
  ];
}

function storeFiles(state: string): string[] {
  return inside(state).filter((path) => /\.sqlite(-wal|-shm)?$|\.json\.bak/.test(path));
}

function inside(folder: string): string[] {
  try {
    return readdirSync(folder, { withFileTypes: true }).flatMap((entry) =>
      entry.isFile() ? [join(folder, entry.name)] : [],
    );
  } catch (error) {
    if (errnoOf(error) === "ENOENT" || errnoOf(error) === "EACCES") return [];
    throw error;
  }
}
