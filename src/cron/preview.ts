// The next times of a schedule with the clock changes between them.
import type { Schedule } from "./job.ts";
import { nextFire } from "./schedule.ts";
import type { CronFire as Fire, CronPreview as Preview } from "../protocol/methods/cron.ts";

export type { Fire, Preview };

export function previewOf(schedule: Schedule, afterMs: number, count: number): Preview {
  const tz = (schedule.kind === "cron" ? schedule.tz : undefined) ?? hostZone();
  const fires: Fire[] = [];
  for (let at = nextFire(schedule, afterMs); at !== undefined && fires.length < count; at = nextFire(schedule, at)) {
    const before = fires.at(-1)?.atMs ?? afterMs;
    fires.push(fireOf(at, before, tz));
  }
  return { tz, fires };
}

function hostZone(): string {
  return new Intl.DateTimeFormat().resolvedOptions().timeZone;
}

function fireOf(atMs: number, beforeMs: number, tz: string): Fire {
  const offset = offsetMinutes(atMs, tz);
  const moved = offset - offsetMinutes(beforeMs, tz);
  const note = moved === 0 ? {} : { note: noteOf(moved) };
  return { atMs, local: localTime(atMs, tz), offset: offsetText(offset), ...note };
}

function noteOf(minutes: number): string {
  const amount = Math.abs(minutes) === 60 ? "1 h" : `${Math.abs(minutes)} min`;
  return minutes > 0 ? `clocks went forward ${amount} before this` : `clocks went back ${amount} before this`;
}

/** Minutes east of UTC at that moment. */
export function offsetMinutes(atMs: number, tz: string): number {
  const [year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0] = partsOf(atMs, tz);
  return Math.round((Date.UTC(year, month - 1, day, hour, minute, second) - Math.floor(atMs / 1000) * 1000) / 60_000);
}

export function localTime(atMs: number, tz: string): string {
  const two = (value: number | undefined): string => String(value ?? 0).padStart(2, "0");
  const [year, month, day, hour, minute, second] = partsOf(atMs, tz);
  return `${year}-${two(month)}-${two(day)} ${two(hour)}:${two(minute)}:${two(second)}`;
}

const formats = new Map<string, Intl.DateTimeFormat>();

function partsOf(atMs: number, tz: string): number[] {
  let format = formats.get(tz);
  if (format === undefined) {
    if (formats.size > 50) formats.clear();
    const numeric = "numeric" as const;
    const fields = { year: numeric, month: numeric, day: numeric, hour: numeric, minute: numeric, second: numeric };
    format = new Intl.DateTimeFormat("en-US-u-hc-h23", { timeZone: tz, ...fields });
    formats.set(tz, format);
  }
  const parts = new Map(format.formatToParts(atMs).map(({ type, value }) => [type, Number(value)]));
  return ["year", "month", "day", "hour", "minute", "second"].map((name) => parts.get(name as "year") ?? 0);
}

function offsetText(minutes: number): string {
  const size = Math.abs(minutes);
  const two = (value: number): string => String(value).padStart(2, "0");
  return `${minutes < 0 ? "-" : "+"}${two(Math.floor(size / 60))}:${two(size % 60)}`;
}
