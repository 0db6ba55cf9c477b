// Decides whether "always" can be offered: only for programs whose arguments alone decide what they do.
import { basename } from "node:path";

import type { Judged } from "./analysis.ts";
import { fileArguments, plainPrograms } from "./argument-rules/plain.ts";
import { contentFingerprint } from "./content.ts";
import type { AllowEntry } from "./effective.ts";
import { inTrustedFolder } from "./programs.ts";
import { isScript } from "./shebang.ts";

/**
 * Why these arguments could mean something else later, because a file decides what the program does; undefined when they
 * cannot. `scripts` are the files that its rules found.
 */
export function whyFilesDecide({ path, real, argv }: Judged, scripts: readonly string[]): string | undefined {
  const [name, file] = [basename(path), basename(real)];
  const isPlain = plainPrograms.has(name) && (plainPrograms.has(file) || file === "coreutils");
  if (!isPlain)
    return `${name} is not known to take all its instructions from the command line: files could change what it does. To allow it whatever they say: openclaw approvals allowlist add ${path}`;
  // The files of git are its settings, which its rule reads again at every use.
  if (scripts.length > 0 && name !== "git")
    return `${name} runs what ${scripts.map((at) => basename(at)).join(", ")} says`;
  if (argv.slice(1).some((word) => fileArguments[name]?.test(word))) return `${name} is given a file with instructions`;
  return !inTrustedFolder({ path, real }) && isScript(path) ? `${path} is a script` : undefined;
}

/** The hash that an "always" entry binds, for a program that users other than the administrator can write. */
export function programHash({ path, real }: Judged): Pick<AllowEntry, "sha256"> {
  return inTrustedFolder({ path, real }) ? {} : { sha256: contentFingerprint(path) };
}

/** True for an entry written by "always", which binds arguments and folder. People write patterns. */
export const isRemembered = ({ args, cwd }: AllowEntry): boolean => args !== undefined && cwd !== undefined;

/** True while the entry means what was approved. Entries of older versions did not bind the content. */
export function isStillValid(entry: AllowEntry, judged: Judged, scripts: readonly string[]): boolean {
  return whyFilesDecide(judged, scripts) === undefined && entry.sha256 === programHash(judged).sha256;
}
