// Passes bytes to a child process as an open file without a name, reached through /proc.
import { closeSync, mkdirSync, openSync, unlinkSync, writeSync } from "node:fs";
import { join } from "node:path";

import { newSecret } from "../../base/ids.ts";

export interface AnonymousFiles {
  /** The same bytes give the same path while they are in use. This process and its children can open it. */
  pathOf(bytes: string | Uint8Array): string;
  close(): void;
}

const MAX_OPEN = 64;
/** Long enough for a child to open the path it was given, even on a busy machine. */
const GRACE_MS = 60_000;

/**
 * Needed because every user can read a secret on a command line, a variable in the environment of `docker` or `bwrap`
 * could change how those programs run (LD_PRELOAD), and not every way to start a process can pass open files.
 */
export function createAnonymousFiles(folder: string): AnonymousFiles {
  const open = new Map<string, number>();
  const leaving = new Map<number, NodeJS.Timeout>();

  const retire = (key: string, fd: number): void => {
    open.delete(key);
    const timer = setTimeout(() => {
      leaving.delete(fd);
      closeSync(fd);
    }, GRACE_MS);
    leaving.set(fd, timer.unref());
  };

  return {
    pathOf(bytes) {
      const key = typeof bytes === "string" ? bytes : Buffer.from(bytes).toString("latin1");
      const known = open.get(key);
      const fd = known ?? writeUnnamed(folder, bytes);
      // Most recently used last.
      open.delete(key);
      open.set(key, fd);
      const oldest = open.entries().next();
      if (open.size > MAX_OPEN && !oldest.done) retire(...oldest.value);
      return `/proc/${process.pid}/fd/${fd}`;
    },
    close() {
      for (const timer of leaving.values()) clearTimeout(timer);
      for (const fd of [...open.values(), ...leaving.keys()]) closeSync(fd);
      open.clear();
      leaving.clear();
    },
  };
}

function writeUnnamed(folder: string, bytes: string | Uint8Array): number {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const name = join(folder, `.${newSecret(8)}`);
  const fd = openSync(name, "wx", 0o600);
  unlinkSync(name);
  const buffer = typeof bytes === "string" ? Buffer.from(bytes, "utf8") : bytes;
  for (let at = 0; at < buffer.length;) at += writeSync(fd, buffer, at);
  return fd;
}
