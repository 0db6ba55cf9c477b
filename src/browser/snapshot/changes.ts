// Says in a few lines what changed on a page between two snapshots.
import { printLine, type Line } from "./render.ts";

const MAX_LINES = 40;
const MAX_CHARS = 3000;
const MAX_LINE = 300;

/** Lines start with + (new), ~ (changed) or - (gone). Empty when the page looks the same. */
export function describeChanges(before: readonly Line[], after: readonly Line[]): string {
  const [old, now] = [index(before), index(after)];
  const out: string[] = [];
  const texts = new Map(old.texts);
  let shownDepth = -1;
  for (const line of after) {
    const mark = markOf(line, old.numbers, texts);
    if (mark === undefined) continue;
    const depth = Math.max(0, Math.min(line.depth, shownDepth + 1));
    shownDepth = depth;
    out.push(`${mark} ${printLine({ ...line, depth }, "ai")}`);
  }
  const left = new Map(now.texts);
  for (const gone of topmostGone(before, now.numbers, left)) out.push(`- ${gone}`);
  return bounded(out);
}

interface Index {
  readonly numbers: ReadonlyMap<number, string>;
  readonly texts: ReadonlyMap<string, number>;
}

function index(lines: readonly Line[]): Index {
  const numbers = new Map<number, string>();
  const texts = new Map<string, number>();
  for (const { number, text } of lines) {
    if (number === undefined) texts.set(text, (texts.get(text) ?? 0) + 1);
    else numbers.set(number, text);
  }
  return { numbers, texts };
}

function markOf({ number, text }: Line, numbers: Index["numbers"], texts: Map<string, number>): "+" | "~" | undefined {
  if (number !== undefined) {
    const known = numbers.get(number);
    if (known === undefined) return "+";
    return known === text ? undefined : "~";
  }
  return take(texts, text) ? undefined : "+";
}

/** An element that is gone stands for everything below it. */
function topmostGone(before: readonly Line[], numbers: Index["numbers"], texts: Map<string, number>): string[] {
  const out: string[] = [];
  let goneDepth = Number.POSITIVE_INFINITY;
  for (const { depth, number, text } of before) {
    if (depth <= goneDepth) goneDepth = Number.POSITIVE_INFINITY;
    const isGone = number === undefined ? !take(texts, text) : !numbers.has(number);
    if (!isGone || depth > goneDepth) continue;
    goneDepth = depth;
    out.push(text.slice(0, 80));
  }
  return out;
}

function take(texts: Map<string, number>, text: string): boolean {
  const count = texts.get(text) ?? 0;
  if (count === 0) return false;
  texts.set(text, count - 1);
  return true;
}

function bounded(lines: readonly string[]): string {
  const out: string[] = [];
  let chars = 0;
  for (const line of lines) {
    const text = line.length > MAX_LINE ? `${line.slice(0, MAX_LINE)}…` : line;
    chars += text.length + 1;
    if (out.length >= MAX_LINES || chars > MAX_CHARS) {
      out.push(`… ${lines.length - out.length} more changes; take a snapshot to see the page`);
      break;
    }
    out.push(text);
  }
  return out.join("\n");
}
