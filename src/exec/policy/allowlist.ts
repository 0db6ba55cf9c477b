// Matches a program against allowlist entries: by its path, and by its arguments and folder where an entry binds them.
import { homedir } from "node:os";
import { basename, dirname, join, resolve } from "node:path";
import picomatch from "picomatch";

import { OpenClawError } from "../../core/error.ts";
import { Lru } from "../../base/lru.ts";
import { compilePattern } from "../../config/patterns.ts";
import type { AnalyzedSegment } from "./analysis.ts";
import type { EntryRef } from "./effective.ts";
import { isRemembered, isStillValid } from "./instructions.ts";
import { realOf } from "./programs.ts";

/** Compiled patterns. The meaning of a pattern never changes, so entries cannot go stale. */
const compiled = new Lru<(path: string) => boolean>(500);
const argumentPatterns = new Lru<RegExp>(200);

/** Longer arguments match no pattern, so that matching stays quick. */
const maxArgumentChars = 4000;

/** The first entry that covers the program of a segment when it runs in `cwd`. */
export function matchEntry(
  segment: AnalyzedSegment,
  cwd: string,
  allowlist: readonly EntryRef[],
  home = homedir(),
): EntryRef | undefined {
  const { path, argv } = segment.judged;
  const paths = allowlist.length === 0 ? [] : spellings(path);
  return allowlist.find(({ entry }) => {
    if (!paths.some((spelling) => matchesPath(entry.pattern, spelling, home))) return false;
    if (entry.cwd !== undefined && !sameFolder(entry.cwd, cwd)) return false;
    if (entry.args !== undefined && !sameWords(entry.args, argv.slice(1))) return false;
    if (isRemembered(entry) && !isStillValid(entry, segment.judged, segment.scripts)) return false;
    return entry.argPattern === undefined || argumentsFit(entry.argPattern, argv.slice(1));
  });
}

/** On most systems /bin and /usr/bin are the same folder, so an entry may name either. The program name stays the same. */
function spellings(path: string): readonly string[] {
  const folder = dirname(path);
  const twin = folder.startsWith("/usr/") ? folder.slice(4) : `/usr${folder}`;
  const merged = /^(?:\/usr)?\/s?bin$/.test(folder) && realOf(folder) === realOf(twin);
  return merged ? [path, join(twin, basename(path))] : [path];
}

/** Patterns match paths, so one without a separator matches nothing. `*` and `?` stop at `/`, `**` does not. */
export function matchesPath(pattern: string, path: string, home: string): boolean {
  if (!pattern.includes("/")) return false;
  const key = `${home}\0${pattern}`;
  const known = compiled.get(key);
  if (known !== undefined) return known(path);
  const matcher = picomatch(expandHome(pattern, home), {
    dot: true,
    nonegate: true,
    noextglob: true,
    nobrace: true,
    strictSlashes: true,
  });
  const matches = (candidate: string): boolean => matcher(candidate);
  compiled.set(key, matches);
  return matches(path);
}

/** Escapes a path to a pattern that matches only this path. */
export const literalPattern = (path: string): string => path.replace(/[\\*?[\]{}()!+@|]/g, "\\$&");

function expandHome(pattern: string, home: string): string {
  return pattern.startsWith("~/") ? literalPattern(home) + pattern.slice(1) : pattern;
}

/** The pattern must match all arguments, joined by single spaces, with or without ^ and $. */
function argumentsFit(pattern: string, args: readonly string[]): boolean {
  const joined = args.join(" ");
  if (joined.length > maxArgumentChars) return false;
  return argumentPattern(pattern)?.test(joined) ?? false;
}

/** Undefined for a pattern that does not compile or could run forever; its entry then has no effect. */
function argumentPattern(pattern: string): RegExp | undefined {
  if (pattern === "") return /^$/;
  const known = argumentPatterns.get(pattern);
  if (known !== undefined) return known;
  try {
    const anchored = new RegExp(`^(?:${compilePattern(`/${pattern}/s`).source})$`, "s");
    argumentPatterns.set(pattern, anchored);
    return anchored;
  } catch (error) {
    if (error instanceof OpenClawError) return undefined;
    throw error;
  }
}

/** Compares real paths, because a link may lead to another folder by now. */
function sameFolder(bound: string, cwd: string): boolean {
  const real = realOf(resolve(cwd));
  return real !== undefined && realOf(resolve(bound)) === real;
}

function sameWords(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((word, index) => word === b[index]);
}
