// Converts the parts of a vendor's stream into model events and collects what must be replayed later.
import type {
  LanguageModelV4FinishReason,
  LanguageModelV4StreamPart,
  LanguageModelV4Usage,
  SharedV4ProviderOptions,
} from "@ai-sdk/provider";

import type { Usage } from "../core/message.ts";
import type { ModelEvent, ModelFailure, StopReason } from "./model.ts";
import type { Replay, ReplayPart } from "./replay.ts";

export interface Reader {
  /** The events of this part; after `end` or `error` there are no more. */
  read(part: LanguageModelV4StreamPart): readonly ModelEvent[];
  /** The stream ended without a last part. */
  cut(): ModelEvent;
}

export interface ReaderContext {
  readonly dialect: string;
  readonly model: string;
  readonly provider: string;
  readonly fail: (error: unknown) => ModelFailure;
}

/** Larger arguments are an error; no tool accepts them. */
const maxArgumentChars = 16_000_000;

/** Calls are held back until the answer is complete: half an answer must never run a tool. */
export function createReader({ dialect, model, provider, fail }: ReaderContext): Reader {
  const parts: Draft[] = [];
  const calls: ToolCall[] = [];
  const starts: CallStart[] = [];
  const sizes = new Map<string, number>();
  const halves = new Map<string, string>();
  let hasText = false;

  const draft = (id: string, type: "text" | "thinking"): Draft => {
    const found = parts.findLast((entry) => entry.id === id && entry.type === type);
    if (found !== undefined) return found;
    const made: Draft = { id, type, text: "" };
    parts.push(made);
    return made;
  };
  const grow = (
    id: string,
    type: "text" | "thinking",
    delta: string,
    options: SharedV4ProviderOptions | undefined,
  ): ModelEvent[] => {
    const entry = draft(id, type);
    if (options !== undefined) entry.options = { ...entry.options, ...options };
    const whole = joinHalves(halves, `${type}:${id}`, delta);
    if (whole === "") return [];
    if (type === "thinking") entry.text += whole;
    else hasText = true;
    return [{ type, delta: whole }];
  };
  const begin = (vendorId: string, name: string): ModelEvent => {
    const id = uniqueId(vendorId, starts);
    starts.push({ vendorId, id, isDone: false });
    return { type: "tool-start", id, name };
  };
  const failed = (error: ModelFailure): ModelEvent[] => [{ type: "error", error }];
  const say = (kind: ModelFailure["kind"], text: string): ModelEvent[] =>
    failed({ kind, message: `${provider}: ${text}` });

  const finish = (reason: LanguageModelV4FinishReason, usage: LanguageModelV4Usage): readonly ModelEvent[] => {
    if (isBroken(reason)) return say("network", "the answer ended before it was complete");
    const stop = stopOf(reason, calls.length);
    if (!hasText && calls.length === 0 && stop !== "refusal")
      return say(
        "empty",
        stop === "length" ? "the answer was empty: all its tokens went into thinking" : "the answer was empty",
      );
    const tail = flushHalves(halves);
    const held = calls.map((call): ModelEvent => ({ type: "tool-call", ...call }));
    const replay = toReplay(parts, dialect, model);
    const end: ModelEvent = { type: "end", stop, usage: toUsage(usage), ...(replay === undefined ? {} : { replay }) };
    return [...tail, ...held, end];
  };

  return {
    read(part) {
      switch (part.type) {
        case "text-start":
        case "text-end":
          draft(part.id, "text");
          return grow(part.id, "text", "", part.providerMetadata);
        case "text-delta":
          return grow(part.id, "text", part.delta, part.providerMetadata);
        case "reasoning-start":
        case "reasoning-end":
          return grow(part.id, "thinking", "", part.providerMetadata);
        case "reasoning-delta":
          return grow(part.id, "thinking", part.delta, part.providerMetadata);
        case "tool-input-start":
          return [begin(part.id, part.toolName)];
        case "tool-input-delta": {
          const size = (sizes.get(part.id) ?? 0) + part.delta.length;
          sizes.set(part.id, size);
          return size > maxArgumentChars
            ? say("garbled", `a call came with more than ${maxArgumentChars / 1_000_000} MB of arguments`)
            : [];
        }
        case "tool-call": {
          if (part.providerExecuted === true) return [];
          if (part.input.length > maxArgumentChars)
            return say(
              "garbled",
              `a call of ${part.toolName} came with more than ${maxArgumentChars / 1_000_000} MB of arguments`,
            );
          const known = starts.find(({ vendorId, isDone }) => vendorId === part.toolCallId && !isDone);
          const news = known === undefined ? [begin(part.toolCallId, part.toolName)] : [];
          const start = known ?? starts.at(-1);
          if (start === undefined) return [];
          start.isDone = true;
          calls.push({ id: start.id, name: part.toolName, arguments: part.input });
          const options = part.providerMetadata;
          parts.push({ id: start.id, type: "call", text: "", ...(options === undefined ? {} : { options }) });
          return news;
        }
        case "finish":
          return finish(part.finishReason, part.usage);
        case "error":
          return failed(fail(part.error));
        default:
          return [];
      }
    },
    cut: () => ({
      type: "error",
      error: { kind: "network", message: `${provider}: the answer ended before it was complete` },
    }),
  };
}

interface ToolCall {
  readonly id: string;
  readonly name: string;
  readonly arguments: string;
}

/** Models repeat ids; ours are unique within an answer. */
interface CallStart {
  readonly vendorId: string;
  readonly id: string;
  isDone: boolean;
}

interface Draft {
  readonly id: string;
  readonly type: "text" | "thinking" | "call";
  text: string;
  options?: SharedV4ProviderOptions;
}

/** Emits a surrogate pair that arrived in two parts as one character. */
function joinHalves(halves: Map<string, string>, key: string, delta: string): string {
  const text = (halves.get(key) ?? "") + delta;
  const last = text.charCodeAt(text.length - 1);
  const isHalf = last >= 0xd800 && last <= 0xdbff;
  if (isHalf) halves.set(key, text.slice(-1));
  else halves.delete(key);
  return (isHalf ? text.slice(0, -1) : text).toWellFormed();
}

/** The rest of an incomplete surrogate pair. */
function flushHalves(halves: ReadonlyMap<string, string>): ModelEvent[] {
  return [...halves.keys()].map((key) => ({ type: key.startsWith("text:") ? "text" : "thinking", delta: "\u{fffd}" }));
}

function uniqueId(wanted: string, starts: readonly CallStart[]): string {
  const base = wanted === "" ? "call" : wanted;
  let id = base;
  for (let count = 2; starts.some((start) => start.id === id); count += 1) id = `${base}_${count}`;
  return id;
}

/** Some packages report "other" without a reason when the connection was lost. */
function isBroken({ unified, raw }: LanguageModelV4FinishReason): boolean {
  return unified === "error" || unified === "interrupted" || (unified === "other" && raw === undefined);
}

function stopOf({ unified }: LanguageModelV4FinishReason, callCount: number): StopReason {
  if (unified === "content-filter") return "refusal";
  if (callCount > 0 && unified !== "length") return "tool-calls";
  if (unified === "stop" || unified === "length") return unified;
  return unified === "tool-calls" ? "stop" : "other";
}

/** Undefined when a plain message carries the same information. */
function toReplay(parts: readonly Draft[], dialect: string, model: string): Replay | undefined {
  const hasMore = parts.some(({ type, options }) => type === "thinking" || options !== undefined);
  if (!hasMore) return undefined;
  return { dialect, model, parts: parts.map((part) => toReplayPart(part)) };
}

function toReplayPart({ id, type, text, options }: Draft): ReplayPart {
  const more = options === undefined ? {} : { options };
  if (type === "thinking") return { type, text, ...more };
  return type === "call" ? { type, id, ...more } : { type, ...more };
}

function toUsage({ inputTokens, outputTokens }: LanguageModelV4Usage): Usage {
  const [cacheRead, cacheWrite, output] = [
    inputTokens.cacheRead ?? 0,
    inputTokens.cacheWrite ?? 0,
    outputTokens.total ?? 0,
  ];
  const input = inputTokens.noCache ?? Math.max(0, (inputTokens.total ?? 0) - cacheRead - cacheWrite);
  return { input, output, cacheRead, cacheWrite, totalTokens: input + output + cacheRead + cacheWrite };
}
