// The loop: asks the model, runs its tool calls and returns the results, until it answers. Independent of vendors and tools.
import type { RunEventBody, RunFailure } from "../core/event.ts";
import type { AssistantMessage, Message, Usage, UserMessage } from "../core/message.ts";
import type { ModelRef } from "../model/model.ts";
import type { TurnEvent } from "./deps.ts";
import { MAX_MODEL_TURNS, MAX_OVERFLOW_REPAIRS, MAX_TOOL_CALLS, REPEAT_STOP } from "./limits.ts";
import { createRepeatWatch } from "./repeat.ts";
import type { ToolAnswer } from "./result.ts";
import { streamReply, type Reply } from "./stream.ts";
import { runCalls, type CallPorts, type ClientCall } from "./calls.ts";
import { addUsage, costParts } from "./usage.ts";

export interface LoopPorts extends CallPorts {
  /** One model turn over these messages; the last event is `end` or `error`. */
  model(messages: readonly Message[], signal: AbortSignal): AsyncIterable<TurnEvent>;
  /** Adds a message to the transcript, in order. */
  append(message: Message): void;
  /** Stores the appended messages in one step; the last ones are stored with the end of the run. */
  save(): Promise<void>;
  emit(body: RunEventBody): void;
  /** User messages to insert now; called between tool calls only. */
  steer(): readonly UserMessage[];
  /** Replaces messages that did not fit by shorter ones; undefined when that is not possible. */
  overflow(messages: readonly Message[], attempt: number): Promise<readonly Message[] | undefined>;
  /** Whether the caller's own limit leaves tokens for another answer. */
  hasCapacity?(): boolean;
  /** One tool call for each answer at most; further ones of the same answer are dropped. */
  readonly singleCall?: boolean;
  /** Reserves this request in the budgets, or returns why the run ends here. */
  reserve(messages: readonly Message[]): Promise<RunFailure | undefined>;
  now(): number;
}

export interface LoopEnd {
  readonly status: "ok" | "error" | "aborted";
  readonly text: string;
  readonly model?: ModelRef | undefined;
  readonly usage: Usage | undefined;
  /** Usage of the last request alone, which shows how full the context is. */
  readonly lastUsage: Usage | undefined;
  readonly toolCalls: number;
  readonly stop?: Reply["stop"];
  readonly clientCalls?: readonly ClientCall[];
  readonly failure?: RunFailure;
}

export async function runLoop(start: readonly Message[], ports: LoopPorts, signal: AbortSignal): Promise<LoopEnd> {
  let messages = [...start];
  let reply: Reply | undefined;
  let usage: Usage | undefined;
  let toolCalls = 0;
  let repairs = 0;
  const repeated = createRepeatWatch();

  const add = (message: Message): void => {
    messages.push(message);
    ports.append(message);
  };
  const end = (status: LoopEnd["status"], failure?: RunFailure, clientCalls?: readonly ClientCall[]): LoopEnd => {
    if (status === "aborted" && messages.at(-1)?.role !== "assistant") add(stopMark(reply?.ref, ports.now()));
    return {
      status,
      text: reply?.text ?? "",
      model: reply?.ref,
      usage,
      lastUsage: reply?.usage,
      toolCalls,
      ...(reply === undefined ? {} : { stop: reply.stop }),
      ...(failure === undefined ? {} : { failure }),
      ...(clientCalls === undefined ? {} : { clientCalls }),
    };
  };

  for (let turn = 1; ; turn++) {
    if (signal.aborted) return end("aborted");
    if (turn > MAX_MODEL_TURNS) return end("error", tooMany(`${MAX_MODEL_TURNS} model turns`));
    if (ports.hasCapacity?.() === false) return { ...end("ok"), stop: "length" };
    const spent = await ports.reserve(messages);
    if (spent !== undefined) return end("error", spent);

    reply = await streamReply(ports.model(messages, signal), (body) => ports.emit(body));
    if (ports.singleCall === true) reply = { ...reply, calls: reply.calls.slice(0, 1) };
    usage = addUsage(usage, reply.usage);
    if (reply.failure?.kind === "context" && repairs < MAX_OVERFLOW_REPAIRS) {
      const shorter = await ports.overflow(messages, ++repairs);
      if (shorter !== undefined) {
        messages = [...shorter];
        turn--;
        continue;
      }
    }
    if (reply.failure !== undefined) {
      if (reply.text !== "") add(messageOf({ ...reply, calls: [] }, ports.now()));
      if (signal.aborted || reply.failure.kind === "aborted") return end("aborted");
      return end("error", modelFailure(reply));
    }
    add(messageOf(reply, ports.now()));
    if (reply.calls.length === 0) return end("ok");

    // Calls are stored before they run.
    await ports.save();
    const { answers, steered, clientCalls, stop } = await runCalls(reply.calls, {
      ports,
      signal,
      repeated,
      left: MAX_TOOL_CALLS - toolCalls,
    });
    toolCalls += reply.calls.length;
    for (const [index, call] of reply.calls.entries()) add(resultOf(call, answers[index], ports.now()));
    // Steered messages are stored also when the run ends here.
    for (const message of steered) add(message);
    if (signal.aborted) return end("aborted");
    if (stop === "repeat") return end("error", repeating(reply));
    if (stop === "calls") return end("error", tooMany(`${MAX_TOOL_CALLS} tool calls`));
    if (clientCalls.length > 0) return end("ok", undefined, clientCalls);
    // The model does not wait for the disk: messages are stored before the next tool call or with the end of the run.
    ports.save().catch(() => {});
  }
}

function messageOf(reply: Reply, now: number): AssistantMessage {
  const { text, calls, ref, facts, usage, stop, failure, replay } = reply;
  return {
    role: "assistant",
    content: [
      ...(text === "" ? [] : [{ type: "text" as const, text }]),
      ...calls.map(({ id, name, args }) => ({
        type: "toolCall" as const,
        id,
        name,
        arguments: args.ok ? args.value : {},
      })),
    ],
    timestamp: now,
    ...(ref === undefined ? {} : { provider: ref.provider, model: ref.id }),
    ...(usage === undefined
      ? {}
      : { usage: facts === undefined ? usage : { ...usage, cost: costParts(usage, facts) } }),
    stopReason: failure === undefined ? stop : failure.kind === "aborted" ? "aborted" : "error",
    ...(failure === undefined ? {} : { errorMessage: failure.message }),
    ...(replay === undefined || failure !== undefined ? {} : { replay }),
  };
}

/** Separates the next message from one that the person no longer wants answered. */
function stopMark(ref: ModelRef | undefined, now: number): AssistantMessage {
  const content = [{ type: "text" as const, text: "[Stopped before an answer.]" }];
  const model = ref === undefined ? {} : { provider: ref.provider, model: ref.id };
  return { role: "assistant", content, timestamp: now, ...model, stopReason: "aborted" };
}

function resultOf(call: Reply["calls"][number], answer: ToolAnswer | undefined, now: number): Message {
  const { content, details, isError } = answer ?? { content: [], details: undefined, isError: true };
  return {
    role: "toolResult",
    toolCallId: call.id,
    toolName: call.name,
    content,
    ...(details === undefined ? {} : { details }),
    isError,
    timestamp: now,
  };
}

function modelFailure({ failure }: Reply): RunFailure {
  const { kind, message } = failure ?? { kind: "garbled", message: "" };
  return { code: `model.${kind}`, message: message === "" ? `the model failed (${kind})` : message };
}

function repeating({ calls }: Reply): RunFailure {
  return {
    code: "run.loop",
    message: `stopped: the model called ${calls.at(-1)?.name ?? "a tool"} ${REPEAT_STOP} times in a row with the same arguments`,
    hint: "rephrase the message, or name the result you expect",
  };
}

function tooMany(what: string): RunFailure {
  return {
    code: "run.too-long",
    message: `stopped after ${what} in one run`,
    hint: "send another message to continue",
  };
}
