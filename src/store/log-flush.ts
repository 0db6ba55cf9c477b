// Flushes the write-ahead log of a store in a thread of libuv, so that the disk holds up commits and not the event loop.
import { closeSync, fdatasync, openSync } from "node:fs";
import { promisify } from "node:util";

import type { Connection } from "./connection.ts";
import { toStoreError } from "./failure.ts";

export interface LogFlush {
  /** Resolves when all that was committed before the call is on the disk. */
  flush(): Promise<void>;
  /** After the connection is closed. */
  close(): void;
}

const sync = promisify(fdatasync);

/**
 * For a store that is open for writing: its log has the same file until it is closed. Opened immediately, because a process
 * may run out of descriptors later. SQLite has its locks on the other two files, so closing this one drops none.
 */
export function openLogFlush(connection: Connection): LogFlush {
  // SQLite makes the log with the first read.
  connection.value("PRAGMA user_version");
  const fd = openLog(connection.file);
  return { flush: () => sync(fd), close: () => closeSync(fd) };
}

function openLog(file: string): number {
  try {
    return openSync(`${file}-wal`, "r+");
  } catch (cause) {
    throw toStoreError(file, cause);
  }
}
