// The format of recordings: one JSON object per line, in order, with secrets masked.
import { readFileSync } from "node:fs";

import { OpenClawError } from "../core/error.ts";
import type { RunOutcome } from "../core/event.ts";
import type { ModelFacts, ModelRef, ModelRequest } from "../model/model.ts";
import type { ToolResult } from "../tool/tool.ts";
import type { TurnEvent } from "./deps.ts";

export const RECORDING_VERSION = 1;

export type RecordLine =
  | { readonly type: "recording"; readonly version: number; readonly session: string; readonly at: number }
  /** One per model tried: after a failover a turn has several. */
  | {
      readonly type: "request";
      readonly turn: number;
      readonly run: string;
      readonly ref: ModelRef;
      readonly facts: ModelFacts;
      readonly request: ModelRequest;
    }
  /** Streamed text is joined, because a secret split in two would not be masked. */
  | { readonly type: "answer"; readonly turn: number; readonly run: string; readonly events: readonly TurnEvent[] }
  | {
      readonly type: "call";
      readonly call: number;
      readonly run: string;
      readonly caller: string;
      readonly tool: string;
      readonly args: unknown;
    }
  | { readonly type: "result"; readonly call: number; readonly result: ToolResult }
  /** `aborted`: the run was stopped meanwhile. */
  | { readonly type: "result"; readonly call: number; readonly error: RecordedError; readonly aborted?: boolean }
  /** How the run ended; missing when the process was killed. */
  | { readonly type: "end"; readonly run: string; readonly status: RunOutcome["status"]; readonly code?: string };

export interface RecordedError {
  readonly code: string;
  readonly message: string;
  readonly hint?: string;
}

/** Throws `replay.missing` and `replay.bad-file`, the latter with the line. */
export function readRecording(file: string): RecordLine[] {
  const lines = readText(file).split("\n");
  // A killed process leaves half a line; the lines before it are complete.
  const last = lines.findLastIndex((line) => line.trim() !== "");
  const parsed = lines.slice(0, last + 1).flatMap((line, index): RecordLine[] => {
    if (line.trim() === "") return [];
    try {
      return [checkedLine(JSON.parse(line), file, index)];
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
      if (index === last && index > 0) return [];
      throw badLine(file, index, "it is not JSON");
    }
  });
  const [head] = parsed;
  if (head?.type !== "recording") throw badLine(file, 0, "it does not begin with the line of a recording");
  if (head.version === RECORDING_VERSION) return parsed;
  throw badLine(file, 0, `it has version ${head.version}, this program reads ${RECORDING_VERSION}`);
}

function readText(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (cause) {
    throw new OpenClawError("replay.missing", `cannot read ${file}`, {
      cause,
      hint: "record a session first: OPENCLAW_RECORD=<folder> openclaw gateway run",
    });
  }
}

const fields: Readonly<Record<string, readonly string[]>> = {
  recording: ["version", "session"],
  request: ["turn", "run", "ref", "facts", "request"],
  answer: ["turn", "run", "events"],
  call: ["call", "run", "tool"],
  result: ["call"],
  end: ["run", "status"],
};

function checkedLine(value: unknown, file: string, index: number): RecordLine {
  const line = typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
  const expected = fields[typeof line["type"] === "string" ? line["type"] : ""];
  if (expected === undefined) throw badLine(file, index, "its type is unknown");
  const missing = expected.find((name) => line[name] === undefined);
  if (missing !== undefined) throw badLine(file, index, `it has no ${missing}`);
  if (line["type"] === "request" && !Array.isArray((line["request"] as Partial<ModelRequest> | null)?.messages))
    throw badLine(file, index, "its request has no messages");
  if (line["type"] === "answer" && !Array.isArray(line["events"]))
    throw badLine(file, index, "its events are not a list");
  return value as RecordLine;
}

function badLine(file: string, index: number, why: string): OpenClawError {
  return new OpenClawError("replay.bad-file", `${file}:${index + 1} cannot be replayed: ${why}`, {
    hint: "give a file that OPENCLAW_RECORD wrote",
  });
}
