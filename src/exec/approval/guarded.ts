// Arguments that name the gateway's own files: an allowlisted program is no way around the rules that lie in them.
import { dirname, join, basename, resolve, sep } from "node:path";

import type { Concern, Place } from "./analysis.ts";
import { realOf } from "./programs.ts";

/** Seen as written, behind `=` or an option letter, relative to the folder, and through links. */
export function guardedConcern(argv: readonly string[], place: Place): Concern | undefined {
  const guarded = (place.guarded ?? []).flatMap((path) => [path, realOf(path) ?? path]);
  if (guarded.length === 0) return undefined;
  const hit = argv
    .slice(1)
    .some((word) => guarded.some((path) => word.includes(path)) || leadsInto(word, guarded, place));
  return hit ? { code: "exec.guarded", reason: "an argument names a file of the gateway itself" } : undefined;
}

function leadsInto(word: string, guarded: readonly string[], { cwd }: Place): boolean {
  const names = [word, word.slice(word.indexOf("=") + 1), ...(/^-[A-Za-z]./.test(word) ? [word.slice(2)] : [])];
  return names.some((name) => {
    if (name === "" || name.length > 4096) return false;
    const path = resolve(cwd, name);
    return [path, throughLinks(path)].some((one) => guarded.some((own) => one === own || one.startsWith(own + sep)));
  });
}

/** A file that is to be made lies where the folders above it really are. */
function throughLinks(path: string): string {
  const real = realOf(path);
  if (real !== undefined || path === dirname(path)) return real ?? path;
  return join(throughLinks(dirname(path)), basename(path));
}
