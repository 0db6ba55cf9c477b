// Retries, rotation and fallback against scripted models, without waiting on a clock.
import assert from "node:assert/strict";
import { test } from "node:test";

import type { ThinkingLevel } from "../core/thinking-level.ts";
import type { Model, ModelBook, ModelEvent, ModelFailure, ModelRef } from "./model.ts";
import { assumedFacts } from "./known-models.ts";
import { streamWithFailover, type FailoverEvent } from "./retry.ts";

const answer: readonly ModelEvent[] = [
  { type: "text", delta: "hi" },
  { type: "end", stop: "stop", usage: { input: 1, output: 1, cacheRead: 0, cacheWrite: 0, totalTokens: 2 } },
];
const failing = (kind: ModelFailure["kind"], more: Partial<ModelFailure> = {}): readonly ModelEvent[] => [
  { type: "error", error: { kind, message: `it was ${kind}`, ...more } },
];

/** `plays[provider]` is what each attempt at that provider streams; profiles rotate when one is reported. */
function scene(
  plays: Readonly<Record<string, readonly (readonly ModelEvent[])[]>>,
  profiles: Readonly<Record<string, readonly string[]>> = {},
  thinking: ThinkingLevel = "off",
) {
  const tries = new Map<string, number>();
  const resting = new Set<string>();
  const reports: string[] = [];
  const opened: string[] = [];
  const slept: number[] = [];
  const profilesOf = (provider: string): readonly string[] => profiles[provider] ?? ["only"];
  const book: ModelBook = {
    candidates: () => Promise.resolve([]),
    async open({ provider, id }, _agentId, options) {
      const profile = profilesOf(provider).find(
        (name) => options?.resting === true || !resting.has(`${provider}:${name}`),
      );
      if (profile === undefined || plays[provider] === undefined) return undefined;
      opened.push(`${provider}:${profile}`);
      const model: Model = {
        provider,
        id,
        profile,
        facts: assumedFacts(provider, id),
        async *stream() {
          const count = tries.get(provider) ?? 0;
          tries.set(provider, count + 1);
          const list = plays[provider] ?? [];
          yield* list[Math.min(count, list.length - 1)] ?? [];
        },
      };
      return model;
    },
    async report({ provider }, _agentId, outcome, profile) {
      const word = outcome === "ok" ? "ok" : outcome.kind;
      reports.push(`${provider}:${profile}:${word}`);
      if (["auth", "billing", "rate-limit"].includes(word)) resting.add(`${provider}:${profile}`);
    },
    ready: ({ provider }) =>
      Promise.resolve(profilesOf(provider).filter((name) => !resting.has(`${provider}:${name}`)).length),
    facts: ({ provider, id }) => assumedFacts(provider, id),
    imageModels: () => [],
    endpoint: async () => undefined,
    list: () => Promise.resolve([]),
  };
  const run = async (names: readonly string[], controller = new AbortController()): Promise<FailoverEvent[]> => {
    const refs = names.map((provider): ModelRef => ({ provider, id: "m" }));
    const request = { system: "", messages: [], tools: [], thinking, maxTokens: 1, cacheKey: "" } as const;
    const sleep = async (durationMs: number): Promise<void> => void slept.push(durationMs);
    const turn = { agentId: "main", request: () => request, signal: controller.signal };
    const events: FailoverEvent[] = [];
    for await (const event of streamWithFailover(book, refs, turn, { sleep, random: () => 0.5 })) events.push(event);
    return events;
  };
  return { run, reports, opened, slept };
}

const last = (events: readonly FailoverEvent[]): string => {
  const event = events.at(-1);
  return event?.type === "error" ? `error:${event.error.kind}` : String(event?.type);
};

test("backs off, twice as long each time, then answers", async () => {
  const { run, slept, reports } = scene({ a: [failing("overloaded"), failing("network"), failing("empty"), answer] });
  assert.equal(last(await run(["a"])), "end");
  assert.deepEqual(slept, [500, 1000, 2000]);
  assert.deepEqual(reports, ["a:only:ok"]);
});

test("waits as long as the server asks, within the total limit", async () => {
  const patient = scene({ a: [failing("rate-limit", { retryAfterMs: 30_000 }), answer] });
  assert.equal(last(await patient.run(["a"])), "end");
  assert.deepEqual(patient.slept, [30_000]);
  const hopeless = scene({ a: [failing("rate-limit", { retryAfterMs: 3_600_000 })] });
  assert.equal(last(await hopeless.run(["a"])), "error:rate-limit");
  assert.deepEqual([hopeless.slept, hopeless.reports], [[], ["a:only:rate-limit"]]);
});

test("tries five times, then falls back to the next model", async () => {
  const { run, opened } = scene({ a: [failing("overloaded")], b: [answer] });
  const events = await run(["a", "b"]);
  assert.equal(last(events), "end");
  assert.equal(opened.filter((name) => name === "a:only").length, 5);
  assert.deepEqual(events.filter(({ type }) => type === "model").length, 6);
});

test("tries another credential before waiting, and another model before giving up", async () => {
  const { run, slept, opened, reports } = scene(
    { a: [failing("rate-limit"), failing("auth")], b: [answer] },
    { a: ["one", "two"] },
  );
  assert.equal(last(await run(["a", "b"])), "end");
  assert.deepEqual(opened, ["a:one", "a:two", "b:only"]);
  assert.deepEqual(reports, ["a:one:rate-limit", "a:two:auth", "b:only:ok"]);
  assert.deepEqual(slept, []);
});

test("a rejected request falls back immediately; one that is too long is returned to the caller", async () => {
  const refused = scene({ a: [failing("invalid")], b: [answer] });
  assert.equal(last(await refused.run(["a", "b"])), "end");
  assert.deepEqual(refused.opened, ["a:only", "b:only"]);
  const tooLong = scene({ a: [failing("context")], b: [answer] });
  assert.equal(last(await tooLong.run(["a", "b"])), "error:context");
  assert.deepEqual(tooLong.opened, ["a:only"]);
});

test("retries without reasoning when a server rejects it", async () => {
  const { run, opened } = scene(
    { a: [failing("invalid", { message: "reasoning_effort: unsupported value" }), answer] },
    {},
    "high",
  );
  assert.equal(last(await run(["a"])), "end");
  assert.deepEqual(opened, ["a:only"]);
});

test("a failure after the first text is final", async () => {
  const halfway: readonly ModelEvent[] = [{ type: "text", delta: "half" }, ...failing("network")];
  const { run, opened } = scene({ a: [halfway, answer], b: [answer] });
  const events = await run(["a", "b"]);
  assert.equal(last(events), "error:network");
  assert.deepEqual(opened, ["a:only"]);
  const started: readonly ModelEvent[] = [{ type: "tool-start", id: "x", name: "read" }, ...failing("network")];
  assert.equal(last(await scene({ a: [started, answer] }).run(["a"])), "error:network");
  const thinking: readonly ModelEvent[] = [{ type: "thinking", delta: "hm" }, ...failing("network")];
  assert.equal(last(await scene({ a: [thinking, answer] }).run(["a"])), "end");
});

test("reports no model, no credential, and all credentials cooling down, each by its name", async () => {
  const nothing = (await scene({}).run([])).at(-1);
  assert.deepEqual(nothing, { type: "error", error: { kind: "auth", message: "no model is set up" } });
  const noKey = (await scene({}).run(["a"])).at(-1);
  assert.deepEqual(noKey, { type: "error", error: { kind: "auth", message: 'No API key found for provider "a".' } });
  const resting = scene({ a: [failing("auth"), answer] });
  assert.equal(last(await resting.run(["a"])), "error:auth");
  assert.equal(last(await resting.run(["a"])), "end", "a key that rests alone is tried once all the same");
});

test("an abort while waiting ends it", async () => {
  const controller = new AbortController();
  const { run } = scene({ a: [failing("overloaded")] });
  const done = run(["a"], controller);
  controller.abort();
  assert.match(last(await done), /error:(aborted|overloaded)/);
});
