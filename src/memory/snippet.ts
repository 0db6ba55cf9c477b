// Picks the lines of a chunk that show why it was found, with their exact line numbers.
import { fold, type Term } from "./terms.ts";

export const MAX_SNIPPET_CHARS = 700;

export interface Snippet {
  readonly startLine: number;
  readonly endLine: number;
  readonly text: string;
}

export function snippetOf(text: string, startLine: number, terms: readonly Pick<Term, "text">[]): Snippet {
  const lines = text.split("\n");
  const stems = terms.map((term) => stemOf(term.text));
  if (text.length <= MAX_SNIPPET_CHARS) return { startLine, endLine: startLine + lines.length - 1, text };
  const telling = lines.map((line) => tellingOf(line, stems));
  const best = telling.indexOf(Math.max(...telling));
  const line = lines[best] ?? "";
  if (line.length > MAX_SNIPPET_CHARS)
    return { startLine: startLine + best, endLine: startLine + best, text: aroundMatch(line, stems) };
  const [first, last] = windowAround(lines, telling, best);
  return { startLine: startLine + first, endLine: startLine + last, text: lines.slice(first, last + 1).join("\n") };
}

/** Word endings differ between query and text; the index normalizes them, here a common prefix is enough. */
function stemOf(word: string): string {
  return word.length <= 4 ? word : word.slice(0, Math.max(4, word.length - 3));
}

function tellingOf(line: string, stems: readonly string[]): number {
  const folded = fold(line);
  return stems.filter((stem) => folded.includes(stem)).length;
}

/** Extends toward the neighboring line with more matches, forward when equal, while it fits. */
function windowAround(lines: readonly string[], telling: readonly number[], best: number): [number, number] {
  let [first, last] = [best, best];
  let room = MAX_SNIPPET_CHARS - (lines[best]?.length ?? 0);
  for (;;) {
    const before = lines[first - 1];
    const after = lines[last + 1];
    const fits = (line: string | undefined): line is string => line !== undefined && line.length + 1 <= room;
    if (fits(after) && (!fits(before) || (telling[last + 1] ?? 0) >= (telling[first - 1] ?? 0))) {
      last += 1;
      room -= after.length + 1;
    } else if (fits(before)) {
      first -= 1;
      room -= before.length + 1;
    } else return [first, last];
  }
}

function aroundMatch(line: string, stems: readonly string[]): string {
  // Case folding may change lengths; then the position is approximate.
  const folded = fold(line);
  const places = stems.map((stem) => folded.indexOf(stem)).filter((at) => at >= 0);
  const place = places.length === 0 ? 0 : Math.min(...places);
  const size = MAX_SNIPPET_CHARS - 2;
  const start = Math.max(0, Math.min(place - Math.floor(size / 4), line.length - size));
  const part = line.slice(start, start + size).toWellFormed();
  return `${start > 0 ? "…" : ""}${part}${start + size < line.length ? "…" : ""}`;
}
