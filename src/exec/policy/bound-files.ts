// Finds the files that a plan depends on besides its programs: scripts, and files given to a shell or to a program that can run them.
import { resolve } from "node:path";

import { OpenClawError } from "../../core/error.ts";
import type { AnalyzedSegment, Analysis, AnalysisContext } from "./analysis.ts";
import type { Identity } from "./plan.ts";
import { identityOf } from "./programs.ts";

const maxFiles = 64;

/** Throws `approval.too-many-files`: a file that is not in the plan could be replaced after the approval. */
export function boundFiles(analysis: Analysis, context: AnalysisContext): Identity[] {
  const paths = analysis.segments.flatMap((segment) => namedBy(segment, analysis, context));
  const files = [...new Set(paths)].flatMap((path) => identityOf(path, "file") ?? []);
  if (files.length <= maxFiles) return files;
  throw new OpenClawError(
    "approval.too-many-files",
    `cannot ask for approval: the line names ${files.length} files (at most ${maxFiles})`,
    { hint: "write the commands to a script file in the workspace and run that" },
  );
}

/** A program with a concern may run any file it is given, and so may every program of a line that was not understood. */
function namedBy(segment: AnalyzedSegment, analysis: Analysis, context: AnalysisContext): readonly string[] {
  if (segment.concern === undefined && analysis.kind === "pipeline") return segment.scripts;
  const words = segment.argv.slice(1).map((word) => word.replace(/^--?[A-Za-z-]+=/, ""));
  const folders = [...new Set([analysis.cwd, context.cwd])];
  return [
    ...segment.scripts,
    ...folders.flatMap((folder) => words.flatMap((word) => (word === "" ? [] : [resolve(folder, word)]))),
  ];
}
