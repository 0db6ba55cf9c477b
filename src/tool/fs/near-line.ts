// Finds the line most similar to a text that was not found, for the error message.
import { visible } from "../../core/visible.ts";

const MAX_LINES = 20_000;
const MAX_CHARS = 400;

/** One sentence. `bytes` is the file, `wanted` the text that is not in it. */
export function describeNearest(bytes: Buffer, wanted: string): string {
  const first = wanted.split("\n").find((line) => line.trim() !== "");
  if (bytes.length === 0) return "The file is empty.";
  if (first === undefined) return "oldText is only whitespace.";
  const lines = bytes.toString("utf8", 0, 4_000_000).split("\n").slice(0, MAX_LINES);
  const exact = lines.findIndex((line) => line.includes(first.trim()));
  if (exact !== -1)
    return `Line ${exact + 1} matches its first line, but ${differenceOf(lines[exact] ?? "", first)}: ${quoted(lines[exact] ?? "")}`;
  const best = nearestLine(lines, first);
  return best === undefined
    ? "No line of the file is similar."
    : `The most similar is line ${best + 1}: ${quoted(lines[best] ?? "")}`;
}

function differenceOf(line: string, first: string): string {
  return line.replace(/\r$/, "").includes(first) ? "the following lines differ" : "the whitespace around it differs";
}

function quoted(line: string): string {
  return JSON.stringify(visible(line.replace(/\r$/, "").replaceAll("\t", "  "), 200));
}

/** By shared pairs of characters; undefined when no line shares half of them. */
function nearestLine(lines: readonly string[], first: string): number | undefined {
  const wanted = pairsOf(first);
  let best: number | undefined;
  let bestScore = 0.5;
  for (const [at, line] of lines.entries()) {
    const length = line.trim().length;
    if (length * 4 < first.trim().length || length > first.trim().length * 4) continue;
    const score = likeness(wanted, pairsOf(line));
    if (score > bestScore) [best, bestScore] = [at, score];
  }
  return best;
}

function pairsOf(line: string): Map<string, number> {
  const text = line.trim().slice(0, MAX_CHARS).toLowerCase();
  const pairs = new Map<string, number>();
  for (let at = 0; at + 1 < text.length; at += 1) {
    const pair = text.slice(at, at + 2);
    pairs.set(pair, (pairs.get(pair) ?? 0) + 1);
  }
  return pairs;
}

/** Dice's coefficient: 0 for no common pair, 1 for the same pairs. */
function likeness(a: ReadonlyMap<string, number>, b: ReadonlyMap<string, number>): number {
  const size = (pairs: ReadonlyMap<string, number>): number =>
    [...pairs.values()].reduce((sum, count) => sum + count, 0);
  const total = size(a) + size(b);
  if (total === 0) return 0;
  let shared = 0;
  for (const [pair, count] of a) shared += Math.min(count, b.get(pair) ?? 0);
  return (2 * shared) / total;
}
