// Gets an answer out of several models: waits and asks again, changes the credential, goes on to the next model.
import { setTimeout as pause } from "node:timers/promises";

import type { Model, ModelBook, ModelEvent, ModelFacts, ModelFailure, ModelRef, ModelRequest } from "./model.ts";

export interface FailoverTurn {
  readonly agentId: string;
  readonly override?: ModelRef | undefined;
  /** Made anew for each model tried: its tools and limits may differ. */
  request(ref: ModelRef, facts: ModelFacts): ModelRequest;
  readonly signal: AbortSignal;
}

export type FailoverEvent =
  | ModelEvent
  /** From here on this model answers; what came before from another one, or another try, does not count. */
  | { readonly type: "model"; readonly ref: ModelRef; readonly facts: ModelFacts }
  | { readonly type: "notice"; readonly text: string };

export interface FailoverDeps {
  readonly maxTries?: number;
  /** All waiting of one turn together. */
  readonly maxWaitMs?: number;
  readonly sleep?: (durationMs: number, signal: AbortSignal) => Promise<void>;
  /** 0 up to 1. */
  readonly random?: () => number;
}

const firstWaitMs = 500;
const longestWaitMs = 20_000;

/** Never throws; the last event is `end` or `error`. Once text or a call was given out, a failure is final. */
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
  // Everything rests: one honest try tells the person more than our own bookkeeping would.
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

/** "done": the last event is out. "none": no credential. Else why this model gave no answer. */
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
    // Only a resting credential or a server that moved can make this fail; then the open one is as good.
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

/** Nothing another try or another model could mend; a conversation that is too long is the caller's to shorten. */
function isFinal({ kind }: ModelFailure): boolean {
  return kind === "aborted" || kind === "context";
}

/** Servers differ in the levels they take; without thinking all of them answer. */
function refusesThinking({ kind, message }: ModelFailure, { thinking }: ModelRequest): boolean {
  const isRefused = kind === "invalid" || kind === "unsupported";
  return isRefused && thinking !== "off" && /reasoning|thinking|effort/i.test(message);
}

async function spare(book: ModelBook, ref: ModelRef, agentId: string): Promise<boolean> {
  return ((await book.ready?.(ref, agentId)) ?? 1) > 1;
}

/** As long as the server says, else twice as long each time, a little off so that many do not come back at once. */
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
