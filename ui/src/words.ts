// Times and durations in plain words.

const units: readonly [seconds: number, name: string][] = [
  [86_400, "d"],
  [3600, "h"],
  [60, "min"],
  [1, "s"],
];

/** The two largest units: "3 d 4 h", "12 min 5 s", "0 s". */
export function toDuration(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  const parts: string[] = [];
  units.reduce((left, [size, name]) => {
    const count = Math.floor(left / size);
    if (count > 0) parts.push(`${count} ${name}`);
    return left % size;
  }, seconds);
  return parts.length === 0 ? "0 s" : parts.slice(0, 2).join(" ");
}

/** One unit is enough for how long ago something was. */
export function toAge(thenMs: number, nowMs: number): string {
  const ms = nowMs - thenMs;
  if (ms < 5000) return "just now";
  const seconds = Math.floor(ms / 1000);
  const [size, name] = units.find(([unit]) => seconds >= unit) ?? [1, "s"];
  return `${Math.floor(seconds / size)} ${name} ago`;
}

/** How long one call took. */
export function toShort(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  return ms < 60_000 ? `${(ms / 1000).toFixed(1)} s` : toDuration(ms);
}

export function count(amount: number, one: string, many = `${one}s`): string {
  return `${amount} ${amount === 1 ? one : many}`;
}
