// Reads regular files without ever waiting: what turned into a pipe or grew too large is not read.
import { closeSync, constants, fstatSync, openSync, readSync, type BigIntStats } from "node:fs";

import { errnoOf } from "../../core/error.ts";

/** A file larger than this is known by its size and times instead of its content. */
const maxHashedBytes = 16 * 1024 * 1024;

/** The hash of the content; a mark that any change alters where there is none to be had. */
export function contentMark(path: string): string {
  return (
    withFile(path, (fd, stats) => {
      if (stats.size > BigInt(maxHashedBytes)) return `large:${stats.size}:${stats.mtimeNs}:${stats.ctimeNs}`;
      const hash = process.getBuiltinModule("node:crypto").createHash("sha256");
      const chunk = Buffer.allocUnsafe(256 * 1024);
      for (let read = readSync(fd, chunk); read > 0; read = readSync(fd, chunk)) hash.update(chunk.subarray(0, read));
      return hash.digest("hex");
    }) ?? "unreadable"
  ); // executable but not readable: its place and inode must do
}

/** The whole of a file whose content has the hash; undefined when it has another, or is too large to be hashed. */
export function contentWith(hash: string, path: string): Buffer | undefined {
  const content = smallContent(path, maxHashedBytes);
  if (content === undefined) return undefined;
  const { createHash } = process.getBuiltinModule("node:crypto");
  return createHash("sha256").update(content).digest("hex") === hash ? content : undefined;
}

/** The first bytes of a file, at most so many; none of what is not a regular file or not readable. */
export function firstBytes(path: string, count: number): Buffer {
  return (
    withFile(path, (fd) => {
      const start = Buffer.alloc(count);
      return start.subarray(0, readSync(fd, start, 0, count, 0));
    }) ?? Buffer.alloc(0)
  );
}

/** Undefined for what is not a regular file, not readable or larger than `maxBytes`. */
export function smallContent(path: string, maxBytes: number): Buffer | undefined {
  return withFile(path, (fd, stats) => {
    if (stats.size > BigInt(maxBytes)) return undefined;
    const content = Buffer.alloc(Number(stats.size));
    let at = 0;
    for (let read = 1; read > 0 && at < content.length; at += read)
      read = readSync(fd, content, at, content.length - at, at);
    return content.subarray(0, at);
  });
}

function withFile<T>(path: string, use: (fd: number, stats: BigIntStats) => T): T | undefined {
  let fd: number;
  try {
    fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (error) {
    if (errnoOf(error) === undefined) throw error;
    return undefined;
  }
  try {
    const stats = fstatSync(fd, { bigint: true });
    return stats.isFile() ? use(fd, stats) : undefined;
  } finally {
    closeSync(fd);
  }
}
