// Reads regular files without blocking: pipes and files that are too large are not read.
import { closeSync, constants, fstatSync, openSync, readSync, type BigIntStats } from "node:fs";

import { errnoOf } from "../../core/error.ts";

/** A larger file is identified by its size and times instead of its content. */
const maxHashedBytes = 16 * 1024 * 1024;

/** The hash of the content. A large file has its size and times instead, an unreadable one has a constant. */
export function contentFingerprint(path: string): string {
  return (
    withFile(path, (fd, stats) => {
      if (stats.size > BigInt(maxHashedBytes)) return `large:${stats.size}:${stats.mtimeNs}:${stats.ctimeNs}`;
      const hash = process.getBuiltinModule("node:crypto").createHash("sha256");
      const chunk = Buffer.allocUnsafe(256 * 1024);
      for (let read = readSync(fd, chunk); read > 0; read = readSync(fd, chunk)) hash.update(chunk.subarray(0, read));
      return hash.digest("hex");
    }) ?? "unreadable"
  ); // executable but not readable: path and inode must be enough
}

/** The content of a file with this hash; undefined when the hash differs or the file is too large to be hashed. */
export function contentWith(hash: string, path: string): Buffer | undefined {
  const content = smallContent(path, maxHashedBytes);
  if (content === undefined) return undefined;
  const { createHash } = process.getBuiltinModule("node:crypto");
  return createHash("sha256").update(content).digest("hex") === hash ? content : undefined;
}

/** The first bytes of a regular file, at most `count`; empty when it cannot be read. */
export function firstBytes(path: string, count: number): Buffer {
  return (
    withFile(path, (fd) => {
      const start = Buffer.alloc(count);
      return start.subarray(0, readSync(fd, start, 0, count, 0));
    }) ?? Buffer.alloc(0)
  );
}

/** Undefined for a file that is not regular, not readable or larger than `maxBytes`. */
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
