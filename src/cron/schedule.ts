// When a schedule fires: the next time, the last time, and the times in between.
import { Cron } from "croner";

import { Lru } from "../base/lru.ts";
import type { Schedule } from "./job.ts";

const patterns = new Lru<Cron>(2048);

/** Throws the error of croner for an invalid expression or zone. */
export function patternOf({ expr, tz }: Extract<Schedule, { kind: "cron" }>): Cron {
  const key = `${tz ?? ""} ${expr}`;
  const known = patterns.get(key);
  if (known !== undefined) return known;
  const made = new Cron(expr, {
    paused: true,
    mode: "5-or-6-parts",
    ...(tz === undefined ? {} : { timezone: tz }),
  });
  patterns.set(key, made);
  return made;
}

/** The first time strictly after; undefined when there is none. */
export function nextFire(schedule: Schedule, afterMs: number): number | undefined {
  switch (schedule.kind) {
    case "at": {
      const at = Date.parse(schedule.at);
      return at > afterMs ? at : undefined;
    }
    case "every": {
      const { everyMs, anchorMs } = schedule;
      return anchorMs + (Math.floor((afterMs - anchorMs) / everyMs) + 1) * everyMs;
    }
    case "cron":
      return nextOf(schedule, afterMs);
  }
}

/**
 * croner 11.0.0 skips the first days of March when it starts in February and both day fields are given, so it is
 * asked for times before its answer until none is left after `afterMs`.
 */
function nextOf(schedule: Extract<Schedule, { kind: "cron" }>, afterMs: number): number | undefined {
  const pattern = patternOf(schedule);
  const namesBothDays = !/\*\s+\S+\s+\S+$|\*$/.test(schedule.expr);
  let next = pattern.nextRun(new Date(afterMs))?.getTime();
  while (next !== undefined && namesBothDays) {
    const before = pattern.previousRuns(1, new Date(next))[0]?.getTime();
    if (before === undefined || before <= afterMs || before >= next) break;
    next = before;
  }
  return next;
}

/** The latest time that is not after `atMs`, if it is later than `sinceMs`. */
export function lastFire(schedule: Schedule, sinceMs: number, atMs: number): number | undefined {
  const found = lastOf(schedule, atMs);
  return found !== undefined && found > sinceMs ? found : undefined;
}

function lastOf(schedule: Schedule, atMs: number): number | undefined {
  switch (schedule.kind) {
    case "at":
      return Date.parse(schedule.at);
    case "every": {
      const { everyMs, anchorMs } = schedule;
      return anchorMs + Math.floor((atMs - anchorMs) / everyMs) * everyMs;
    }
    case "cron": {
      // croner searches strictly earlier times, to the second.
      const [found] = patternOf(schedule).previousRuns(1, new Date(atMs + 1000));
      const exact = found?.getTime();
      if (exact === undefined || exact <= atMs) return exact;
      return patternOf(schedule)
        .previousRuns(2, new Date(atMs + 1000))[1]
        ?.getTime();
    }
  }
}

/** Times from `fromMs` (itself a fire) up to but not including `untilMs`, at most `limit`. */
export function firesFrom(schedule: Schedule, fromMs: number, untilMs: number, limit: number): number[] {
  const fires: number[] = [];
  for (let at: number | undefined = fromMs; at !== undefined && at < untilMs && fires.length < limit;) {
    fires.push(at);
    at = nextFire(schedule, at);
  }
  return fires;
}
