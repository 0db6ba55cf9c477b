// Open files of ours that a child would find open too: handed down to us, or opened by a library that did not care.
import { existsSync, readdirSync, readFileSync } from "node:fs";

import { errnoOf } from "../../core/error.ts";

const CLOSED_ON_START = 0o2000000;
const BASH = "/bin/bash";

/** A plain shell, and the beginning of its script that closes them. */
export function shellClosingInheritedFds(): { readonly shell: readonly string[]; readonly closes: string } {
  const inherited = inheritedFds();
  // `--norc`: on a socket, bash takes itself for a remote shell and would read ~/.bashrc.
  // Small shells know numbers of one digit only; they start faster, so they are used where they do.
  const needsBash = inherited.some((fd) => fd > 9) && existsSync(BASH);
  const closed = inherited.filter((fd) => needsBash || fd <= 9);
  return {
    shell: needsBash ? [BASH, "--posix", "--norc"] : ["/bin/sh"],
    closes: closed.map((fd) => `exec ${fd}<&-; `).join(""),
  };
}

/** Their numbers. Everything we open ourselves closes when a program starts; without /proc nobody can tell. */
function inheritedFds(): readonly number[] {
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

/** Empty when the folder cannot be read. */
export function entriesOf(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if (errnoOf(error) === undefined) throw error;
    return [];
  }
}
