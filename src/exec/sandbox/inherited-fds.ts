// Finds open files without close-on-exec, which a child would inherit, and builds a shell that closes them.
import { existsSync, readdirSync, readFileSync } from "node:fs";

import { errnoOf } from "../../core/error.ts";

const CLOSED_ON_START = 0o2000000;
const BASH = "/bin/bash";

/** A plain shell, and a script prefix that closes the files. */
export function shellClosingInheritedFds(): { readonly shell: readonly string[]; readonly closes: string } {
  const inherited = inheritedFds();
  // Small shells start faster but only accept one-digit numbers. `--norc`: with a socket as input bash would read
  // ~/.bashrc.
  const needsBash = inherited.some((fd) => fd > 9) && existsSync(BASH);
  const closed = inherited.filter((fd) => needsBash || fd <= 9);
  return {
    shell: needsBash ? [BASH, "--posix", "--norc"] : ["/bin/sh"],
    closes: closed.map((fd) => `exec ${fd}<&-; `).join(""),
  };
}

/** Files we open ourselves have close-on-exec. Empty without /proc. */
function inheritedFds(): readonly number[] {
  return entriesOf("/proc/self/fd")
    .map(Number)
    .filter((fd) => fd > 2 && staysOpen(fd));
}

function staysOpen(fd: number): boolean {
  const flags = /^flags:\s*([0-7]+)$/m.exec(contentOf(`/proc/self/fdinfo/${fd}`))?.[1];
  return flags !== undefined && (Number.parseInt(flags, 8) & CLOSED_ON_START) === 0;
}

/** Empty when it was closed meanwhile, as the descriptor of the listing itself was. */
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
