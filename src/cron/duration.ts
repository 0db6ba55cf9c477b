// Lengths of time as people write them: `90s`, `30m`, `2h`, `1d12h`; a bare number is milliseconds.

const unitMs: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
};

/** Undefined for what is none. */
export function durationMs(text: string): number | undefined {
  const word = text.trim().toLowerCase();
  if (/^\d+$/.test(word)) return Number(word);
  if (!/^(?:\d+(?:\.\d+)?(?:ms|[smhdw]))+$/.test(word)) return undefined;
  const parts = [...word.matchAll(/(\d+(?:\.\d+)?)(ms|[smhdw])/g)];
  return Math.round(parts.reduce((sum, [, amount, unit]) => sum + Number(amount) * (unitMs[unit ?? ""] ?? 0), 0));
}
