// Rows of the report: what was measured, the bar, the figure, and whether it is reached.

export interface Row {
  readonly what: string;
  readonly bar: string;
  readonly figure: string;
  readonly reached: boolean;
}

export function atMost(what: string, value: number, bar: number, unit: string, note = ""): Row {
  return {
    what,
    bar: `≤ ${bar}${unit}`,
    figure: `${round(value)}${unit}${note === "" ? "" : ` (${note})`}`,
    reached: value <= bar,
  };
}

export function atLeast(what: string, value: number, bar: number, unit: string, note = ""): Row {
  return {
    what,
    bar: `≥ ${bar}${unit}`,
    figure: `${round(value)}${unit}${note === "" ? "" : ` (${note})`}`,
    reached: value >= bar,
  };
}

export function printRows(title: string, rows: readonly Row[]): void {
  console.log(`\n${title}`);
  for (const { what, bar, figure, reached } of rows)
    console.log(`  ${reached ? "ok  " : "MISS"} ${what.padEnd(58)} ${bar.padEnd(10)} ${figure}`);
}

export function round(value: number): string {
  if (value === 0) return "0";
  return Math.abs(value) >= 100 ? value.toFixed(0) : value.toPrecision(3);
}

export function quantile(values: readonly number[], q: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * q))] ?? Number.NaN;
}

export const median = (values: readonly number[]): number => quantile(values, 0.5);
