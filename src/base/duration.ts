// Spans of time as people write them in the config: `30m`, `1h 30m`, `90s`.

const units: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** The schema has checked the form; a bare number counts minutes unless said otherwise. */
export function spanMs(span: string, bareUnit: "ms" | "s" | "m" | "h" | "d" = "m"): number {
  return [...span.matchAll(/(\d+(?:\.\d+)?)\s*(ms|s|m|h|d)?/g)].reduce(
    (sum, [, count, unit]) => sum + Number(count) * (units[unit ?? bareUnit] ?? 0),
    0,
  );
}
