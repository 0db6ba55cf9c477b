// Handles of files and folders that a rename or a swapped link cannot redirect to another object.
import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  open as openCallback,
  readlinkSync,
  type BigIntStats,
} from "node:fs";
import { lstat, open, realpath, type FileHandle } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";

import { failed } from "./rooted-error.ts";

/**
 * `proc` keeps a handle of the object itself (Linux); `compare` keeps a path and compares identities afterwards
 * (elsewhere).
 */
export type AnchorKind = "proc" | "compare";

export interface Anchor {
  readonly stats: BigIntStats;
  /** The path by the names that were resolved, without links. */
  readonly real: string;
  /** A path for system calls on the object itself. */
  readonly self: string;
  /** Opens the entry of this name. A link is opened as a link, never followed. Throws the system error. */
  child(name: string): Promise<Anchor>;
  /** A path for system calls on an entry of this folder. */
  at(name: string): string;
  /** Opens this object, never another one. */
  reopen(flags: number): Promise<FileHandle>;
  /** Throws `fs.changed` when the object is no longer where it was found. */
  verify(): Promise<void>;
  close(): void;
}

export function idOf({ dev, ino }: BigIntStats): string {
  return `${dev}:${ino}`;
}

/** Follows links in the root path itself, because the caller chose the root. */
export async function openAnchor(root: string, kind: AnchorKind = bestKind()): Promise<Anchor> {
  if (kind === "compare") {
    const real = await realpath(root);
    return pathAnchor(real, await lstat(real, { bigint: true }));
  }
  const fd = await openFd(root, O_PATH | constants.O_DIRECTORY);
  return procAnchor(fd, readlinkSync(`/proc/self/fd/${fd}`));
}

let known: AnchorKind | undefined;
function bestKind(): AnchorKind {
  return (known ??= process.platform === "linux" && existsSync("/proc/self/fd") ? "proc" : "compare");
}

const openFd = promisify(openCallback);
// Not in node:fs; the value is the same on every Linux that Node runs on. Such a handle refers to an object without
// opening it: no device starts, no pipe blocks, and a folder without list permission still works.
const O_PATH = 0o10000000;

function procAnchor(fd: number, real: string): Anchor {
  const here = `/proc/self/fd/${fd}`;
  // Reading facts and path of an open handle needs no disk access, so it does not use the thread pool.
  const stats = factsOf(fd);
  let held = true;
  return {
    stats,
    real,
    self: here,
    at: (name) => `${here}/${name}`,
    async child(name) {
      return procAnchor(await openFd(`${here}/${name}`, O_PATH | constants.O_NOFOLLOW), join(real, name));
    },
    reopen: (flags) => open(here, flags),
    async verify() {
      // Case-insensitive disks may return another case than requested.
      if (readlinkSync(here).toLowerCase() !== real.toLowerCase()) throw moved(real);
    },
    close() {
      if (held) closeSync(fd);
      held = false;
    },
  };
}

function factsOf(fd: number): BigIntStats {
  try {
    return fstatSync(fd, { bigint: true });
  } catch (error) {
    closeSync(fd);
    throw error;
  }
}

function pathAnchor(real: string, stats: BigIntStats): Anchor {
  const verify = async (): Promise<void> => {
    const now = await lstat(real, { bigint: true });
    if (idOf(now) !== idOf(stats) || (await realpath(real)) !== real) throw moved(real);
  };
  return {
    stats,
    real,
    self: real,
    verify,
    at: (name) => join(real, name),
    async child(name) {
      const path = join(real, name);
      return pathAnchor(path, await lstat(path, { bigint: true }));
    },
    async reopen(flags) {
      const handle = await open(real, flags | constants.O_NOFOLLOW | constants.O_NONBLOCK);
      try {
        if (idOf(await handle.stat({ bigint: true })) !== idOf(stats)) throw moved(real);
        await verify();
        return handle;
      } catch (error) {
        await handle.close();
        throw error;
      }
    },
    close() {},
  };
}

function moved(real: string): Error {
  return failed("fs.changed", real, "was moved or replaced while it was being used", "try again");
}
