// Folds long runs of similar siblings (rows, list items, options) to their first and last ones.
import type { Line } from "./render.ts";

const MAX_RUN = 30;
const HEAD = 10;
const TAIL = 2;

/** A sibling with the lines below it. */
interface Block {
  readonly from: number;
  readonly to: number;
  readonly shape: string;
}

export function foldLines(lines: readonly Line[]): Line[] {
  return foldRange(lines, 0, lines.length);
}

function foldRange(lines: readonly Line[], from: number, to: number): Line[] {
  const out: Line[] = [];
  for (const run of runsOf(blocksOf(lines, from, to))) {
    const isLong = run.length > MAX_RUN;
    const shown = isLong ? [...run.slice(0, HEAD), ...run.slice(-TAIL)] : run;
    for (const [index, block] of shown.entries()) {
      if (isLong && index === HEAD) out.push(foldedLine(lines, run));
      const head = lines[block.from];
      if (head !== undefined) out.push(head, ...foldRange(lines, block.from + 1, block.to));
    }
  }
  return out;
}

function foldedLine(lines: readonly Line[], run: readonly Block[]): Line {
  const [first, last] = [run[HEAD], run.at(-TAIL)];
  const count = run.length - HEAD - TAIL;
  const role = lines[first?.from ?? 0]?.role ?? "text";
  const folded = (last?.from ?? 0) - (first?.from ?? 0);
  const text = `… ${count} more of role ${role} folded; see them with find:"words", or all with fold:false`;
  return { depth: lines[first?.from ?? 0]?.depth ?? 0, text, folded };
}

function blocksOf(lines: readonly Line[], from: number, to: number): Block[] {
  const blocks: Block[] = [];
  for (let index = from; index < to;) {
    const depth = lines[index]?.depth ?? 0;
    let end = index + 1;
    while (end < to && (lines[end]?.depth ?? 0) > depth) end++;
    blocks.push({ from: index, to: end, shape: `${depth} ${lines[index]?.role ?? "text"}` });
    index = end;
  }
  return blocks;
}

/** Siblings repeat as one role, or as a pattern of up to four roles (such as name, button, text). */
function runsOf(blocks: readonly Block[]): Block[][] {
  const runs: Block[][] = [];
  for (let index = 0; index < blocks.length;) {
    const length = longestRun(blocks, index);
    runs.push(blocks.slice(index, index + length));
    index += length;
  }
  return runs;
}

function longestRun(blocks: readonly Block[], from: number): number {
  let best = 1;
  for (let period = 1; period <= 4; period++) {
    let end = from + period;
    while (end < blocks.length && blocks[end]?.shape === blocks[end - period]?.shape) end++;
    const length = end - from;
    if (length >= period * 2 && length > best) best = length;
  }
  return best;
}
