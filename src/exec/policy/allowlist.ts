// Does an allowlist entry cover a program: by the path it was found under, its arguments and its folder where bound.
import { homedir } from "node:os";
import { basename, dirname, join, resolve } from "node:path";
import picomatch from "picomatch";

import { OpenClawError } from "../../core/error.ts";
import { Lru } from "../../base/lru.ts";
import { compilePattern } from "../../config/patterns.ts";
import type { AnalysedSegment } from "./analysis.ts";
import type { EntryRef } from "./effective.ts";
import { isRemembered, stillMeans } from "./instructions.ts";
import { realOf } from "./programs.ts";

/** Compiled patterns; what a pattern means never changes, so they cannot go stale. */
const compiled = new Lru<(path: string) => boolean>(500);
const argumentPatterns = new Lru<RegExp>(200);

/** Arguments longer than this match no pattern: matching must stay quick. */
const maxArgumentChars = 4000;

/** The first entry that covers the program of a segment, run in `cwd`. */
export function matchEntry(
  segment: AnalysedSegment,
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
    if (isRemembered(entry) && !stillMeans(entry, segment.judged, segment.scripts)) return false;
    return entry.argPattern === undefined || argumentsFit(entry.argPattern, argv.slice(1));
  });
}

/** /bin and /usr/bin are one folder on most systems: an entry may name either. The name of the program stays the same. */
function spellings(path: string): readonly string[] {
  const folder = dirname(path);
  const twin = folder.startsWith("/usr/") ? folder.slice(4) : `/usr${folder}`;
  const merged = /^(?:\/usr)?\/s?bin$/.test(folder) && realOf(folder) === realOf(twin);
  return merged ? [path, join(twin, basename(path))] : [path];
}

/** Patterns name paths: one without a separator covers nothing. `*` and `?` stop at `/`, `**` does not. */
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

/** A path as a pattern that matches nothing else. */
export const literalPattern = (path: string): string => path.replace(/[\\*?[\]{}()!+@|]/g, "\\$&");

function expandHome(pattern: string, home: string): string {
  return pattern.startsWith("~/") ? literalPattern(home) + pattern.slice(1) : pattern;
}

/** The whole of the arguments, joined by one blank, whether or not the pattern says ^ and $. */
function argumentsFit(pattern: string, args: readonly string[]): boolean {
  const joined = args.join(" ");
  if (joined.length > maxArgumentChars) return false;
  return argumentPattern(pattern)?.test(joined) ?? false;
}

/** A pattern that does not compile, or could run for ever, matches nothing: the entry stays without effect. */
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

/** Where they really are: a link that leads elsewhere by now is another folder. */
function sameFolder(bound: string, cwd: string): boolean {
  const real = realOf(resolve(cwd));
  return real !== undefined && realOf(resolve(bound)) === real;
}

function sameWords(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((word, index) => word === b[index]);
}
