// Every vendor's wire against the shared cases, and every vendor continuing a conversation of every other.
import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { startFakeAnthropic } from "../../../test/fakes/anthropic.ts";
import { startFakeGoogle } from "../../../test/fakes/google.ts";
import { startFakeOpenAI } from "../../../test/fakes/openai.ts";
import { call, say, think } from "../../../test/fakes/reply.ts";
import { systemClock } from "../../base/clock.ts";
import { createMask } from "../../base/mask.ts";
import type { Deadlines } from "../deadline.ts";
import type { ModelFacts } from "../model.ts";
import { ask, assistantFrom, resultsFor, textOf, user } from "../cases/ask.ts";
import type { WireSubject } from "../cases/subject.ts";
import { modelCases } from "../model.cases.ts";
import { openWire } from "../open-wire.ts";
import { createModel } from "../stream.ts";
import type { ModelApi } from "../../core/model-api.ts";

const facts: ModelFacts = {
  name: "test",
  contextWindow: 200_000,
  maxTokens: 64_000,
  reasoning: true,
  input: ["text", "image"],
  cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
};

const patient: Deadlines = { connectMs: 20_000, firstTokenMs: 20_000, stallMs: 20_000 };

const opens =
  (api: ModelApi, provider: string, id: string): WireSubject["open"] =>
  async (baseUrl, { secret = "test-key-0123456789", deadlines = patient } = {}) => {
    const credential = { kind: "key", value: secret } as const;
    const wire = await openWire(api, { provider, modelId: id, baseUrl, credential, headers: {} });
    return createModel({
      provider,
      id,
      profile: undefined,
      facts,
      wire,
      deadlines,
      clock: systemClock,
      mask: createMask([secret]),
    });
  };

const openAiOverflow = {
  error: {
    message: "This model's maximum context length is 8192 tokens.",
    type: "invalid_request_error",
    code: "context_length_exceeded",
  },
};

const choiceOf: WireSubject["choiceOf"] = (body) => body["tool_choice"];
const named = { type: "function", function: { name: "camera" } };

const subjects: readonly WireSubject[] = [
  {
    name: "openai responses",
    start: startFakeOpenAI,
    open: opens("openai-responses", "openai", "gpt-5.2"),
    overflow: [400, openAiOverflow],
    thinks: true,
    halfCallEnds: "tool-call",
    choiceOf,
    choices: ["auto", "none", "required", { type: "function", name: "camera" }],
  },
  {
    name: "openai chat completions",
    start: startFakeOpenAI,
    open: opens("openai-completions", "openai", "gpt-5.2"),
    overflow: [400, openAiOverflow],
    thinks: false,
    halfCallEnds: "tool-call",
    choiceOf,
    choices: ["auto", "none", "required", named],
  },
  {
    name: "openai-compatible",
    start: startFakeOpenAI,
    open: opens("openai-completions", "local", "some-model"),
    overflow: [
      400,
      {
        error: {
          message: "the request exceeds the available context size, try increasing it",
          type: "exceed_context_size_error",
        },
      },
    ],
    thinks: true,
    halfCallEnds: "tool-call",
    choiceOf,
    choices: ["auto", "none", "required", named],
  },
  {
    name: "anthropic",
    start: startFakeAnthropic,
    open: opens("anthropic-messages", "anthropic", "claude-sonnet-4-5"),
    overflow: [
      400,
      {
        type: "error",
        error: { type: "invalid_request_error", message: "prompt is too long: 210000 tokens > 200000 maximum" },
      },
    ],
    thinks: true,
    halfCallEnds: "tool-call",
    choiceOf,
    choices: [{ type: "auto" }, { type: "none" }, { type: "any" }, { type: "tool", name: "camera" }],
  },
  {
    name: "google",
    start: startFakeGoogle,
    open: opens("google-generative-ai", "google", "gemini-3-pro-preview"),
    overflow: [
      400,
      {
        error: {
          code: 400,
          status: "INVALID_ARGUMENT",
          message: "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
        },
      },
    ],
    thinks: true,
    halfCallEnds: "error",
    choiceOf: ({ toolConfig }) =>
      (toolConfig as { functionCallingConfig?: unknown } | undefined)?.functionCallingConfig,
    choices: [{ mode: "AUTO" }, { mode: "NONE" }, { mode: "ANY" }, { mode: "ANY", allowedFunctionNames: ["camera"] }],
  },
];

for (const subject of subjects) modelCases(subject);

describe("switching between vendors", () => {
  for (const first of subjects) {
    for (const second of subjects.filter(({ name }) => name !== first.name)) {
      it(`${second.name} continues after an open call of ${first.name}`, async () => {
        const reply = call("read", { path: "a" });
        const begun = await first.start([first.thinks ? think("Reading helps.", reply) : reply]);
        const model = await first.open(begun.url);
        const events = await ask(model, { thinking: "high", maxTokens: 30_000 });
        const next = await second.start([say("Taken over.")]);
        const messages = [user("hello"), assistantFrom(events, model), ...resultsFor(events, "content")];
        const answer = await ask(await second.open(next.url), { messages, thinking: "high", maxTokens: 30_000 });
        assert.equal(textOf(answer), "Taken over.");
        await Promise.all([begun.close(), next.close()]);
      });
    }
  }
});
