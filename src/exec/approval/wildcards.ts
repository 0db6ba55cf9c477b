// Wildcards of arguments, expanded by us as POSIX says: what was checked is what the program gets.
import { readdirSync } from "node:fs";
import { join } from "node:path";

import { errnoOf } from "../../core/error.ts";
import { statOf } from "./programs.ts";
import { refuse } from "./refusal.ts";
import type { Piece, ShellWord } from "./word.ts";

const maxMatches = 2000;
const maxLooked = 20_000;

interface Ground {
  readonly cwd: string;
  readonly home: string;
}

/** The arguments a word becomes; a pattern without a match stays as it is written. */
export function expandWord(word: ShellWord, ground: Ground): string[] {
  const pieces = word.tilde ? withHome(word.pieces, ground.home) : word.pieces;
  const written = pieces.map((piece) => piece.text).join("");
  if (!pieces.some((piece) => piece.wild)) return [written];
  const matches = matchesOf(componentsOf(pieces), ground.cwd);
  return matches.length === 0 ? [written] : matches.toSorted(byCodePoint);
}

function withHome(pieces: readonly Piece[], home: string): readonly Piece[] {
  const [first, ...rest] = pieces;
  if (first === undefined) return pieces;
  return [{ text: home + first.text.slice(1), wild: false }, ...rest];
}

/** Cut at every `/`; a component keeps which of its characters are wild. */
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

/** `base` ends in `/` or is empty. */
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
  const fits = patternOf(component);
  const names = namesIn(inside(cwd, base));
  budget.left -= names.length;
  if (budget.left < 0) refuse("exec.pattern", `a wildcard looks at more than ${maxLooked} files`);
  return names
    .filter((name) => fits.test(name) && (last || isFolder(inside(cwd, base + name))))
    .map((name) => base + name + end);
}

const inside = (cwd: string, path: string): string =>
  path.startsWith("/") ? path : join(cwd, path === "" ? "." : path);

/** A leading dot is matched only by a written dot. */
function patternOf(component: readonly Piece[]): RegExp {
  const source = component.map((piece) => (piece.wild ? wildSource(piece.text) : escaped(piece.text))).join("");
  const hidden = component.find((piece) => piece.text !== "")?.wild === true ? "(?!\\.)" : "";
  return new RegExp(`^${hidden}${source}$`, "su");
}

function wildSource(text: string): string {
  if (text === "*") return ".*";
  if (text === "?") return ".";
  const negated = text[1] === "!" || text[1] === "^";
  const set = text.slice(negated ? 2 : 1, -1);
  checkRanges(set);
  return `[${negated ? "^" : ""}${set}]`;
}

/** Ranges that mix kinds of characters depend on the language of the system. */
function checkRanges(set: string): void {
  for (const [range, from = "", to = ""] of set.slice(1, -1).includes("-") ? set.matchAll(/(.)-(.)/g) : []) {
    const same = [/[a-z]/, /[A-Z]/, /[0-9]/].some((kind) => kind.test(from) && kind.test(to));
    if (!same || from > to) refuse("exec.pattern", `the range ${range} in a character set has no clear meaning`);
  }
}

const escaped = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&");

export function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if (errnoOf(error) === undefined) throw error;
    return []; // not there, not a folder or not readable: no match, as in a shell
  }
}

const exists = (path: string): boolean => statOf(path) !== undefined;

const isFolder = (path: string): boolean => statOf(path)?.isDirectory() === true;

const byCodePoint = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
