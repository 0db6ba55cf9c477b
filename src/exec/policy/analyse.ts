// Reads a command line: a plain pipeline of words whose programs are all known, or something else and why.
import { statSync } from "node:fs";
import { basename, resolve, sep } from "node:path";

import { errnoOf } from "../../core/error.ts";
import type { Analysis, AnalysedSegment, NotUnderstood, Place } from "./analysis.ts";
import { readLine, type Line, type RawCommand } from "./line.ts";
import { realOf } from "./programs.ts";
import { Refusal, refuse } from "./refusal.ts";
import { analyseSegment } from "./segment.ts";
import {
  checkText,
  loadParser,
  refuseLogin,
  refuseStrangeText,
  refuseUnfinished,
  toldSegments,
  type Parsed,
} from "./syntax.ts";

export type { Analysis, AnalysedSegment, Concern, Place } from "./analysis.ts";

/** Throws `exec.bad-command` for what no shell could run: nothing at all, a NUL, an open quote or here-document. */
export async function analyse(command: string, place: Place): Promise<Analysis> {
  const parser = await loadParser();
  checkText(command);
  return analyseWith(parser, command, place);
}

function analyseWith(parser: Awaited<ReturnType<typeof loadParser>>, command: string, place: Place): Analysis {
  let parsed: Parsed | undefined;
  try {
    refuseStrangeText(command);
    parsed = parser.read(command);
    refuseUnfinished(parsed);
    refuseLogin(parsed);
    const line = readLine(parsed.statements);
    const cwd = folderAfter(line, place);
    const segments = line.commands.map((raw) => analyseSegment(raw, { ...place, cwd }));
    return { kind: "pipeline", command, segments, cwd };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return other(command, error, parsed, place);
  }
}

function other(command: string, refusal: Refusal, parsed: Parsed | undefined, place: Place): NotUnderstood {
  const segments = parsed === undefined ? [] : toldSegments(parsed, (raw) => told(raw, place));
  return { kind: "other", command, ...refusal.concern, segments, cwd: place.cwd };
}

function told(raw: RawCommand, place: Place): AnalysedSegment | undefined {
  try {
    return analyseSegment(raw, place);
  } catch (error) {
    if (error instanceof Refusal) return undefined;
    throw error;
  }
}

/** The folder after the leading `cd`s; each must be a folder inside the workspace, links resolved. */
function folderAfter(line: Line, place: Place): string {
  if (line.folders.length === 0) return place.cwd;
  const root = realOf(place.workspace);
  return line.folders.reduce((cwd, folder) => {
    const next = resolve(cwd, folder);
    const real = realOf(next);
    const within = root !== undefined && real !== undefined && (real === root || real.startsWith(root + sep));
    // One answer for both, so that nothing is learnt about folders elsewhere.
    if (!within || !isFolder(next)) refuse("exec.folder", `its cd leads outside the workspace: ${basename(next)}`);
    return next;
  }, place.cwd);
}

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch (error) {
    if (errnoOf(error) === undefined) throw error;
    return false;
  }
}
