// One model turn read to its end: text, calls, usage, or the failure it ended in.
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

/** A person hears that we wait, long before a deadline ends the waiting. */
const QUIET_MS = 8000;

/** Never throws: a stream that breaks its promise counts as garbled. */
export async function streamReply(
  events: AsyncIterable<TurnEvent>,
  emit: (body: RunEventBody) => void,
  quietMs = QUIET_MS,
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
  const quiet = setTimeout(() => {
    const who = using.ref === undefined ? "the model" : `${using.ref.provider}/${using.ref.id}`;
    emit({ stream: "notice", text: `still waiting for ${who}` });
  }, quietMs);
  try {
    for await (const event of events) {
      quiet.refresh();
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
    clearTimeout(quiet);
  }
}

/** Ids must be there and differ within a turn, or results cannot be matched. */
function freshId(id: string, calls: readonly ModelCall[]): string {
  const taken = (word: string): boolean => word === "" || calls.some((call) => call.id === word);
  if (!taken(id)) return id;
  for (let count = calls.length; ; count++) if (!taken(`${id || "call"}_${count}`)) return `${id || "call"}_${count}`;
}

/** A name no vendor would take back must not get into the history, or every later request would be refused. */
function sendableName(name: string): string {
  const clean = name.replaceAll(/[^A-Za-z0-9_-]/g, "_").slice(0, 64);
  return clean === "" ? "unknown" : clean;
}
