// Durations as people write and read them: `90s`, `30m`, `1d12h`; `3 s`, `5 min`.

export const DAY_MS = 86_400_000;

const unitMs = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: DAY_MS, w: 7 * DAY_MS } as const;
type Unit = keyof typeof unitMs;

/** Undefined for text that is not a duration. A bare number is milliseconds. */
export function durationMs(text: string): number | undefined {
  const word = text.trim().toLowerCase();
  if (/^\d+$/.test(word)) return Number(word);
  return /^(?:\d+(?:\.\d+)?(?:ms|[smhdw]))+$/.test(word) ? Math.round(sumMs(word, "ms")) : undefined;
}

/** A duration of the config, where the schema checks the syntax and spaces are allowed. A bare number is minutes. */
export function configDurationMs(text: string): number {
  return sumMs(text, "m");
}

function sumMs(text: string, bareUnit: Unit): number {
  return [...text.matchAll(/(\d+(?:\.\d+)?)\s*(ms|[smhdw])?/g)].reduce(
    (sum, [, count, unit]) => sum + Number(count) * unitMs[(unit ?? bareUnit) as Unit],
    0,
  );
}

/** `3 s`, `5 min`, `2 h`, `4 d`. */
export function formatDuration(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600) return `${Math.round(seconds / 60)} min`;
  if (seconds < 172_800) return `${Math.round(seconds / 3600)} h`;
  return `${Math.round(seconds / 86_400)} d`;
}
