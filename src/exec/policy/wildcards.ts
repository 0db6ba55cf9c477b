// Expands wildcards in arguments by the POSIX rules, so that the program gets exactly what was checked.
import { opendirSync } from "node:fs";
import { join } from "node:path";

import { errnoOf } from "../../core/error.ts";
import type { AnalysisContext } from "./analysis.ts";
import { statOf } from "./programs.ts";
import { refuse } from "./refusal.ts";
import type { Piece, ShellWord } from "./word.ts";

const maxMatches = 2000;
const maxLooked = 20_000;

/** The arguments that a word expands to; a pattern without a match stays as written. */
export function expandWord(word: ShellWord, context: Pick<AnalysisContext, "cwd" | "home">): string[] {
  const pieces = word.tilde ? withHome(word.pieces, context.home) : word.pieces;
  const written = pieces.map((piece) => piece.text).join("");
  if (!pieces.some((piece) => piece.wild)) return [written];
  const matches = matchesOf(componentsOf(pieces), context.cwd);
  return matches.length === 0 ? [written] : matches.toSorted(byCodePoint);
}

function withHome(pieces: readonly Piece[], home: string): readonly Piece[] {
  const [first, ...rest] = pieces;
  if (first === undefined) return pieces;
  return [{ text: home + first.text.slice(1), wild: false }, ...rest];
}

/** Splits at every `/`; each component keeps which of its characters are wild. */
function componentsOf(pieces: readonly Piece[]): Piece[][] {
  const components: Piece[][] = [[]];
  for (const piece of pieces) {
    if (piece.wild) {
      components.at(-1)?.push(piece);
      continue;
    }
    const [head = "", ...more] = piece.text.split("/");
    components.at(-1)?.push({ text: head, wild: false });
    for (const text of more) components.push([{ text, wild: false }]);
  }
  return components;
}

function matchesOf(components: readonly Piece[][], cwd: string): string[] {
  const budget = { left: maxLooked };
  let found = [""];
  for (const [index, component] of components.entries()) {
    const last = index === components.length - 1;
    found = found.flatMap((base) => step(base, component, last, cwd, budget));
    if (found.length > maxMatches) refuse("exec.pattern", `a wildcard matches more than ${maxMatches} files`);
  }
  return found;
}

/** `base` is empty or ends in `/`. */
function step(
  base: string,
  component: readonly Piece[],
  last: boolean,
  cwd: string,
  budget: { left: number },
): string[] {
  const end = last ? "" : "/";
  if (!component.some((piece) => piece.wild)) {
    const next = base + component.map((piece) => piece.text).join("");
    return !last || next === "" || next.endsWith("/") || exists(inside(cwd, next)) ? [next + end] : [];
  }
  const isMatch = patternOf(component);
  const names = namesIn(inside(cwd, base), budget.left);
  budget.left -= names.length;
  if (budget.left <= 0) refuse("exec.pattern", `a wildcard searches more than ${maxLooked} files`);
  return names
    .filter((name) => isMatch(name) && (last || isFolder(inside(cwd, base + name))))
    .map((name) => base + name + end);
}

const inside = (cwd: string, path: string): string =>
  path.startsWith("/") ? path : join(cwd, path === "" ? "." : path);

type Test = ((char: string) => boolean) | "any run";

/** A leading dot is matched only by a written dot. */
function patternOf(component: readonly Piece[]): (name: string) => boolean {
  const tests = component.flatMap((piece): Test[] =>
    piece.wild ? [wildTest(piece.text)] : Array.from(piece.text, same),
  );
  const hidden = component.find((piece) => piece.text !== "")?.wild === true;
  return (name) => !(hidden && name.startsWith(".")) && fits(tests, Array.from(name));
}

/** Backtracks to the last `*` only, so that the time is at most pattern length times name length. */
function fits(tests: readonly Test[], chars: readonly string[]): boolean {
  let at = 0;
  let test = 0;
  let star = -1;
  let resume = 0;
  while (at < chars.length) {
    const wanted = tests[test];
    if (wanted === "any run") {
      star = test++;
      resume = at;
    } else if (wanted?.(chars[at] ?? "") === true) {
      at++;
      test++;
    } else if (star >= 0) {
      test = star + 1;
      at = ++resume;
    } else return false;
  }
  return tests.slice(test).every((rest) => rest === "any run");
}

const same =
  (wanted: string) =>
  (char: string): boolean =>
    char === wanted;

function wildTest(text: string): Test {
  if (text === "*") return "any run";
  if (text === "?") return () => true;
  const negated = text[1] === "!" || text[1] === "^";
  const set = text.slice(negated ? 2 : 1, -1);
  checkRanges(set);
  const listed = new RegExp(`^[${set}]$`, "u");
  return (char) => listed.test(char) !== negated;
}

/** Ranges that mix kinds of characters depend on the locale. */
function checkRanges(set: string): void {
  for (const [range, from = "", to = ""] of set.slice(1, -1).includes("-") ? set.matchAll(/(.)-(.)/g) : []) {
    const same = [/[a-z]/, /[A-Z]/, /[0-9]/].some((kind) => kind.test(from) && kind.test(to));
    if (!same || from > to) refuse("exec.pattern", `the range ${range} in a character set is ambiguous`);
  }
}

/** At most `max` names; empty for a missing or unreadable folder, as in a shell. */
export function namesIn(folder: string, max = maxLooked): string[] {
  try {
    using opened = opendirSync(folder, { bufferSize: 256 });
    const names: string[] = [];
    for (let entry = opened.readSync(); entry !== null && names.length < max; entry = opened.readSync())
      names.push(entry.name);
    return names;
  } catch (error) {
    if (errnoOf(error) === undefined) throw error;
    return [];
  }
}

const exists = (path: string): boolean => statOf(path) !== undefined;

const isFolder = (path: string): boolean => statOf(path)?.isDirectory() === true;

const byCodePoint = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
