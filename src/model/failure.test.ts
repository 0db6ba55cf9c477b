// Messages of vendors and local servers, and their classification.
import assert from "node:assert/strict";
import { test } from "node:test";

import { createMask } from "../base/mask.ts";
import { toFailure } from "./failure.ts";
import type { FailureKind } from "./model.ts";

const now = Date.UTC(2026, 0, 1);
const secret = "sk-test-abcdefghijklmnop";
const name = (error: unknown) => toFailure(error, { provider: "acme", mask: createMask([secret]), now });
const http = (statusCode: number, body: unknown, responseHeaders: Record<string, string> = {}): Error =>
  Object.assign(new Error("api call failed"), {
    name: "AI_APICallError",
    statusCode,
    responseHeaders,
    responseBody: typeof body === "string" ? body : JSON.stringify(body),
  });

const tooLong: readonly string[] = [
  "This model's maximum context length is 128000 tokens. However, your messages resulted in 130000 tokens.",
  "Your input exceeds the context window of this model.",
  "prompt is too long: 213462 tokens > 200000 maximum",
  "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000",
  "The input token count (1250000) exceeds the maximum number of tokens allowed (1048576).",
  "the request exceeds the available context size. try increasing the context size or enable context shift",
  "The number of tokens to keep from the initial prompt is greater than the context length",
  "Please reduce the length of the messages or completion.",
  "This model's maximum prompt length is 131072 but the request contains 537812 tokens.",
  "invalid params, context window exceeds limit",
];

test("classifies every vendor's message for a request that is too long as context", () => {
  const kinds = tooLong.map((message) => name(http(400, { error: { message } })).kind);
  assert.deepEqual(
    kinds,
    tooLong.map(() => "context"),
  );
});

test("classifies statuses and bodies", () => {
  const cases: readonly (readonly [FailureKind, unknown])[] = [
    ["auth", http(401, { error: { message: "Incorrect API key provided" } })],
    [
      "auth",
      http(400, {
        error: { code: 400, message: "API key not valid. Please pass a valid API key.", status: "INVALID_ARGUMENT" },
      }),
    ],
    ["billing", http(429, { error: { message: "You exceeded your current quota", code: "insufficient_quota" } })],
    ["billing", http(400, { error: { message: "Your credit balance is too low to access the API" } })],
    [
      "rate-limit",
      http(429, {
        error: {
          code: 429,
          status: "RESOURCE_EXHAUSTED",
          message: "You exceeded your current quota, please check your plan and billing details",
        },
      }),
    ],
    ["overloaded", http(529, { error: { type: "overloaded_error", message: "Overloaded" } })],
    ["overloaded", { type: "overloaded_error", message: "Overloaded" }],
    ["invalid", http(400, { error: { message: "Invalid schema for function 'x'" } })],
    ["context", http(413, "too large")],
    ["network", Object.assign(new Error("connect ECONNREFUSED 127.0.0.1:1"), { code: "ECONNREFUSED" })],
    [
      "network",
      new Error("outer", {
        cause: Object.assign(new Error("self-signed certificate"), { code: "DEPTH_ZERO_SELF_SIGNED_CERT" }),
      }),
    ],
    ["garbled", Object.assign(new Error("JSON parsing failed"), { name: "AI_JSONParseError" })],
    ["garbled", undefined],
    ["garbled", "strange"],
  ];
  assert.deepEqual(
    cases.map(([, error]) => name(error).kind),
    cases.map(([kind]) => kind),
  );
});

test("reads Retry-After in seconds, as a date, in milliseconds, and in Google's format", () => {
  const body = { error: { message: "slow down" } };
  const waits = [
    http(429, body, { "retry-after": "12" }),
    http(429, body, { "retry-after": new Date(now + 30_000).toUTCString() }),
    http(429, body, { "retry-after": new Date(now - 30_000).toUTCString() }),
    http(429, body, { "retry-after-ms": "250" }),
    http(429, { error: { status: "RESOURCE_EXHAUSTED", details: [{ retryDelay: "34.5s" }] } }),
    http(429, body, { "retry-after": "soon" }),
  ].map((error) => name(error).retryAfterMs);
  assert.deepEqual(waits, [12_000, 30_000, 0, 250, 34_500, undefined]);
});

test("redacts a key in the response and keeps the message short", () => {
  const failure = name(http(401, { error: { message: `bad key ${secret} ${"x".repeat(5000)}` } }));
  assert.ok(!failure.message.includes(secret));
  assert.ok(failure.message.length < 400, String(failure.message.length));
  assert.equal(failure.status, 401);
});
