// The active hours of heartbeats in a time zone.
import type { Config } from "../../config/schema/index.ts";
import { timeZoneOf } from "../stamp.ts";
import type { HeartbeatSettings } from "./settings.ts";

/** Includes `start`, excludes `end`; a window may cross midnight, and an empty one is never active. */
export function isActive(hours: HeartbeatSettings["activeHours"], now: number, config: Config): boolean {
  if (hours?.start === undefined && hours?.end === undefined) return true;
  const start = minutesOf(hours.start ?? "00:00");
  const end = minutesOf(hours.end ?? "24:00");
  const minute = minuteOfDay(now, zoneOf(hours.timezone, config));
  return start <= end ? minute >= start && minute < end : minute >= start || minute < end;
}

/** `user` or absent: the person's zone, else the host's; `local`: the host's; an unknown zone counts as `user`. */
export function zoneOf(requested: string | undefined, config: Config): string {
  const users = timeZoneOf(config.agents?.defaults?.userTimezone);
  const word = requested?.trim() ?? "";
  if (word === "" || word === "user") return users;
  const host = timeZoneOf(undefined);
  if (word === "local") return host;
  return isZone(word) ? word : users;
}

export function minuteOfDay(now: number, timeZone: string): number {
  const parts = new Intl.DateTimeFormat("en-US", { timeZone, hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
  const figures = Object.fromEntries(parts.formatToParts(now).map(({ type, value }) => [type, Number(value)]));
  return (figures["hour"] ?? 0) * 60 + (figures["minute"] ?? 0);
}

function minutesOf(clock: string): number {
  const [hour = "0", minute = "0"] = clock.split(":");
  return Number(hour) * 60 + Number(minute);
}

function isZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat("en-US", { timeZone: name }).resolvedOptions().timeZone !== "";
  } catch {
    return false; // an unknown zone throws
  }
}
