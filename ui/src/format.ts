// Formats dates, durations and counts for people.

const units: readonly [seconds: number, name: string][] = [
  [86_400, "d"],
  [3600, "h"],
  [60, "min"],
  [1, "s"],
];

/** The two largest units: "3 d 4 h", "12 min 5 s", "0 s". */
export function formatDuration(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  const parts: string[] = [];
  units.reduce((left, [size, name]) => {
    const count = Math.floor(left / size);
    if (count > 0) parts.push(`${count} ${name}`);
    return left % size;
  }, seconds);
  return parts.length === 0 ? "0 s" : parts.slice(0, 2).join(" ");
}

/** The largest unit only: "5 min ago". */
export function formatAge(thenMs: number, nowMs: number): string {
  const ms = nowMs - thenMs;
  if (ms < 5000) return "just now";
  const seconds = Math.floor(ms / 1000);
  const [size, name] = units.find(([unit]) => seconds >= unit) ?? [1, "s"];
  return `${Math.floor(seconds / size)} ${name} ago`;
}

/** How long one call took: "12 ms", "1.5 s", "1 min 1 s". */
export function formatElapsed(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  return ms < 60_000 ? `${(ms / 1000).toFixed(1)} s` : formatDuration(ms);
}

export function formatCount(amount: number, one: string, many = `${one}s`): string {
  return `${amount} ${amount === 1 ? one : many}`;
}

/** The one date format of the page, `2026-11-17 02:30`: local time, or the time of a zone, which is then named. */
export function formatDate(ms: number, timeZone?: string): string {
  if (Number.isNaN(ms)) return "unknown time";
  // Swedish writes dates the ISO way.
  const format = (zone?: string): string =>
    new Date(ms).toLocaleString("sv-SE", { dateStyle: "short", timeStyle: "short", timeZone: zone });
  if (timeZone === undefined) return format();
  try {
    return `${format(timeZone)} (${timeZone})`;
  } catch {
    return format(); // this browser does not know a zone that the gateway knows
  }
}

/** The time of day when it is today, otherwise the date as well. */
export function formatTimestamp(ms: number, nowMs: number): string {
  const [date, now] = [formatDate(ms), formatDate(nowMs)];
  const [day = "", time = ""] = date.split(" ");
  return now.startsWith(day) ? time : date;
}
