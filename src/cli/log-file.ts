// Finds the log file when no gateway runs, and formats its lines.
import { join } from "node:path";

import { namesIn } from "../base/folders.ts";
import { expandHome } from "../base/paths.ts";
import type { Io } from "./io.ts";
import type { Paint } from "./paint.ts";
import { oneLine } from "./print.ts";
import type { UncheckedConfig } from "./settings.ts";

/** The configured file, else the newest of the daily ones; undefined when there is none. */
export function newestLog(io: Io, unchecked: UncheckedConfig): string | undefined {
  const fixed = unchecked.text("logging.file");
  const { state, home } = io.paths();
  if (fixed !== undefined) return expandHome(fixed, home);
  const folder = join(state, "logs");
  const newest = namesIn(folder)
    .filter((name) => /^openclaw-\d{4}-\d\d-\d\d\.log$/.test(name))
    .toSorted()
    .at(-1);
  return newest === undefined ? undefined : join(folder, newest);
}

export interface LogLine {
  readonly time: string;
  readonly level: string;
  readonly subsystem: string;
  readonly message: string;
  readonly rest: Readonly<Record<string, unknown>>;
}

/** Undefined for a line that is not one of ours. */
export function parseLogLine(line: string): LogLine | undefined {
  try {
    const value: unknown = JSON.parse(line);
    if (typeof value !== "object" || value === null) return undefined;
    // `0`, `1` and `_meta` repeat these fields for published clients.
    const { time, level, subsystem, message, 0: _name, 1: _text, _meta, ...rest } = value as Record<string, unknown>;
    if (typeof time !== "string" || typeof level !== "string" || typeof message !== "string") return undefined;
    return { time, level, subsystem: typeof subsystem === "string" ? subsystem : "", message, rest };
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** `14:03:11 WARN [gateway] connection refused {"address":"…"}`, in the reader's own time zone. */
export function formatLogLine({ time, level, subsystem, message, rest }: LogLine, paint: Paint): string {
  const extra = Object.keys(rest).length === 0 ? "" : ` ${paint.dim(oneLine(JSON.stringify(rest)))}`;
  const mark = level === "info" ? "" : `${colorOf(level, paint)(level.toUpperCase())} `;
  return `${paint.dim(clockTime(time))} ${mark}[${oneLine(subsystem)}] ${oneLine(message)}${extra}`;
}

function colorOf(level: string, paint: Paint): (text: string) => string {
  if (level === "error") return paint.bad;
  return level === "warn" ? paint.warn : paint.dim;
}

function clockTime(iso: string): string {
  const date = new Date(iso);
  return Number.isNaN(date.getTime()) ? oneLine(iso) : date.toTimeString().slice(0, 8);
}
