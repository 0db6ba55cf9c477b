// One model turn over the book: the first candidate that can be opened answers, the next one when it fails early.
import type { FailureKind, ModelBook, ModelFailure, ModelRef } from "../model/model.ts";
import type { ModelTurn, StreamModel, TurnEvent } from "./deps.ts";

export const NO_MODEL = "no model is set up";

const movesOn: ReadonlySet<FailureKind> = new Set([
  "auth",
  "billing",
  "rate-limit",
  "overloaded",
  "invalid",
  "network",
  "timeout",
  "garbled",
  "empty",
]);

export function createModelPort(book: ModelBook): StreamModel {
  return async function* streamModel(turn) {
    const { agentId, override } = turn;
    const candidates = await book.candidates({ agentId, override });
    let last: ModelFailure = { kind: "auth", message: NO_MODEL };
    for (const [index, ref] of candidates.entries()) {
      const failure: ModelFailure | undefined = yield* attempt(book, ref, turn);
      if (failure === undefined) return;
      last = failure;
      const next = candidates[index + 1];
      if (!movesOn.has(failure.kind) || next === undefined || turn.signal.aborted) break;
      yield { type: "notice", text: `${named(ref)} failed (${failure.message}); trying ${named(next)}` };
    }
    yield { type: "error", error: last };
  };
}

async function* attempt(
  book: ModelBook,
  ref: ModelRef,
  { agentId, request, signal }: ModelTurn,
): AsyncGenerator<TurnEvent, ModelFailure | undefined> {
  const model = await book.open(ref, agentId);
  if (model === undefined) return { kind: "auth", message: `No API key found for provider "${ref.provider}".` };
  yield { type: "model", ref, facts: model.facts };
  for await (const event of model.stream(request(ref, model.facts), signal)) {
    if (event.type === "error") {
      if (event.error.kind !== "aborted") await book.report(ref, agentId, event.error);
      return event.error;
    }
    yield event;
    if (event.type === "end") {
      await book.report(ref, agentId, "ok");
      return undefined;
    }
  }
  return { kind: "garbled", message: "the answer stopped without an end" };
}

function named({ provider, id }: ModelRef): string {
  return `${provider}/${id}`;
}
