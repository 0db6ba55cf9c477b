// Arguments that lead to the gateway's own files: an allowlisted program is no way around the rules that lie in them.
import { dirname, join, basename, relative, resolve, sep } from "node:path";

import type { Concern, Place } from "./analysis.ts";
import { familyNames } from "./argument-rules/names.ts";
import { realOf, statOf } from "./programs.ts";

/** Seen as written, behind `=`, `@` or an option letter, relative to the folder, through links, and put together from two. */
export function guardedConcern(argv: readonly string[], place: Place): Concern | undefined {
  if (place.guarded === undefined || place.guarded.length === 0) return undefined;
  const real = createLookup();
  const guarded = [
    ...new Set(place.guarded.flatMap((path) => [path, join(real(dirname(path)), basename(path)), real(path)])),
  ];
  const words = argv.slice(1);
  const places = words.map((word) => pathsIn(word, place.cwd, real));
  const isNamed = (path: string): boolean => guarded.some((own) => isWithin(path, own));
  const named = words.some((word) => guarded.some((path) => word.includes(path))) || places.flat().some(isNamed);
  if (!named && !madeOfTwo(argv, places, guarded)) return undefined;
  return { code: "exec.guarded", reason: "an argument names one of the gateway's own files" };
}

/** Programs that change or unpack a whole folder when they are given its name. */
const changers = /^(?:rm|chmod|chown|chgrp|chattr|setfacl|shred|unzip|cpio|bsdtar|7z|7za|7zr|unrar|unar)$/;

/** `cp x/rules.json ..` and `tar -C .. -x`: no word names the file, but a folder above it and what comes there do. */
function madeOfTwo(
  argv: readonly string[],
  places: readonly (readonly string[])[],
  guarded: readonly string[],
): boolean {
  const isAbove = (path: string): boolean => guarded.some((own) => isWithin(own, path));
  if (!places.flat().some(isAbove)) return false;
  const names = argv.slice(0, 4).flatMap((word) => familyNames(word));
  if (names.some((name) => changers.test(name)) || (names.includes("tar") && unpacks(argv))) return true;
  // The last one is where it goes; all before are taken away.
  if (names.includes("mv") && places.slice(0, -1).flat().some(isAbove)) return true;
  const meets = (folder: string, at: number): boolean =>
    places.some(
      (paths, other) =>
        other !== at && paths.some((path) => !isAbove(path) && guarded.some((own) => comesTo(own, folder, path))),
    );
  return places.some((paths, at) => paths.filter(isAbove).some((folder) => meets(folder, at)));
}

/** Whether `other`, or what it holds, put into `folder` would be the guarded file or a folder around it. */
function comesTo(own: string, folder: string, other: string): boolean {
  if (!isWithin(own, folder)) return false;
  if (isWithin(own, join(folder, basename(other)))) return true;
  return hasBelow(other) && statOf(join(other, relative(folder, own))) !== undefined;
}

const hasBelow = (path: string): boolean => statOf(path)?.isDirectory() === true;

const unpacks = (argv: readonly string[]): boolean =>
  argv
    .slice(1)
    .some((word, at) => /^--(?:extract|get)$|^-[A-Za-z]*x/.test(word) || (at === 0 && /^[A-Za-z]*x/.test(word)));

/** Every path a word may stand for, as written and as it really is. */
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

/** A file that is to be made lies where the folders above it really are. Each is looked up once. */
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
