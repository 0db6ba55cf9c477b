// Rejects arguments that refer to the gateway's own files, so that an allowlisted program cannot change the rules.
import { dirname, join, basename, relative, resolve, sep } from "node:path";

import type { Concern, AnalysisContext } from "./analysis.ts";
import { familyNames } from "./argument-rules/names.ts";
import { realOf, statOf } from "./programs.ts";

/** Checks words as written, after `=`, `@` or an option letter, relative to the folder, through links, and in combination. */
export function guardedConcern(argv: readonly string[], context: AnalysisContext): Concern | undefined {
  if (context.guarded === undefined || context.guarded.length === 0 || argv.length < 2) return undefined;
  const real = createLookup();
  const guarded = [
    ...new Set(context.guarded.flatMap((path) => [path, join(real(dirname(path)), basename(path)), real(path)])),
  ];
  const words = argv.slice(1);
  const places = words.map((word) => pathsIn(word, context.cwd, real));
  const isNamed = (path: string): boolean => guarded.some((own) => isWithin(path, own));
  const named = words.some((word) => guarded.some((path) => word.includes(path))) || places.flat().some(isNamed);
  if (!named && !refersInCombination(argv, places, guarded)) return undefined;
  return { code: "exec.guarded", reason: "an argument names one of the gateway's own files" };
}

/** Programs that change or unpack a whole folder given by name. */
const changers = /^(?:rm|chmod|chown|chgrp|chattr|setfacl|shred|unzip|cpio|bsdtar|7z|7za|7zr|unrar|unar)$/;

/** `cp x/rules.json ..` and `tar -C .. -x`: only a folder and a file name together refer to the guarded file. */
function refersInCombination(
  argv: readonly string[],
  places: readonly (readonly string[])[],
  guarded: readonly string[],
): boolean {
  const isAbove = (path: string): boolean => guarded.some((own) => isWithin(own, path));
  if (!places.flat().some(isAbove)) return false;
  const names = argv.slice(0, 4).flatMap((word) => familyNames(word));
  if (names.some((name) => changers.test(name)) || (names.includes("tar") && unpacks(argv))) return true;
  // The last operand is the target; the others are moved away.
  if (names.includes("mv") && places.slice(0, -1).flat().some(isAbove)) return true;
  const meets = (folder: string, at: number): boolean =>
    places.some(
      (paths, other) =>
        other !== at && paths.some((path) => !isAbove(path) && guarded.some((own) => wouldBecome(own, folder, path))),
    );
  return places.some((paths, at) => paths.filter(isAbove).some((folder) => meets(folder, at)));
}

/** True when `other`, or its content, put into `folder` would be the guarded file or a folder above it. */
function wouldBecome(own: string, folder: string, other: string): boolean {
  if (!isWithin(own, folder)) return false;
  if (isWithin(own, join(folder, basename(other)))) return true;
  return hasBelow(other) && statOf(join(other, relative(folder, own))) !== undefined;
}

const hasBelow = (path: string): boolean => statOf(path)?.isDirectory() === true;

const unpacks = (argv: readonly string[]): boolean =>
  argv
    .slice(1)
    .some((word, at) => /^--(?:extract|get)$|^-[A-Za-z]*x/.test(word) || (at === 0 && /^[A-Za-z]*x/.test(word)));

/** Every path that a word may refer to, as written and with links resolved. */
function pathsIn(word: string, cwd: string, real: (path: string) => string): readonly string[] {
  const value = word.slice(word.indexOf("=") + 1);
  const names = [word, value, ...(/^-[A-Za-z]./.test(word) ? [word.slice(2)] : [])];
  const all = names
    .flatMap((name) => (name.startsWith("@") ? [name, name.slice(1)] : [name]))
    .filter((name) => name !== "" && name.length <= 4096);
  return [...new Set(all)].map((name) => resolve(cwd, name)).flatMap((path) => [path, real(path)]);
}

const isWithin = (path: string, folder: string): boolean =>
  path === folder || path.startsWith(folder === sep ? sep : folder + sep);

/** Resolves a missing file through its existing parent folders. Each path is looked up once. */
function createLookup(): (path: string) => string {
  const known = new Map<string, string>();
  const lookUp = (path: string): string => {
    const found =
      known.get(path) ?? realOf(path) ?? (path === dirname(path) ? path : join(lookUp(dirname(path)), basename(path)));
    known.set(path, found);
    return found;
  };
  return lookUp;
}
