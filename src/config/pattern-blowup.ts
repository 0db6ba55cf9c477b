// Detects regular expressions with exponential time: a loop that can match one text in two ways, or too many adjacent
// loops.
import { everyChar, parsePattern, type CharSet, type Piece } from "./pattern-syntax.ts";

/** Also true for patterns that are too large to check. */
export function canExplode(source: string, flags: string): boolean {
  return judge(parsePattern(source, flags));
}

function judge(piece: Piece): boolean {
  const graph = createGraph();
  const looks: Piece[] = [];
  build(piece, graph, looks);
  return graph.sets.length > maxPositions || isAmbiguous(graph) || looks.some(judge);
}

const maxPositions = 400;
/** Adjacent loops over the same characters; ordinary patterns have up to three. */
const maxChain = 4;
/** Number of ways to match one text without a loop, as a power of two. */
const maxForks = 13;
/** Maximum cost of a check; a pattern beyond it is rejected. */
const maxComparisons = 2_000_000;
/** Longer bounded repetitions are treated as unbounded. */
const unrolled = 3;

/** One position per character of the pattern; `next` counts the ways from one position to another. */
interface Graph {
  readonly sets: CharSet[];
  readonly next: Map<number, number>[];
}

/** A position is in `first` or `last` once for each way to enter or leave it, at most twice. */
interface Span {
  /** Number of ways to match the empty text; more than one counts as two. */
  readonly empties: number;
  readonly first: readonly number[];
  readonly last: readonly number[];
}

const createGraph = (): Graph => ({ sets: [], next: [] });
const emptySpan: Span = { empties: 1, first: [], last: [] };

function build(piece: Piece, graph: Graph, looks: Piece[]): Span {
  if (graph.sets.length > maxPositions) return emptySpan;
  switch (piece.kind) {
    case "char":
      return addPosition(graph, piece.set);
    case "empty":
      return emptySpan;
    case "look":
      looks.push(piece.part);
      return emptySpan;
    case "all":
      return piece.parts.map((part) => build(part, graph, looks)).reduce((a, b) => follow(graph, a, b), emptySpan);
    case "any":
      return piece.parts.map((part) => build(part, graph, looks)).reduce(either);
    case "repeat":
      return repeat(piece, graph, looks);
  }
}

function addPosition(graph: Graph, set: CharSet): Span {
  const position = graph.sets.push(set.length === 0 ? everyChar : set) - 1;
  graph.next.push(new Map());
  return { empties: 0, first: [position], last: [position] };
}

function follow(graph: Graph, a: Span, b: Span): Span {
  connect(graph, a.last, b.first);
  return {
    empties: Math.min(2, a.empties * b.empties),
    first: atMostTwice([...a.first, ...times(b.first, a.empties)]),
    last: atMostTwice([...b.last, ...times(a.last, b.empties)]),
  };
}

function either(a: Span, b: Span): Span {
  return {
    empties: Math.min(2, a.empties + b.empties),
    first: atMostTwice([...a.first, ...b.first]),
    last: atMostTwice([...a.last, ...b.last]),
  };
}

function times(positions: readonly number[], ways: number): readonly number[] {
  return Array.from({ length: ways }, () => positions).flat();
}

function atMostTwice(positions: readonly number[]): number[] {
  const counts = new Map<number, number>();
  return positions.filter((position) => {
    const count = (counts.get(position) ?? 0) + 1;
    counts.set(position, count);
    return count <= 2;
  });
}

/**
 * Required rounds may match nothing, optional ones may not: in (a?)+ an `a` is matched by the first round, or by the
 * second one after an empty first.
 */
function repeat({ part, min, max }: Piece & { kind: "repeat" }, graph: Graph, looks: Piece[]): Span {
  if (max === 0) return emptySpan;
  if (max > unrolled) return endless(part, min, graph, looks);
  // x{1,3} is x(x(x)?)?, built from the inside.
  let span = emptySpan;
  for (let count = max; count > 0; count -= 1) {
    const round = build(part, graph, looks);
    if (count <= min) span = follow(graph, round, span);
    else span = { ...follow(graph, { ...round, empties: 0 }, span), empties: 1 };
  }
  return span;
}

function endless(part: Piece, min: number, graph: Graph, looks: Piece[]): Span {
  const round = build(part, graph, looks);
  connect(graph, round.last, round.first);
  if (min === 0) return { ...round, empties: 1 };
  if (round.empties === 0) return round;
  let span: Span = { ...round, empties: 1 };
  for (let count = Math.min(min, unrolled); count > 0; count -= 1)
    span = follow(graph, build(part, graph, looks), span);
  return span;
}

function connect(graph: Graph, from: readonly number[], to: readonly number[]): void {
  for (const a of from) for (const b of to) graph.next[a]?.set(b, (graph.next[a].get(b) ?? 0) + 1);
}

/** A loop is ambiguous when two different paths around it, from one position back to it, match the same text. */
function isAmbiguous(graph: Graph): boolean {
  const overlaps = (a: number, b: number): boolean => intersects(graph.sets[a] ?? [], graph.sets[b] ?? []);
  const loops: Loop[] = [];
  const seen = new Set<number>();
  for (const start of graph.sets.keys()) {
    if (seen.has(start)) continue;
    const positions = loopThrough(graph, start);
    if (positions.size === 0) continue;
    for (const position of positions) seen.add(position);
    if (isLoopAmbiguous(graph, positions, start, overlaps)) return true;
    loops.push({ start, positions });
  }
  return longestChain(graph, loops, overlaps) > maxChain || forksAhead(graph, loops, overlaps) > maxForks;
}

/**
 * How often a path can fork while it matches the same text, as a power of two: a?a?a? matches an `a` in three places.
 * Loops are checked separately, so a path through a loop continues after it.
 */
function forksAhead(graph: Graph, loops: readonly Loop[], overlaps: (a: number, b: number) => boolean): number {
  const loopOf = new Map(loops.flatMap((loop) => [...loop.positions].map((position) => [position, loop] as const)));
  const known = new Map<number, number>();
  const forksFrom = (from: number): number => {
    const found = known.get(from);
    if (found !== undefined) return found;
    const loop = loopOf.get(from);
    const ahead = [...(graph.next[from] ?? [])];
    const alike = ahead.map(([x]) => ahead.reduce((sum, [y, ways]) => sum + (overlaps(x, y) ? ways : 0), 0));
    const own = loop === undefined ? Math.log2(Math.max(1, ...alike)) : 0;
    const rest = loop === undefined ? ahead : [...loop.positions].flatMap((position) => leaving(graph, loop, position));
    const forks = own + Math.max(0, ...rest.map(([to]) => forksFrom(to)));
    known.set(from, forks);
    return forks;
  };
  return Math.max(0, ...[...graph.sets.keys()].map(forksFrom));
}

function leaving(graph: Graph, loop: Loop, position: number): (readonly [number, number])[] {
  return [...(graph.next[position] ?? [])].filter(([to]) => !loop.positions.has(to));
}

interface Loop {
  readonly start: number;
  readonly positions: ReadonlySet<number>;
}

/** How many adjacent loops can match the same text: the time grows with that power of its length. */
function longestChain(graph: Graph, loops: readonly Loop[], overlaps: (a: number, b: number) => boolean): number {
  const lengths = new Map<Loop, number>();
  const lengthFrom = (loop: Loop): number => {
    const known = lengths.get(loop);
    if (known !== undefined) return known;
    const ahead = reach([loop.start], (position) => [...(graph.next[position]?.keys() ?? [])]);
    const next = loops.filter((other) => other !== loop && ahead.has(other.start) && shareText(loop, other, overlaps));
    const length = 1 + Math.max(0, ...next.map(lengthFrom));
    lengths.set(loop, length);
    return length;
  };
  return Math.max(0, ...loops.map(lengthFrom));
}

function shareText(a: Loop, b: Loop, overlaps: (a: number, b: number) => boolean): boolean {
  return [...a.positions].some((x) => [...b.positions].some((y) => overlaps(x, y)));
}

/** All positions on a path from `start` back to itself. */
function loopThrough(graph: Graph, start: number): ReadonlySet<number> {
  const ahead = reach([start], (position) => [...(graph.next[position]?.keys() ?? [])]);
  const behind = reach([start], (position) => graph.next.flatMap((next, from) => (next.has(position) ? [from] : [])));
  return new Set([...ahead].filter((position) => behind.has(position)));
}

function isLoopAmbiguous(
  graph: Graph,
  loop: ReadonlySet<number>,
  start: number,
  overlaps: (a: number, b: number) => boolean,
): boolean {
  const steps = new Map([...loop].map((from) => [from, [...(graph.next[from] ?? [])].filter(([to]) => loop.has(to))]));
  for (const ways of steps.values()) if (ways.some(([, count]) => count > 1)) return true;
  const size = graph.sets.length;
  const backward = new Map<number, number[]>();
  let budget = maxComparisons;
  const pairs = reach([start * size + start], (pair) => {
    const [a, b] = [Math.floor(pair / size), pair % size];
    budget -= (steps.get(a)?.length ?? 0) * (steps.get(b)?.length ?? 0);
    if (budget < 0) return [];
    const next: number[] = [];
    for (const [x] of steps.get(a) ?? []) {
      for (const [y] of steps.get(b) ?? []) if (overlaps(x, y)) next.push(x * size + y);
    }
    for (const target of next) {
      const known = backward.get(target);
      if (known === undefined) backward.set(target, [pair]);
      else known.push(pair);
    }
    return next;
  });
  if (budget < 0) return true;
  const back = reach([start * size + start], (pair) => backward.get(pair) ?? []);
  return [...pairs].some((pair) => back.has(pair) && Math.floor(pair / size) !== pair % size);
}

/** Positions reachable in one step or more. */
function reach(from: readonly number[], next: (at: number) => readonly number[]): ReadonlySet<number> {
  const found = new Set<number>();
  const waiting = from.flatMap((start) => [...next(start)]);
  while (waiting.length > 0) {
    const at = waiting.pop() as number;
    if (found.has(at)) continue;
    found.add(at);
    for (const target of next(at)) if (!found.has(target)) waiting.push(target);
  }
  return found;
}

function intersects(a: CharSet, b: CharSet): boolean {
  return a.some(([from, to]) => b.some(([low, high]) => from <= high && low <= to));
}
