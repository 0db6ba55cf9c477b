// Analyzes a command line: either a plain pipeline of known programs, or the reason why it is not one.
import { statSync } from "node:fs";
import { basename, resolve, sep } from "node:path";

import { errnoOf } from "../../core/error.ts";
import type { Analysis, AnalyzedSegment, NotUnderstood, AnalysisContext } from "./analysis.ts";
import { readLine, type Line, type RawCommand } from "./line.ts";
import { realOf } from "./programs.ts";
import { Refusal, refuse } from "./refusal.ts";
import { analyzeSegment } from "./segment.ts";
import {
  checkText,
  loadParser,
  refuseLogin,
  refuseAmbiguousText,
  refuseUnfinished,
  collectSegments,
  type Parsed,
} from "./syntax.ts";

export type { Analysis, AnalyzedSegment, Concern, AnalysisContext } from "./analysis.ts";

/** Throws `exec.bad-command` for text that no shell could run: empty, with a NUL, an open quote or an open here-document. */
export async function analyze(command: string, context: AnalysisContext): Promise<Analysis> {
  const parser = await loadParser();
  checkText(command);
  return analyzeWith(parser, command, context);
}

function analyzeWith(
  parser: Awaited<ReturnType<typeof loadParser>>,
  command: string,
  context: AnalysisContext,
): Analysis {
  let parsed: Parsed | undefined;
  try {
    refuseAmbiguousText(command);
    parsed = parser.read(command);
    refuseUnfinished(parsed);
    refuseLogin(parsed);
    const line = readLine(parsed.statements);
    const cwd = folderAfter(line, context);
    const segments = line.commands.map((raw) => analyzeSegment(raw, { ...context, cwd }));
    return { kind: "pipeline", command, segments, cwd };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return notUnderstood(command, error, parsed, context);
  }
}

function notUnderstood(
  command: string,
  refusal: Refusal,
  parsed: Parsed | undefined,
  context: AnalysisContext,
): NotUnderstood {
  const segments = parsed === undefined ? [] : collectSegments(parsed, (raw) => analyzeIfPossible(raw, context));
  return { kind: "other", command, ...refusal.concern, segments, cwd: context.cwd };
}

function analyzeIfPossible(raw: RawCommand, context: AnalysisContext): AnalyzedSegment | undefined {
  try {
    return analyzeSegment(raw, context);
  } catch (error) {
    if (error instanceof Refusal) return undefined;
    throw error;
  }
}

/** The folder after the leading `cd` commands; each must be a folder inside the workspace, with links resolved. */
function folderAfter(line: Line, context: AnalysisContext): string {
  if (line.folders.length === 0) return context.cwd;
  const root = realOf(context.workspace);
  return line.folders.reduce((cwd, folder) => {
    const next = resolve(cwd, folder);
    const real = realOf(next);
    const within = root !== undefined && real !== undefined && (real === root || real.startsWith(root + sep));
    // The same answer for both cases, so that a caller cannot probe for folders elsewhere.
    if (!within || !isFolder(next)) refuse("exec.folder", `its cd leads outside the workspace: ${basename(next)}`);
    return next;
  }, context.cwd);
}

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch (error) {
    if (errnoOf(error) === undefined) throw error;
    return false;
  }
}
