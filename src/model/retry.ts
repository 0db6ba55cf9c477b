// Gets an answer from a list of models: retries with delay, rotates credentials, falls back to the next model.
import { setTimeout as pause } from "node:timers/promises";

import type { Model, ModelBook, ModelEvent, ModelFacts, ModelFailure, ModelRef, ModelRequest } from "./model.ts";

export interface FailoverTurn {
  readonly agentId: string;
  readonly override?: ModelRef | undefined;
  /** Built for each model, because tools and limits may differ. */
  request(ref: ModelRef, facts: ModelFacts): ModelRequest;
  readonly signal: AbortSignal;
}

export type FailoverEvent =
  | ModelEvent
  /** This model answers from here; output of earlier attempts is discarded. */
  | { readonly type: "model"; readonly ref: ModelRef; readonly facts: ModelFacts }
  | { readonly type: "notice"; readonly text: string };

export interface FailoverDeps {
  readonly maxTries?: number;
  /** Maximum total delay of one turn. */
  readonly maxWaitMs?: number;
  readonly sleep?: (durationMs: number, signal: AbortSignal) => Promise<void>;
  /** Random number from 0 to 1. */
  readonly random?: () => number;
}

const firstWaitMs = 500;
const longestWaitMs = 20_000;

/** Never throws; the last event is `end` or `error`. After text or a call was emitted, a failure is final. */
export function createStreamModel(
  book: ModelBook,
  deps: FailoverDeps = {},
): (turn: FailoverTurn) => AsyncIterable<FailoverEvent> {
  return async function* streamModel(turn) {
    const candidates = await book.candidates({ agentId: turn.agentId, override: turn.override });
    yield* streamWithFailover(book, candidates, turn, deps);
  };
}

export async function* streamWithFailover(
  book: ModelBook,
  candidates: readonly ModelRef[],
  turn: FailoverTurn,
  { maxTries = 5, maxWaitMs = 60_000, sleep = wait, random = Math.random }: FailoverDeps = {},
): AsyncGenerator<FailoverEvent> {
  const purse: Purse = { leftMs: maxWaitMs, maxTries, sleep, random };
  let last: ModelFailure = { kind: "auth", message: "no model is set up" };
  let hasOpened = false;
  for (const [index, ref] of candidates.entries()) {
    const outcome = yield* tryModel(book, ref, turn, purse, false);
    if (outcome === "done") return;
    hasOpened ||= outcome !== "none";
    last = outcome === "none" ? noCredential(ref) : outcome;
    if (outcome !== "none" && isFinal(outcome)) return yield { type: "error", error: outcome };
    const next = candidates[index + 1];
    if (next !== undefined) yield { type: "notice", text: `${named(ref)}: ${last.message}; trying ${named(next)}` };
  }
  // All credentials cool down: one attempt gives the person the real error.
  const [first] = candidates;
  if (!hasOpened && first !== undefined) {
    const outcome = yield* tryModel(book, first, turn, { ...purse, maxTries: 1 }, true);
    if (outcome === "done") return;
    if (outcome !== "none") last = outcome;
  }
  yield { type: "error", error: last };
}

interface Purse {
  leftMs: number;
  readonly maxTries: number;
  readonly sleep: (durationMs: number, signal: AbortSignal) => Promise<void>;
  readonly random: () => number;
}

/** "done": the last event was emitted. "none": no credential. Otherwise why this model gave no answer. */
async function* tryModel(
  book: ModelBook,
  ref: ModelRef,
  turn: FailoverTurn,
  purse: Purse,
  resting: boolean,
): AsyncGenerator<FailoverEvent, "done" | "none" | ModelFailure> {
  const { agentId, signal } = turn;
  let model = await book.open(ref, agentId, { resting });
  if (model === undefined) return "none";
  let asked = turn;
  for (let count = 1; ; count += 1) {
    yield { type: "model", ref, facts: model.facts };
    const outcome: "done" | ModelFailure = yield* once(book, model, ref, asked);
    if (outcome === "done" || signal.aborted || isFinal(outcome)) return outcome;
    if (asked === turn && refusesThinking(outcome, turn.request(ref, model.facts))) {
      yield { type: "notice", text: `${outcome.message}; asking again without thinking` };
      asked = { ...turn, request: (to, facts) => ({ ...turn.request(to, facts), thinking: "off" }) };
      continue;
    }
    if (outcome.kind === "unsupported") return outcome;
    const isLast = count >= purse.maxTries;
    const rotates: boolean =
      outcome.kind === "auth" ||
      outcome.kind === "billing" ||
      (outcome.kind === "rate-limit" && (await spare(book, ref, agentId)));
    if (rotates || isLast || outcome.kind === "invalid") {
      await book.report(ref, agentId, outcome, model.profile);
      const other: Model | undefined = rotates && !isLast && !resting ? await book.open(ref, agentId) : undefined;
      if (other === undefined) return outcome;
      model = other;
      yield { type: "notice", text: `${outcome.message}; trying another credential` };
      continue;
    }
    const waitMs = waitFor(outcome, count, purse);
    if (waitMs === undefined) {
      await book.report(ref, agentId, outcome, model.profile);
      return outcome;
    }
    yield { type: "notice", text: `${outcome.message}; asking again in ${Math.ceil(waitMs / 1000)} s` };
    purse.leftMs -= waitMs;
    await purse.sleep(waitMs, signal);
    if (signal.aborted) return { kind: "aborted", message: "stopped" };
    // This fails only when all credentials cool down or the server moved; then the open one is used.
    model = (await book.open(ref, agentId, { resting: true })) ?? model;
  }
}

async function* once(
  book: ModelBook,
  model: Model,
  ref: ModelRef,
  turn: FailoverTurn,
): AsyncGenerator<FailoverEvent, "done" | ModelFailure> {
  const { agentId, signal } = turn;
  let hasSpoken = false;
  for await (const event of model.stream(turn.request(ref, model.facts), signal)) {
    if (event.type === "error") {
      if (!hasSpoken || event.error.kind === "aborted") return event.error;
      await book.report(ref, agentId, event.error, model.profile);
      yield event;
      return "done";
    }
    if (event.type === "end") await book.report(ref, agentId, "ok", model.profile);
    hasSpoken ||= event.type !== "thinking";
    yield event;
    if (event.type === "end") return "done";
  }
  return { kind: "garbled", message: `${named(ref)}: the answer stopped without an end` };
}

/** Neither a retry nor another model helps; the caller shortens a conversation that is too long. */
function isFinal({ kind }: ModelFailure): boolean {
  return kind === "aborted" || kind === "context";
}

/** Servers differ in the thinking levels they accept; all of them accept none. */
function refusesThinking({ kind, message }: ModelFailure, { thinking }: ModelRequest): boolean {
  const isRefused = kind === "invalid" || kind === "unsupported";
  return isRefused && thinking !== "off" && /reasoning|thinking|effort/i.test(message);
}

async function spare(book: ModelBook, ref: ModelRef, agentId: string): Promise<boolean> {
  return ((await book.ready?.(ref, agentId)) ?? 1) > 1;
}

/** The delay the server asks for, otherwise exponential backoff with jitter. */
function waitFor({ retryAfterMs }: ModelFailure, count: number, { leftMs, random }: Purse): number | undefined {
  const usual = Math.min(longestWaitMs, firstWaitMs * 2 ** (count - 1)) * (0.9 + 0.2 * random());
  const waitMs = Math.round(retryAfterMs ?? usual);
  return waitMs > leftMs ? undefined : waitMs;
}

async function wait(durationMs: number, signal: AbortSignal): Promise<void> {
  try {
    await pause(durationMs, undefined, { signal });
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

function noCredential({ provider }: ModelRef): ModelFailure {
  return { kind: "auth", message: `No API key found for provider "${provider}".` };
}

function named({ provider, id }: ModelRef): string {
  return `${provider}/${id}`;
}
