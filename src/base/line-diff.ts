// A unified diff of two texts by lines, bounded in work and in size.

export interface DiffOptions {
  /** Shown in the header. */
  readonly name: string;
  readonly context?: number;
  readonly maxChars?: number;
  /** The number of the first line, where both texts are the same window of something longer. */
  readonly firstLine?: number;
}

/** Empty when the texts are the same. Cut, with a last line that says so, past `maxChars`. */
export function unifiedDiff(before: string, after: string, options: DiffOptions): string {
  const { name, context = 3, maxChars = 20_000, firstLine = 1 } = options;
  if (before === after) return "";
  const onlyEndsDiffer = before.replaceAll("\r\n", "\n") === after.replaceAll("\r\n", "\n");
  const shown = (text: string): string[] => toLines(onlyEndsDiffer ? text.replaceAll("\r\n", "␍\n") : text);
  const [old, fresh] = [shown(before), shown(after)];
  const changes = numbered(lineSigns(old, fresh), old, fresh, firstLine);
  const body = hunksOf(changes, context).map((hunk) => printHunk(hunk));
  return cut([`--- a/${name}`, `+++ b/${name}`, ...body].join("\n"), maxChars);
}

interface Change {
  readonly sign: " " | "-" | "+";
  readonly text: string;
  /** Line numbers from 1 where this line stands, or would stand, in each text. */
  readonly old: number;
  readonly fresh: number;
}

const NO_END = "\n\\ No newline at end of file";

/** A last line without an end carries the usual remark, so that it differs from one that has it. */
function toLines(text: string): string[] {
  if (text === "") return [];
  const lines = text.split("\n");
  const last = lines.pop();
  const all = lines.map((line) => line.replace(/\r$/, ""));
  return last === undefined || last === "" ? all : [...all, last + NO_END];
}

function lineSigns(old: readonly string[], fresh: readonly string[]): Change["sign"][] {
  let head = 0;
  while (head < old.length && head < fresh.length && old[head] === fresh[head]) head += 1;
  let tail = 0;
  while (tail < old.length - head && tail < fresh.length - head && old.at(-1 - tail) === fresh.at(-1 - tail)) tail += 1;
  return [
    ...Array.from({ length: head }, () => " " as const),
    ...compare(old.slice(head, old.length - tail), fresh.slice(head, fresh.length - tail)),
    ...Array.from({ length: tail }, () => " " as const),
  ];
}

const MAX_CELLS = 1_000_000;

/** Longest common subsequence where it is affordable; else all old lines go and all new ones come. */
function compare(old: readonly string[], fresh: readonly string[]): Change["sign"][] {
  const width = fresh.length + 1;
  if (old.length * fresh.length > MAX_CELLS) return [...old.map(() => "-" as const), ...fresh.map(() => "+" as const)];
  const table = new Uint32Array((old.length + 1) * width);
  const cell = (row: number, column: number): number => table[row * width + column] ?? 0;
  for (let row = old.length - 1; row >= 0; row -= 1) {
    for (let column = fresh.length - 1; column >= 0; column -= 1) {
      const same = old[row] === fresh[column];
      table[row * width + column] = same
        ? cell(row + 1, column + 1) + 1
        : Math.max(cell(row + 1, column), cell(row, column + 1));
    }
  }
  const signs: Change["sign"][] = [];
  for (let row = 0, column = 0; row < old.length || column < fresh.length;) {
    const same = row < old.length && column < fresh.length && old[row] === fresh[column];
    const removes = row < old.length && (column >= fresh.length || cell(row + 1, column) >= cell(row, column + 1));
    signs.push(same ? " " : removes ? "-" : "+");
    if (same || removes) row += 1;
    if (same || !removes) column += 1;
  }
  return signs;
}

function numbered(
  signs: readonly Change["sign"][],
  old: readonly string[],
  fresh: readonly string[],
  firstLine: number,
): Change[] {
  let [atOld, atFresh] = [0, 0];
  return signs.map((sign) => {
    const text = (sign === "+" ? fresh[atFresh] : old[atOld]) ?? "";
    const change = { sign, text, old: atOld + firstLine, fresh: atFresh + firstLine };
    if (sign !== "+") atOld += 1;
    if (sign !== "-") atFresh += 1;
    return change;
  });
}

/** Changes with their context; neighbours whose contexts touch become one. */
function hunksOf(changes: readonly Change[], context: number): Change[][] {
  const hunks: [from: number, to: number][] = [];
  for (const [at, { sign }] of changes.entries()) {
    if (sign === " ") continue;
    const [from, to] = [Math.max(0, at - context), Math.min(changes.length, at + context + 1)];
    const last = hunks.at(-1);
    if (last !== undefined && from <= last[1]) last[1] = to;
    else hunks.push([from, to]);
  }
  return hunks.map(([from, to]) => changes.slice(from, to));
}

function printHunk(hunk: readonly Change[]): string {
  const [first] = hunk;
  const span = (start: number, gone: Change["sign"]): string => {
    const length = hunk.filter(({ sign }) => sign !== gone).length;
    return `${length === 0 ? start - 1 : start},${length}`;
  };
  const lines = hunk.map(({ sign, text }) => sign + text);
  return [`@@ -${span(first?.old ?? 1, "+")} +${span(first?.fresh ?? 1, "-")} @@`, ...lines].join("\n");
}

function cut(diff: string, maxChars: number): string {
  if (diff.length <= maxChars) return diff;
  const kept = diff.slice(0, diff.lastIndexOf("\n", maxChars));
  return `${kept.toWellFormed()}\n… (${diff.length - kept.length} more characters)`;
}
