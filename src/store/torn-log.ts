// Sets aside the incomplete end of a log that a killed process left, before SQLite overwrites it.
import { closeSync, constants, fstatSync, openSync, readdirSync, readSync, rmSync } from "node:fs";
import { endianness } from "node:os";
import { basename, dirname, join } from "node:path";

import { writeFileAtomic } from "../base/atomic-file.ts";
import { systemClock } from "../base/clock.ts";
import { errnoOf, OpenClawError } from "../core/error.ts";

export interface TornLog {
  /** Offset in the log where the last complete commit ends. */
  readonly from: number;
  readonly bytes: number;
  /** The file with the incomplete end; absent when the disk had no space for it. */
  readonly kept?: string;
}

const MAX_KEPT = 5;
const MAX_KEPT_BYTES = 4_000_000;
const HEADER_BYTES = 32;
const FRAME_BYTES = 24;

/**
 * Only for the owner of the store, before opening it: the end of a log in use looks the same. Undefined when there is
 * no log, or it ends with a complete commit. A proper shutdown leaves no log, so this costs nothing then.
 */
export function setTornAside(file: string): TornLog | undefined {
  const log = readLog(`${file}-wal`);
  const end = log === undefined ? undefined : endOf(log);
  if (log === undefined || end === undefined || end.torn <= end.whole) return undefined;
  const tail = log.subarray(end.whole, end.torn);
  return { from: end.whole, bytes: tail.length, ...setAside(file, tail) };
}

/** The incomplete commit was never acknowledged, so a full disk does not prevent opening the store. */
function setAside(file: string, tail: Buffer): { kept?: string } {
  const kept = `${file}.torn-${systemClock.now()}`;
  try {
    writeFileAtomic(kept, tail.subarray(0, MAX_KEPT_BYTES));
    dropOldest(file);
    return { kept };
  } catch (error) {
    if (error instanceof OpenClawError && error.code.startsWith("file.")) return {};
    throw error;
  }
}

/** Pages of all complete commits in write order; `pages`: size of the store in pages after that commit. */
export function* wholeFrames(
  log: Buffer,
  pageBytes: number,
): Generator<{ readonly page: number; readonly at: number; readonly pages: number }> {
  const whole = endOf(log)?.whole ?? 0;
  if (whole === 0 || log.readUInt32BE(8) !== pageBytes) return;
  for (let at = HEADER_BYTES; at < whole; at += FRAME_BYTES + pageBytes)
    yield { page: log.readUInt32BE(at), at: at + FRAME_BYTES, pages: log.readUInt32BE(at + 4) };
}

/** Commits behind the first unreadable frame: a killed writer leaves none, so these were complete once. */
export function commitsBehindDamage(log: Buffer, pageBytes: number): number {
  const end = endOf(log);
  if (end === undefined || end.whole === 0) return 0;
  const step = FRAME_BYTES + pageBytes;
  let commits = 0;
  for (let at = end.bad + step; at + step <= end.torn; at += step) if (log.readUInt32BE(at + 4) !== 0) commits++;
  return commits;
}

function readLog(path: string): Buffer | undefined {
  try {
    const fd = openSync(path, constants.O_RDONLY);
    try {
      const log = Buffer.alloc(fstatSync(fd).size);
      return log.subarray(0, readSync(fd, log, 0, log.length, 0));
    } finally {
      closeSync(fd);
    }
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return undefined;
    throw error;
  }
}

interface End {
  /** Offset of the first frame that is not valid. */
  readonly bad: number;
  /** All commits up to this offset are complete. */
  readonly whole: number;
  /** Frames of the same log generation were written up to this offset. */
  readonly torn: number;
}

/**
 * https://www.sqlite.org/fileformat.html#the_write_ahead_log: a frame is valid while its salts and running checksum
 * match.
 */
function endOf(log: Buffer): End | undefined {
  if (log.length === 0) return undefined;
  const magic = log.length < HEADER_BYTES ? 0 : log.readUInt32BE(0);
  if (magic >>> 1 !== 0x377f0682 >>> 1) return { bad: 0, whole: 0, torn: log.length };
  const sum = summing(log, (magic & 1) === 1);
  let running = sum(0, 24, [0, 0]);
  if (!fits(log, 24, running)) return { bad: 0, whole: 0, torn: log.length };
  const pageBytes = log.readUInt32BE(8);
  const salts = log.subarray(16, 24);
  const step = FRAME_BYTES + pageBytes;
  let whole = HEADER_BYTES;
  let at = HEADER_BYTES;
  for (; at + step <= log.length; at += step) {
    if (!log.subarray(at + 8, at + 16).equals(salts)) break;
    running = sum(at + FRAME_BYTES, pageBytes, sum(at, 8, running));
    if (!fits(log, at + 16, running)) break;
    if (log.readUInt32BE(at + 4) !== 0) whole = at + step;
  }
  return { bad: at, whole, torn: endOfRound(log, { at, salts, step }) };
}

/** Frames of an earlier generation follow, with other salts; a checkpoint has applied those. */
function endOfRound(log: Buffer, { at, salts, step }: { at: number; salts: Buffer; step: number }): number {
  let end = at;
  while (end < log.length) {
    const salt = log.subarray(end + 8, end + 16);
    if (salt.length === 8 && !salt.equals(salts)) return end;
    end = Math.min(end + step, log.length);
  }
  return end;
}

type Sums = readonly [number, number];

/** All offsets in a log are multiples of eight, so words are read in place and byte-swapped where needed. */
function summing(log: Buffer, isBig: boolean): (from: number, length: number, before: Sums) => Sums {
  const copy = Buffer.from(new Uint8Array(log.subarray(0, log.length - (log.length % 4))));
  const isTurned = isBig === (endianness() === "LE");
  const words = new Int32Array((isTurned ? copy.swap32() : copy).buffer, copy.byteOffset, copy.length >> 2);
  return (from, length, [first, second]) => {
    let [one, two] = [first | 0, second | 0];
    for (let at = from >> 2; at < (from + length) >> 2; at += 2) {
      one = (one + (words[at] ?? 0) + two) | 0;
      two = (two + (words[at + 1] ?? 0) + one) | 0;
    }
    return [one >>> 0, two >>> 0];
  };
}

function fits(log: Buffer, at: number, [one, two]: Sums): boolean {
  return log.readUInt32BE(at) === one && log.readUInt32BE(at + 4) === two;
}

function dropOldest(file: string): void {
  const [folder, start] = [dirname(file), `${basename(file)}.torn-`];
  const kept = readdirSync(folder)
    .filter((name) => name.startsWith(start))
    .toSorted();
  for (const name of kept.slice(0, -MAX_KEPT)) rmSync(join(folder, name), { force: true });
}
