// A posted turn until its end, with exactly one outcome.
import type { RunEvent, RunEventBody, RunFailure, RunOutcome } from "../core/event.ts";
import { factsOfSource } from "../core/turn-source.ts";
import type { Clock } from "../base/clock.ts";
import type { Waiting } from "../session/queue.ts";
import type { TurnRequest } from "../session/turns.ts";
import type { Directed } from "./direct.ts";
import type { RunBody } from "./recover.ts";

export interface PendingTurn extends Waiting {
  readonly turn: TurnRequest;
  readonly acceptedAt: number;
  readonly control: AbortController;
  /** It has had no effect before `directing` (commands are applied) and while it waits for a slot. */
  stage: "waiting" | "directing" | "waiting-for-slot" | "running" | "ended";
  /** Its text is in the transcript, or is stored with the run. */
  isInTranscript: boolean;
  /** Commands and directives were already applied outside the queue. */
  directed?: Directed;
  /** Turns whose messages this run answers too. */
  readonly merged: PendingTurn[];
  /** Run ids of messages that it read on the way and that still get their own turn. */
  readonly overheard: string[];
  /** Whether a system event that it began with was untrusted. */
  untrusted: boolean;
  readonly ended: Promise<RunOutcome>;
  /** Present when its end was reported before it was stored; resolves when it is. */
  written?: Promise<void>;
  readonly end: (outcome: RunOutcome) => void;
  readonly emit: (body: RunEventBody) => void;
}

export function createPendingTurn(
  turn: TurnRequest,
  acceptedAt: number,
  clock: Clock,
  publish: (event: RunEvent) => void,
): PendingTurn {
  const { promise, resolve } = Promise.withResolvers<RunOutcome>();
  let seq = 0;
  return {
    turn,
    text: turn.text,
    needsOwnTurn: needsOwnTurn(turn),
    acceptedAt,
    control: new AbortController(),
    stage: "waiting",
    isInTranscript: false,
    merged: [],
    overheard: [],
    untrusted: false,
    ended: promise,
    end: resolve,
    emit: (body) => publish({ runId: turn.runId, sessionKey: turn.sessionKey, seq: ++seq, ts: clock.now(), body }),
  };
}

/** The data stored with its run. */
export function runBodyOf({ turn, merged, overheard, untrusted }: PendingTurn, sessionId: string): RunBody {
  return {
    sessionId,
    merged: merged.map((other) => other.turn.runId),
    ...(overheard.length === 0 ? {} : { overheard: [...overheard] }),
    ...(untrusted ? { untrusted } : {}),
    source: turn.source,
  };
}

function needsOwnTurn(turn: TurnRequest): boolean {
  const { source, text, thinking, model, extraSystem, history, clientTools, settings, timeoutMs, media } = turn;
  if (!factsOfSource(source).canMerge || /^\s*(?:[/!]|(?:stop|abort)\s*$)/i.test(text)) return true;
  return [thinking, model, extraSystem, history, clientTools, settings, timeoutMs, media].some(
    (setting) => setting !== undefined,
  );
}

/** Why a run was stopped; the abort reason of its signal. */
export class Stop extends Error {
  readonly status: "aborted" | "error";
  readonly failure: RunFailure;

  constructor(status: Stop["status"], failure: RunFailure) {
    super(failure.message);
    this.status = status;
    this.failure = failure;
  }
}

/** The gateway stops before this turn has begun: it has no outcome and runs at the next start. */
export class LeftForNextStart extends Error {}

export const stopped = (reason: string): Stop =>
  new Stop("aborted", { code: "run.aborted", message: `stopped (${reason})` });
