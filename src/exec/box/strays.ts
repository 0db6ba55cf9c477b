// Open files of ours that a child would find open too: handed down to us, or opened by a library that did not care.
import { existsSync, readdirSync, readFileSync } from "node:fs";

import { errnoOf } from "../../core/error.ts";

const CLOSED_ON_START = 0o2000000;
const BASH = "/bin/bash";

/** The same program without them. Those below `first` are the caller's to fill. */
export function withoutStrays(argv: readonly string[], first: number): readonly string[] {
  const strays = strayFiles().filter((fd) => fd >= first);
  if (strays.length === 0) return argv;
  // Other shells know numbers of one digit only.
  const shell = existsSync(BASH) ? BASH : "/bin/sh";
  const closes = strays.filter((fd) => shell === BASH || fd < 10).map((fd) => `exec ${fd}<&-; `);
  return [shell, "-c", `${closes.join("")}exec "$@"`, "sh", ...argv];
}

/** Their numbers. Everything we open ourselves closes when a program starts; without /proc nobody can tell. */
function strayFiles(): readonly number[] {
  return entriesOf("/proc/self/fd")
    .map(Number)
    .filter((fd) => fd > 2 && staysOpen(fd));
}

function staysOpen(fd: number): boolean {
  const flags = /^flags:\s*([0-7]+)$/m.exec(contentOf(`/proc/self/fdinfo/${fd}`))?.[1];
  return flags !== undefined && (Number.parseInt(flags, 8) & CLOSED_ON_START) === 0;
}

/** Empty when it was closed meanwhile: the list itself is read through one. */
function contentOf(path: string): string {
  try {
    return readFileSync(path, "latin1");
  } catch (error) {
    if (errnoOf(error) === undefined) throw error;
    return "";
  }
}

function entriesOf(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if (errnoOf(error) === undefined) throw error;
    return [];
  }
}
