// Reads one answer of a model to its end: text, calls, usage, or the failure.
import type { RunEventBody } from "../core/event.ts";
import type { Usage } from "../core/message.ts";
import type { ModelFacts, ModelFailure, ModelRef, StopReason } from "../model/model.ts";
import { parseArguments, type ParsedArguments } from "./arguments.ts";
import type { TurnEvent } from "./deps.ts";
import { createReplyText } from "./reply.ts";

export interface Reply {
  readonly text: string;
  readonly calls: readonly ModelCall[];
  readonly ref: ModelRef | undefined;
  readonly facts: ModelFacts | undefined;
  readonly usage: Usage | undefined;
  readonly stop: StopReason;
  readonly replay: unknown;
  readonly failure: ModelFailure | undefined;
}

export interface ModelCall {
  readonly id: string;
  readonly name: string;
  readonly args: ParsedArguments;
}

/** Silence of the model after which the person gets a notice; deadlines are much longer. */
const NOTICE_AFTER_MS = 8000;

/** Never throws: a stream that ends without `end` or `error` counts as garbled. */
export async function streamReply(
  events: AsyncIterable<TurnEvent>,
  emit: (body: RunEventBody) => void,
  noticeAfterMs = NOTICE_AFTER_MS,
): Promise<Reply> {
  let words = createReplyText();
  let shown = "";
  let thought = "";
  let calls: ModelCall[] = [];
  let using: Pick<Reply, "ref" | "facts"> = { ref: undefined, facts: undefined };
  const show = (delta: string): void => {
    if (delta === "") return;
    shown += delta;
    emit({ stream: "assistant", text: shown, delta });
  };
  const done = (ending: Partial<Reply>): Reply => {
    show(words.end());
    return {
      text: words.text,
      calls,
      ...using,
      usage: undefined,
      stop: "other",
      replay: undefined,
      failure: undefined,
      ...ending,
    };
  };
  const notice = setTimeout(() => {
    const who = using.ref === undefined ? "the model" : `${using.ref.provider}/${using.ref.id}`;
    emit({ stream: "notice", text: `still waiting for ${who}` });
  }, noticeAfterMs);
  try {
    for await (const event of events) {
      notice.refresh();
      if (event.type === "text") show(words.push(event.delta));
      else if (event.type === "thinking") {
        thought += event.delta;
        emit({ stream: "thinking", text: thought, delta: event.delta });
      } else if (event.type === "tool-call")
        calls.push({
          id: freshId(event.id, calls),
          name: sendableName(event.name),
          args: parseArguments(event.arguments),
        });
      else if (event.type === "model") {
        // Another model starts over: a partial answer of the earlier one must not be joined to its answer.
        [words, shown, thought, calls] = [createReplyText(), "", "", []];
        using = { ref: event.ref, facts: event.facts };
      } else if (event.type === "notice") emit({ stream: "notice", text: event.text });
      else if (event.type === "end") return done({ usage: event.usage, stop: event.stop, replay: event.replay });
      else if (event.type === "error") return done({ failure: event.error });
    }
    return done({ failure: { kind: "garbled", message: "the model's answer stopped without an end" } });
  } catch (error) {
    return done({ failure: { kind: "garbled", message: error instanceof Error ? error.message : String(error) } });
  } finally {
    clearTimeout(notice);
  }
}

/** Ids must be present and unique within a turn, or results cannot be matched. */
function freshId(id: string, calls: readonly ModelCall[]): string {
  const isTaken = (candidate: string): boolean => candidate === "" || calls.some((call) => call.id === candidate);
  if (!isTaken(id)) return id;
  for (let count = calls.length; ; count++) {
    const candidate = `${id || "call"}_${count}`;
    if (!isTaken(candidate)) return candidate;
  }
}

/** A name that vendors reject must not be stored, or every later request would fail. */
function sendableName(name: string): string {
  const clean = name.replaceAll(/[^A-Za-z0-9_-]/g, "_").slice(0, 64);
  return clean === "" ? "unknown" : clean;
}
