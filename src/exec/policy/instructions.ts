// Whether "always" can mean anything but what the person saw: only for programs that follow their words, and as they were.
import { basename } from "node:path";

import type { Judged } from "./analysis.ts";
import { fileArguments, plainPrograms } from "./argument-rules/plain.ts";
import { contentMark } from "./content.ts";
import type { AllowEntry } from "./effective.ts";
import { inTrustedFolder } from "./programs.ts";
import { isScript } from "./shebang.ts";

/**
 * Why consent to these words could come to mean something else, since a file says what the program does; undefined when
 * it cannot. `scripts` are the files its rules found.
 */
export function followsFiles({ path, real, argv }: Judged, scripts: readonly string[]): string | undefined {
  const [name, file] = [basename(path), basename(real)];
  const isPlain = plainPrograms.has(name) && (plainPrograms.has(file) || file === "coreutils");
  if (!isPlain)
    return `${name} is not known to take all its instructions from the command line: files could change what it does. To allow it whatever they say: openclaw approvals allowlist add ${path}`;
  // Those of git are its settings, which its rule reads again at every use.
  if (scripts.length > 0 && name !== "git")
    return `${name} runs what ${scripts.map((at) => basename(at)).join(", ")} says`;
  if (argv.slice(1).some((word) => fileArguments[name]?.test(word))) return `${name} is told to follow a file`;
  return !inTrustedFolder({ path, real }) && isScript(path) ? `${path} is a script` : undefined;
}

/** What an entry for good carries of the program itself, where somebody other than the administrator may write it. */
export function programMark({ path, real }: Judged): Pick<AllowEntry, "sha256"> {
  return inTrustedFolder({ path, real }) ? {} : { sha256: contentMark(path) };
}

/** Written by "always": bound to words and folder. People write patterns. */
export const isRemembered = ({ args, cwd }: AllowEntry): boolean => args !== undefined && cwd !== undefined;

/** Whether it still means what it was given for. An entry of an older version, which bound no content, may not. */
export function stillMeans(entry: AllowEntry, judged: Judged, scripts: readonly string[]): boolean {
  return followsFiles(judged, scripts) === undefined && entry.sha256 === programMark(judged).sha256;
}
