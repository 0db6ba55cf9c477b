// Checks a schedule: a time that can come, an interval within limits, a zone that exists.
import { isRecord } from "../core/record.ts";
import { DAY_MS, durationMs } from "../base/duration.ts";
import type { Schedule } from "./job.ts";
import type { Raw } from "./normalize.ts";
import { offsetMinutes } from "./preview.ts";
import { given, refuse, requireKnownKeys } from "./refuse.ts";
import { nextFire, patternOf } from "./schedule.ts";

const MIN_EVERY_MS = 1_000;
const MAX_EVERY_MS = 10 * 366 * DAY_MS;
const MAX_AHEAD_MS = 50 * 366 * DAY_MS;
/** Clocks of callers differ, and a command line takes time to start. */
const PAST_GRACE_MS = 60_000;
const MAX_EXPR_CHARS = 200;

/** Throws `cron.invalid`. `mayBePast` accepts a time that was in the future when it was set. */
export function checkSchedule(given: unknown, now: number, mayBePast = false): Schedule {
  if (!isRecord(given))
    throw refuse(
      given === undefined ? 'missing "schedule"' : "schedule must be an object",
      'schedule: {kind: "at", at: "20m"}, {kind: "every", everyMs: 3600000} or {kind: "cron", expr: "30 8 * * 1-5", tz: "Europe/Berlin"}',
    );
  switch (given["kind"]) {
    case "at":
      return checkAt(given, now, mayBePast);
    case "every":
      return checkEvery(given, now);
    case "cron":
      return checkCron(given, now);
    default:
      throw refuse(`schedule.kind must be at, every or cron`, "schedule: {kind: every, everyMs: 3600000}");
  }
}

/** True when it fires more often than once a minute. */
export function isFrequent(schedule: Schedule, now: number): boolean {
  if (schedule.kind === "at") return false;
  const first = nextFire(schedule, now);
  const second = first === undefined ? undefined : nextFire(schedule, first);
  return first !== undefined && second !== undefined && second - first < 60_000;
}

function checkAt(raw: Raw, now: number, mayBePast: boolean): Schedule {
  only(raw, ["kind", "at", "tz"]);
  const at = atMs(raw["at"], now, zoneOf(raw["tz"]));
  const hint =
    "schedule.at: a time from now such as 20m or 2h, or a future ISO 8601 time such as 2030-01-31T08:00:00+01:00";
  if (at === undefined) throw refuse("schedule.at is not a time", hint);
  if (at > now + MAX_AHEAD_MS) throw refuse("schedule.at lies more than 50 years ahead", hint);
  if (at < now - PAST_GRACE_MS && !mayBePast) throw refuse("schedule.at lies in the past", hint);
  return { kind: "at", at: new Date(at).toISOString() };
}

/** ISO 8601 (without a zone: in `tz`, else in UTC), milliseconds since 1970, or a duration from now. */
export function atMs(given: unknown, now: number, tz?: string): number | undefined {
  if (typeof given === "number") return Number.isFinite(given) ? given : undefined;
  if (typeof given !== "string") return undefined;
  const word = given.trim();
  if (/^\d{11,}$/.test(word)) return Number(word);
  if (/^[+-]?\d{4,6}-\d{2}(?:-\d{2})?/.test(word)) {
    const iso = word.replace(/^(\d{4}-\d{2}-\d{2}) (?=\d)/, "$1T");
    const hasZone = /(?:z|[+-]\d{2}:?\d{2})$/i.test(iso) || !iso.includes("T");
    const ms = Date.parse(hasZone ? iso : `${iso}Z`);
    if (Number.isNaN(ms)) return undefined;
    return hasZone || tz === undefined ? ms : inZone(ms, tz);
  }
  const ahead = /^\d+$/.test(word) ? undefined : durationMs(word.replace(/^(?:\+|in\s+)/i, ""));
  return ahead === undefined ? undefined : now + ahead;
}

/**
 * The moment at which clocks in that zone show this time. Of a time that occurs twice it is the first; one that is
 * skipped moves forward by as much as the clocks did.
 */
function inZone(utcMs: number, tz: string): number {
  const before = utcMs - offsetMinutes(utcMs - DAY_MS, tz) * 60_000;
  const after = utcMs - offsetMinutes(utcMs + DAY_MS, tz) * 60_000;
  const isShown = (ms: number): boolean => ms + offsetMinutes(ms, tz) * 60_000 === utcMs;
  return [before, after].find(isShown) ?? before;
}

function checkEvery(raw: Raw, now: number): Schedule {
  only(raw, ["kind", "everyMs", "anchorMs"]);
  const { everyMs, anchorMs = now } = raw;
  if (typeof everyMs !== "number" || !Number.isFinite(everyMs) || everyMs < MIN_EVERY_MS || everyMs > MAX_EVERY_MS)
    throw refuse(
      `schedule.everyMs must be a number of milliseconds, at least ${MIN_EVERY_MS}, at most ${MAX_EVERY_MS}, not ${given(everyMs)}`,
      "schedule.everyMs",
    );
  if (typeof anchorMs !== "number" || !Number.isFinite(anchorMs) || Math.abs(anchorMs - now) > MAX_AHEAD_MS)
    throw refuse("schedule.anchorMs must be a time in milliseconds since 1970", "schedule.anchorMs");
  return { kind: "every", everyMs: Math.round(everyMs), anchorMs: Math.round(anchorMs) };
}

function checkCron(raw: Raw, now: number): Schedule {
  only(raw, ["kind", "expr", "tz"]);
  const { expr } = raw;
  if (typeof expr !== "string" || expr.trim() === "" || expr.length > MAX_EXPR_CHARS)
    throw refuse("schedule.expr must be a cron expression of five or six fields", "schedule.expr: 0 7 * * *");
  const tz = zoneOf(raw["tz"]);
  const zone = tz === undefined ? {} : { tz };
  const schedule = { kind: "cron" as const, expr: expr.trim().replaceAll(/\s+/g, " "), ...zone };
  if (firstOf(schedule, now) === undefined)
    throw refuse(`schedule.expr never matches a time: ${schedule.expr}`, "schedule.expr: 0 7 * * *");
  return schedule;
}

function firstOf(schedule: Extract<Schedule, { kind: "cron" }>, now: number): number | undefined {
  try {
    patternOf(schedule);
    return nextFire(schedule, now);
  } catch (error) {
    const why = error instanceof Error ? error.message.replace(/^Cron\w+: /, "") : String(error);
    throw refuse(`schedule.expr is not valid: ${plainReason(why)}`, "schedule.expr: minute hour day month weekday");
  }
}

/** Our dependency names the field and the value; people need the range. */
function plainReason(why: string): string {
  const [, field = "", value = ""] = /^Invalid value for (\w+): (.*)$/.exec(why) ?? [];
  const range = ranges[field];
  return range === undefined ? why.slice(0, 200) : `${field} must be ${range}, not ${value.slice(0, 40)}`;
}

const ranges: Readonly<Record<string, string>> = {
  second: "0-59",
  minute: "0-59",
  hour: "0-23",
  day: "1-31",
  month: "1-12 or a name",
  dayOfWeek: "0-7 or a name",
};

function zoneOf(tz: unknown): string | undefined {
  if (tz === undefined || tz === null || tz === "") return undefined;
  if (typeof tz === "string" && isZone(tz.trim())) return tz.trim();
  throw refuse(`schedule.tz is not a time zone: ${JSON.stringify(tz).slice(0, 80)}`, "schedule.tz: Europe/Berlin");
}

function isZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat("en", { timeZone: name }).format(0);
    return true;
  } catch (error) {
    if (error instanceof RangeError) return false;
    throw error;
  }
}

function only(raw: Raw, known: readonly string[]): void {
  requireKnownKeys(raw, known, `schedule of kind ${String(raw["kind"])}`);
}
