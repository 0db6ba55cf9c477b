// Reads the end of the log file, or the lines since a cursor, in limited pieces.
import { open } from "node:fs/promises";

import { errnoOf } from "../core/error.ts";
import type { LogTail } from "../protocol/methods/system.ts";

export interface LogTailQuery {
  readonly cursor?: number;
  readonly limit?: number;
  readonly maxBytes?: number;
}

export async function tailLog(
  file: string,
  { cursor, limit = 500, maxBytes = 250_000 }: LogTailQuery,
): Promise<LogTail> {
  const handle = await open(file, "r").catch((error: unknown) => {
    if (errnoOf(error) === "ENOENT") return undefined;
    throw error;
  });
  if (handle === undefined) return { file, cursor: 0, size: 0, lines: [], truncated: false, reset: false };
  try {
    const { size } = await handle.stat();
    const reset = cursor !== undefined && cursor > size;
    const from = cursor === undefined || reset ? 0 : cursor;
    const start = Math.max(from, size - maxBytes);
    const buffer = Buffer.alloc(size - start);
    const { bytesRead } = await handle.read(buffer, 0, buffer.length, start);
    const all = buffer.subarray(0, bytesRead).toString("utf8").split("\n");
    // A piece that starts inside a line drops that line; an incomplete last line waits for its end.
    const torn = start > from ? 1 : 0;
    const rest = all.at(-1) ?? "";
    const whole = all.slice(torn, -1);
    const lines = whole.slice(-limit);
    return {
      file,
      cursor: start + bytesRead - Buffer.byteLength(rest),
      size,
      lines,
      truncated: start > from || lines.length < whole.length,
      reset,
    };
  } finally {
    await handle.close();
  }
}
