// Runs one model call from request to last event: deadlines, abort, translation both ways. Never throws.
import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4StreamPart,
  SharedV4Warning,
} from "@ai-sdk/provider";

import type { Clock } from "../base/clock.ts";
import { startWatchdog, type Deadlines, type Missed, type Watchdog } from "./deadline.ts";
import { createReader } from "./events.ts";
import { toFailure } from "./failure.ts";
import { sharedFetch, watchRequest } from "./fetch.ts";
import type { AnswerSettings, Model, ModelEvent, ModelFacts, ModelFailure, ModelRequest } from "./model.ts";
import { canThink, toPrompt, toTools, type Target } from "./translate.ts";
import type { Wire } from "./wire.ts";

export interface ModelParts {
  readonly provider: string;
  readonly id: string;
  readonly profile: string | undefined;
  readonly facts: ModelFacts;
  readonly wire: Wire;
  readonly deadlines: Deadlines;
  readonly clock: Clock;
  readonly mask: (text: string) => string;
  /** From `agents.defaults.models.*.params`: settings of the request such as temperature. */
  readonly params?: Readonly<Record<string, unknown>>;
}

export function createModel(parts: ModelParts): Model {
  const { provider, id, facts, profile } = parts;
  return {
    provider,
    id,
    facts,
    ...(profile === undefined ? {} : { profile }),
    stream: (request, signal) => streamOnce(parts, request, signal),
  };
}

async function* streamOnce(parts: ModelParts, request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelEvent> {
  const { provider, id, wire, clock, mask } = parts;
  const deadlines = limitsFor(parts);
  const fail = (error: unknown): ModelFailure => toFailure(error, { provider, mask, now: clock.now() });
  const dog = startWatchdog(deadlines, signal);
  const stopped = (error: unknown): ModelEvent => ({
    type: "error",
    error: stopReason(dog, deadlines, signal, provider) ?? fail(error),
  });
  const reader = createReader({ dialect: wire.dialect.name, model: id, provider, fail });
  let isWhole = false;
  try {
    for await (const part of partsOf(parts, request, dog)) {
      feed(dog, part);
      const missing = part.type === "stream-start" ? missingSetting(part.warnings, request.settings) : undefined;
      if (missing !== undefined) {
        const message = `${provider}/${id} does not support ${missing}`;
        return yield { type: "error", error: { kind: "unsupported", message } };
      }
      for (const event of reader.read(part)) {
        if (signal.aborted || dog.missed() !== undefined) return yield stopped(undefined);
        isWhole = event.type === "end";
        yield event;
        if (event.type === "end" || event.type === "error") return;
      }
    }
    yield stopReason(dog, deadlines, signal, provider) === undefined ? reader.cut() : stopped(undefined);
  } catch (error) {
    yield stopped(error);
  } finally {
    dog.close(!isWhole);
  }
}

function limitsFor({ deadlines, wire }: ModelParts): Deadlines {
  if (wire.dialect.wholeCalls !== true) return deadlines;
  return { ...deadlines, stallMs: Math.max(deadlines.stallMs, deadlines.firstTokenMs) };
}

/** Ends with the abort signal even if the vendor's package does not. */
async function* partsOf(
  parts: ModelParts,
  request: ModelRequest,
  dog: Watchdog,
): AsyncGenerator<LanguageModelV4StreamPart> {
  watchRequest(dog.signal, dog);
  const model = modelOf(parts.wire);
  const gaveUp = rejection(dog.signal);
  const started = Promise.resolve(model.doStream(callOptions(parts, request, dog.signal)));
  started.catch(() => undefined); // The race below reports it; this one is for a start that loses the race.
  const { stream } = await Promise.race([started, gaveUp]);
  const reader = stream.getReader();
  try {
    for (;;) {
      const { done, value } = await Promise.race([reader.read(), gaveUp]);
      if (done) return;
      yield value;
    }
  } finally {
    reader.cancel().catch(() => undefined); // The socket is closed by the signal; a stream that had failed has nothing to cancel.
  }
}

/** Created once per wire: the vendor's package builds its schemas for each model, which costs more than a request. */
function modelOf(wire: Wire): LanguageModelV4 {
  const known = models.get(wire);
  if (known !== undefined) return known;
  const model = wire.open(sharedFetch);
  models.set(wire, model);
  return model;
}

const models = new WeakMap<Wire, LanguageModelV4>();

function callOptions(
  { wire, id, facts, params }: ModelParts,
  request: ModelRequest,
  abortSignal: AbortSignal,
): LanguageModelV4CallOptions {
  const target: Target = { dialect: wire.dialect, modelId: id, facts };
  const mayThink = canThink(request.messages, target) && !(wire.dialect.thinkingIsFree === true && isBound(request));
  const asked = mayThink ? request : { ...request, thinking: "off" as const };
  const tools = toTools(request.tools);
  const { temperature, topP } = params ?? {};
  return {
    prompt: toPrompt(request, target),
    maxOutputTokens: Math.max(1, Math.min(request.maxTokens, facts.maxTokens)),
    ...(typeof temperature === "number" ? { temperature } : {}),
    ...(typeof topP === "number" ? { topP } : {}),
    ...samplingOf(request.settings ?? {}),
    ...(tools.length === 0 ? {} : { tools, toolChoice: choiceOf(request.settings) }),
    abortSignal,
    ...wire.options(asked, facts),
  };
}

/** Whether the caller set an option that excludes reasoning. */
function isBound({ settings = {} }: ModelRequest): boolean {
  const { toolChoice = "auto", maxOutputTokens, temperature, topP } = settings;
  const forcesCall = toolChoice !== "auto" && toolChoice !== "none";
  return forcesCall || [maxOutputTokens, temperature, topP].some((setting) => setting !== undefined);
}

function choiceOf({ toolChoice = "auto" }: AnswerSettings = {}): NonNullable<LanguageModelV4CallOptions["toolChoice"]> {
  return typeof toolChoice === "string" ? { type: toolChoice } : { type: "tool", toolName: toolChoice.tool };
}

function samplingOf(settings: AnswerSettings): Partial<LanguageModelV4CallOptions> {
  const { temperature, topP, seed, presencePenalty, frequencyPenalty, stopSequences, json } = settings;
  const numbers = { temperature, topP, seed, presencePenalty, frequencyPenalty };
  return {
    ...Object.fromEntries(Object.entries(numbers).filter(([, value]) => value !== undefined)),
    ...(stopSequences === undefined ? {} : { stopSequences: [...stopSequences] }),
    ...(json === undefined ? {} : { responseFormat: { type: "json", ...json } as ResponseFormat }),
  };
}

type ResponseFormat = NonNullable<LanguageModelV4CallOptions["responseFormat"]>;

/** The packages drop unsupported settings with a warning; a requested setting must not be lost silently. */
function missingSetting(warnings: readonly SharedV4Warning[], settings: AnswerSettings = {}): string | undefined {
  const asked = new Set([...Object.keys(settings), ...(settings.json === undefined ? [] : ["responseFormat"])]);
  // A setting with its default value is not lost.
  if (settings.temperature === 1) asked.delete("temperature");
  if (settings.topP === 1) asked.delete("topP");
  const lost = warnings.find((warning) => warning.type === "unsupported" && asked.has(warning.feature));
  if (lost?.type !== "unsupported") return undefined;
  const name = publicNames[lost.feature] ?? lost.feature;
  return lost.details === undefined ? name : `${name} (${lost.details})`;
}

/** The parameter names of the HTTP endpoints. */
const publicNames: Readonly<Record<string, string | undefined>> = {
  topP: "top_p",
  stopSequences: "stop",
  presencePenalty: "presence_penalty",
  frequencyPenalty: "frequency_penalty",
  responseFormat: "response_format",
  toolChoice: "tool_choice",
};

function feed(dog: Watchdog, { type }: LanguageModelV4StreamPart): void {
  if (type === "stream-start" || type === "response-metadata" || type === "raw") return;
  if (type === "ping") dog.alive();
  else dog.token();
}

function stopReason(dog: Watchdog, limits: Deadlines, signal: AbortSignal, provider: string): ModelFailure | undefined {
  if (signal.aborted) return { kind: "aborted", message: "stopped" };
  const missed = dog.missed();
  return missed === undefined ? undefined : { kind: "timeout", message: `${provider}: ${missedText(missed, limits)}` };
}

function missedText(missed: Missed, { connectMs, firstTokenMs, stallMs }: Deadlines): string {
  if (missed === "connect") return `no connection within ${connectMs / 1000} s`;
  if (missed === "first-token") return `no response within ${firstTokenMs / 1000} s`;
  return `the answer stopped: no data for ${stallMs / 1000} s`;
}

function rejection(signal: AbortSignal): Promise<never> {
  const { promise, reject } = Promise.withResolvers<never>();
  promise.catch(() => undefined); // It may reject after the race is over.
  if (signal.aborted) reject(signal.reason);
  else signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  return promise;
}
