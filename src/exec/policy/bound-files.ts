// Files a plan stands on besides its programs: scripts, and whatever file a shell or a carrier of commands is given.
import { resolve } from "node:path";

import { OpenClawError } from "../../core/error.ts";
import type { AnalysedSegment, Analysis, Place } from "./analysis.ts";
import type { Identity } from "./plan.ts";
import { identityOf } from "./programs.ts";

const maxFiles = 64;

/** Throws `approval.too-many-files`: a file that is not held could be exchanged after the yes. */
export function boundFiles(analysis: Analysis, place: Place): Identity[] {
  const paths = analysis.segments.flatMap((segment) => namedBy(segment, analysis, place));
  const files = [...new Set(paths)].flatMap((path) => identityOf(path, "file") ?? []);
  if (files.length <= maxFiles) return files;
  throw new OpenClawError(
    "approval.too-many-files",
    `cannot ask for approval: the line names ${files.length} files (at most ${maxFiles})`,
    { hint: "write the commands to a script file in the workspace and run that" },
  );
}

/** A program with a concern may run any file it is given; so may everything in a line that was not understood. */
function namedBy(segment: AnalysedSegment, analysis: Analysis, place: Place): readonly string[] {
  if (segment.concern === undefined && analysis.kind === "pipeline") return segment.scripts;
  const words = segment.argv.slice(1).map((word) => word.replace(/^--?[A-Za-z-]+=/, ""));
  const folders = [...new Set([analysis.cwd, place.cwd])];
  return [
    ...segment.scripts,
    ...folders.flatMap((folder) => words.flatMap((word) => (word === "" ? [] : [resolve(folder, word)]))),
  ];
}
