// Writes the model and tool traffic of each session to a file.
import { appendFileSync, mkdirSync } from "node:fs";
import { join } from "node:path";

import { OpenClawError } from "../core/error.ts";
import { systemClock } from "../base/clock.ts";
import type { Mask } from "../base/mask.ts";
import type { ModelRequest } from "../model/model.ts";
import type { CallTool } from "../tool/call.ts";
import type { Agents } from "./agent.ts";
import type { ModelTurn, StreamModel, TurnEvent } from "./deps.ts";
import { RECORDING_VERSION, type RecordedError, type RecordLine } from "./recording.ts";

export interface RecordingSink {
  /** Counts within the session, from 1. */
  next(session: string, what: "turn" | "call"): number;
  /** The run that a signal belongs to: the loop passes the same signal to the model and to the tools. */
  runOf(signal: AbortSignal | undefined, known?: string): string;
  write(session: string, line: RecordLine): void;
  /** Whether this session has a recording. */
  knows(session: string): boolean;
}

/** One file per session, readable by the owner only. A failing disk is logged once and never stops a run. */
export function openRecording(
  folder: string,
  mask: Mask,
  onProblem: (error: unknown) => void = () => {},
): RecordingSink {
  const startedAt = systemClock.now();
  const begun = new Set<string>();
  const counts = new Map<string, number>();
  const runs = new WeakMap<AbortSignal, string>();
  let runCount = 0;
  let failed = false;

  const put = (session: string, line: RecordLine): void => {
    if (failed) return;
    const name = `${session.replaceAll(/[^a-zA-Z0-9._-]+/g, "_").slice(0, 120)}-${startedAt}.jsonl`;
    try {
      if (begun.size === 0) mkdirSync(folder, { recursive: true, mode: 0o700 });
      appendFileSync(join(folder, name), `${JSON.stringify(maskedValue(line, mask))}\n`, { mode: 0o600 });
    } catch (error) {
      failed = true;
      onProblem(error);
    }
  };

  return {
    next(session, what) {
      const key = `${what} ${session}`;
      const count = (counts.get(key) ?? 0) + 1;
      counts.set(key, count);
      return count;
    },
    runOf(signal, known) {
      const run = known ?? (signal === undefined ? undefined : runs.get(signal)) ?? `run ${++runCount}`;
      if (signal !== undefined) runs.set(signal, run);
      return run;
    },
    write(session, line) {
      if (!begun.has(session)) {
        put(session, { type: "recording", version: RECORDING_VERSION, session, at: systemClock.now() });
        begun.add(session);
      }
      put(session, line);
    },
    knows: (session) => begun.has(session),
  };
}

/** Forwards every event unchanged. */
export function recordingModel(stream: StreamModel, sink: RecordingSink): StreamModel {
  return async function* recorded(turn) {
    const run = sink.runOf(turn.signal, turn.runId);
    const open: { session: string | undefined; turn: number } = { session: turn.sessionKey, turn: 0 };
    const begin = (request: ModelRequest): string => {
      open.session ??= request.cacheKey;
      if (open.turn === 0) open.turn = sink.next(open.session, "turn");
      return open.session;
    };
    const watched: ModelTurn = {
      ...turn,
      request(ref, facts) {
        const request = turn.request(ref, facts);
        const session = begin(request);
        sink.write(session, { type: "request", turn: open.turn, run, ref, facts, request });
        return request;
      },
    };
    const events: TurnEvent[] = [];
    try {
      for await (const event of stream(watched)) {
        gather(events, event);
        yield event;
      }
    } finally {
      // Without a request there was no model, and so there is nothing to compare.
      if (open.session !== undefined && open.turn > 0)
        sink.write(open.session, { type: "answer", turn: open.turn, run, events });
    }
  };
}

/** Streamed text is recorded as one piece. */
function gather(events: TurnEvent[], event: TurnEvent): void {
  const last = events.at(-1);
  const grows =
    (event.type === "text" && last?.type === "text") || (event.type === "thinking" && last?.type === "thinking");
  if (grows) events[events.length - 1] = { type: event.type, delta: last.delta + event.delta };
  else events.push(event);
}

export function recordingCall(callTool: CallTool, sink: RecordingSink): CallTool {
  return async function recorded(request) {
    const { tool, args, caller, subject, signal } = request;
    const session = subject.session;
    const call = sink.next(session, "call");
    sink.write(session, { type: "call", call, run: sink.runOf(signal), caller, tool, args });
    try {
      const result = await callTool(request);
      sink.write(session, { type: "result", call, result });
      return result;
    } catch (error) {
      const aborted = signal?.aborted === true ? { aborted: true } : {};
      sink.write(session, { type: "result", call, error: factsOf(error), ...aborted });
      throw error;
    }
  };
}

/** Records ends of runs in sessions that have a recording. Returns a function that stops it. */
export function recordEnds(agents: Pick<Agents, "watch">, sink: RecordingSink): () => void {
  return agents.watch(({ runId, sessionKey, body }) => {
    if (body.stream !== "lifecycle" || body.phase !== "end" || !sink.knows(sessionKey)) return;
    const { status, failure } = body.outcome;
    sink.write(sessionKey, {
      type: "end",
      run: runId,
      status,
      ...(failure === undefined ? {} : { code: failure.code }),
    });
  });
}

function factsOf(error: unknown): RecordedError {
  if (!(error instanceof OpenClawError))
    return { code: "tool.bug", message: error instanceof Error ? error.message : String(error) };
  const { code, message, hint } = error;
  return { code, message, ...(hint === undefined ? {} : { hint }) };
}

/** Masks each text; masking the line as a whole could break its JSON. */
function maskedValue(value: unknown, mask: Mask): unknown {
  return JSON.parse(
    JSON.stringify(value, (_key, inner: unknown) => (typeof inner === "string" ? mask(inner) : inner)),
  ) as unknown;
}
