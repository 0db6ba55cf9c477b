// Structured log: one JSON object per line in a private file, a readable line on the console, secrets redacted in both.
import { closeSync, constants, fstatSync, ftruncateSync, mkdirSync, openSync, writeSync } from "node:fs";
import { dirname, join } from "node:path";

import { OpenClawError } from "../core/error.ts";
import { visible } from "../core/visible.ts";
import { systemClock, type Clock } from "./clock.ts";
import type { Mask } from "./mask.ts";

export const levels = ["silent", "error", "warn", "info", "debug"] as const;
export type Level = (typeof levels)[number];

export interface Log {
  error(message: string, facts?: Facts): void;
  warn(message: string, facts?: Facts): void;
  info(message: string, facts?: Facts): void;
  debug(message: string, facts?: Facts): void;
  /** The same log with another subsystem name. */
  child(subsystem: string): Log;
}

/** For code that only describes and must not write anything. */
export const silentLog: Log = {
  error: () => {},
  warn: () => {},
  info: () => {},
  debug: () => {},
  child: () => silentLog,
};

type Facts = Readonly<Record<string, unknown>>;

export interface LogSink extends Log {
  /** Today's file. */
  file(): string;
  /** Lines that could not be written (disk full, closed terminal); a log never ends the process. */
  dropped(): number;
  close(): void;
}

export interface LogOptions {
  /** A fixed file, or a folder with one file per day. */
  readonly file?: string;
  readonly folder?: string;
  readonly level: Level;
  readonly consoleLevel: Level;
  readonly consoleStyle: "pretty" | "compact" | "json";
  readonly mask: Mask;
  readonly clock?: Clock;
  readonly write?: (line: string) => void;
}

export function openLog(options: LogOptions): LogSink {
  const { clock = systemClock, mask, level, consoleLevel, consoleStyle } = options;
  const console = options.write === undefined ? openConsole() : { write: options.write, close: () => {} };
  let open: { path: string; fd: number } | undefined;
  let dropped = 0;
  /** Lines missing in the file since the last one that was written. */
  let missed = 0;

  const pathNow = (): string => options.file ?? join(options.folder ?? ".", `openclaw-${localDate(clock.now())}.log`);
  const fdNow = (): number => {
    const path = pathNow();
    if (open?.path === path) return open.fd;
    if (open !== undefined) closeSync(open.fd);
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    // Does not follow links: the name of a log is guessable, and a link could point to another file.
    const { O_APPEND, O_CREAT, O_WRONLY, O_NOFOLLOW } = constants;
    open = { path, fd: openSync(path, O_APPEND | O_CREAT | O_WRONLY | (O_NOFOLLOW ?? 0), 0o600) };
    return open.fd;
  };

  /** A complete line or none: a partial line on a full disk is removed, so that the next one does not continue it. */
  const append = (line: string): void => {
    const bytes = Buffer.from(`${line}\n`);
    const fd = fdNow();
    const written = writeSync(fd, bytes);
    if (written === bytes.length) return;
    ftruncateSync(fd, fstatSync(fd).size - written);
    throw new OpenClawError("log.full", "the disk took only part of a log line");
  };
  const toFile = (line: string, time: string): void => {
    try {
      if (missed > 0) {
        const words = `${missed} log lines before this one could not be written`;
        append(JSON.stringify(toLine(time, "warn", "log", words, { dropped: missed })));
        missed = 0;
      }
      append(line);
    } catch {
      missed += 1;
      dropped += 1; // counted, reported in the file once it is writable again, and shown by `health --probe`
    }
  };

  const emit = (subsystem: string, at: Level, message: string, facts: Facts | undefined): void => {
    const isForFile = levels.indexOf(at) <= levels.indexOf(level) && (options.file ?? options.folder) !== undefined;
    const isForConsole = levels.indexOf(at) <= levels.indexOf(consoleLevel);
    if (!isForFile && !isForConsole) return;
    const time = new Date(clock.now()).toISOString();
    const line = mask(JSON.stringify(toLine(time, at, subsystem, message, facts)));
    const spoken = (): string =>
      consoleStyle === "json" ? line : mask(readable(time, at, subsystem, message, facts, consoleStyle));
    // Separately: a file that cannot be opened must not silence the console, nor a closed terminal the file.
    if (isForFile) toFile(line, time);
    if (!isForConsole) return;
    try {
      console.write(spoken());
    } catch {
      dropped += 1; // counted and shown by `health --probe`; there is no other place to report it
    }
  };

  const logFor = (subsystem: string): Log => ({
    error: (message, facts) => emit(subsystem, "error", message, facts),
    warn: (message, facts) => emit(subsystem, "warn", message, facts),
    info: (message, facts) => emit(subsystem, "info", message, facts),
    debug: (message, facts) => emit(subsystem, "debug", message, facts),
    child: logFor,
  });

  return {
    ...logFor("gateway"),
    file: pathNow,
    dropped: () => dropped,
    close() {
      if (open !== undefined) closeSync(open.fd);
      open = undefined;
      console.close();
    },
  };
}

/** Our own fields, then the three fields that the published command line reads. */
function toLine(time: string, level: Level, subsystem: string, message: string, facts: Facts | undefined): Facts {
  const name = JSON.stringify({ subsystem });
  return {
    time,
    level,
    subsystem,
    message,
    ...plain(facts),
    0: name,
    1: message,
    _meta: { name, date: time, logLevelName: level.toUpperCase() },
  };
}

/** The console line is short; the file has everything. */
const MAX_SPOKEN = 4000;

function readable(
  time: string,
  level: Level,
  subsystem: string,
  message: string,
  facts: Facts | undefined,
  style: "pretty" | "compact",
): string {
  const extra = facts === undefined ? "" : ` ${visible(JSON.stringify(plain(facts)), MAX_SPOKEN)}`;
  const stamp = style === "compact" ? "" : `${time.slice(11, 19)} `;
  const mark = level === "info" ? "" : `${level.toUpperCase()} `;
  return `${stamp}[${subsystem}] ${mark}${visible(message, MAX_SPOKEN)}${extra}`;
}

function plain(facts: Facts | undefined): Facts {
  if (facts === undefined) return {};
  return Object.fromEntries(
    Object.entries(facts).map(([key, value]) => [key, value instanceof Error ? describeError(value) : value]),
  );
}

function describeError(error: Error): Facts {
  const cause = error.cause instanceof Error ? { cause: describeError(error.cause) } : {};
  if (error instanceof OpenClawError) return { code: error.code, message: error.message, hint: error.hint, ...cause };
  return { name: error.name, message: error.message, stack: error.stack, ...cause };
}

function localDate(ms: number): string {
  const date = new Date(ms);
  const two = (value: number): string => String(value).padStart(2, "0");
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
}

/** Stops writing to a closed terminal: reporting it would fail as well. */
function openConsole(): { write(line: string): void; close(): void } {
  let isGone = false;
  const onError = (): void => {
    isGone = true;
  };
  process.stderr.on("error", onError);
  return {
    write(line) {
      if (!isGone) process.stderr.write(`${line}\n`);
    },
    close: () => void process.stderr.off("error", onError),
  };
}
