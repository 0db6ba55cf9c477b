import assert from "node:assert/strict";
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import {
  calls,
  failing,
  MAIN,
  openTestAgents,
  scriptedBook,
  text,
  type TestAgents,
  type Say,
} from "../../test/harness/agent.ts";
import type { SessionKey } from "../core/names.ts";
import { textOf } from "../core/message.ts";
import type { ModelRequest } from "../model/model.ts";
import { entryOf } from "../session/session.ts";
import type { TurnRequest } from "../session/turns.ts";

const WINDOW = 24_000;
const day = new Date().toISOString().slice(0, 10);
const askedOf = ({ messages }: ModelRequest): string =>
  textOf(messages.findLast(({ role }) => role === "user")?.content ?? []);
const isFlush = (request: ModelRequest): boolean => askedOf(request).startsWith("[memory]");
const isSummary = ({ system }: ModelRequest): boolean => system.startsWith("You summarize a conversation");
const afterTool = ({ messages }: ModelRequest): boolean => messages.at(-1)?.role === "toolResult";

interface CommandRun {
  readonly runtime: TestAgents;
  readonly flushes: () => ModelRequest[];
  readonly fill: (more?: Partial<TurnRequest>) => Promise<string[]>;
}

/** A model that answers "fine" to everything but the request for notes. */
async function scene(notes: (request: ModelRequest) => Say | Promise<Say>, config: object = {}): Promise<CommandRun> {
  const book = scriptedBook(
    (request) => {
      if (isFlush(request)) return notes(request);
      return text(isSummary(request) ? "They talked." : "fine");
    },
    { contextWindow: WINDOW },
  );
  const runtime = await openTestAgents({
    models: book,
    config: { agents: { defaults: { userTimezone: "UTC", ...config } } },
  });
  return {
    runtime,
    flushes: () => book.requests.filter((request) => isFlush(request)),
    async fill(more = {}) {
      const said: string[] = [];
      for (let at = 0; at < 5; at++) said.push((await runtime.ask(`${at} ${"word ".repeat(1200)}`, more)).text);
      return said;
    },
  };
}

const write: Say = calls(["write", { path: `memory/${day}.md`, content: "- likes tea\n" }]);

test("lets the agent store notes once and silently before the session is summarized", async () => {
  const { runtime, flushes, fill } = await scene((request) => (afterTool(request) ? text("NO_REPLY") : write));
  assert.deepEqual(await fill(), ["fine", "fine", "fine", "fine", "fine"]);
  assert.equal(readFileSync(join(runtime.workspace, "memory", `${day}.md`), "utf8"), "- likes tea\n");
  assert.equal(flushes().length, 2, "one turn of two requests");
  assert.ok(!JSON.stringify(await runtime.messages()).includes("[memory]"), "no model reads it again");
  assert.deepEqual(
    runtime.events.filter(({ body }) => body.stream === "tool"),
    [],
  );
  const record = await runtime.store.sessions.get(MAIN);
  assert.ok(record !== undefined);
  const { memoryFlushAt, memoryFlushCompactionCount, compactionCount = 0 } = entryOf(record);
  assert.ok((memoryFlushAt ?? 0) > 0 && memoryFlushCompactionCount === 0 && compactionCount <= 1);
  await runtime.close();
});

test("stores notes once per summary", async () => {
  const { runtime, flushes, fill } = await scene(() => text("NO_REPLY"));
  for (let round = 0; round < 3; round++) await fill();
  const record = await runtime.store.sessions.get(MAIN);
  assert.ok(record !== undefined);
  const { compactionCount = 0 } = entryOf(record);
  assert.ok(compactionCount >= 1, `${compactionCount} summaries`);
  assert.ok(flushes().length >= compactionCount && flushes().length <= compactionCount + 1);
  await runtime.close();
});

const skipped: readonly (readonly [why: string, config: object, more: Partial<TurnRequest>])[] = [
  ["it is switched off", { compaction: { memoryFlush: { enabled: false } } }, {}],
  ["it is a heartbeat", {}, { heartbeat: { ackMaxChars: 300 } }],
  ["it is a subagent", {}, { sessionKey: "agent:main:subagent:one" as SessionKey }],
  ["the workspace is read-only", { sandbox: { mode: "all", workspaceAccess: "ro" } }, {}],
  ["there is no workspace in the sandbox", { sandbox: { mode: "all", workspaceAccess: "none" } }, {}],
];
for (const [why, config, more] of skipped)
  test(`stores no notes when ${why}`, async () => {
    const { runtime, flushes, fill } = await scene(() => text("NO_REPLY"), config);
    await fill(more);
    assert.deepEqual(flushes(), []);
    await runtime.close();
  });

test("continues the turn when the model fails or the context is too full for notes", async () => {
  for (const kind of ["context", "invalid"] as const) {
    const { runtime, fill } = await scene(() => failing(kind));
    assert.deepEqual(await fill(), ["fine", "fine", "fine", "fine", "fine"]);
    await runtime.close();
  }
});

test("stops a model that never stops calling, and runs no other tools", async () => {
  let count = 0;
  const { runtime, flushes, fill } = await scene(() => calls(["exec", { command: `touch escaped-${++count}` }]));
  assert.deepEqual(await fill(), ["fine", "fine", "fine", "fine", "fine"]);
  assert.ok(flushes().length <= 8, `${flushes().length} requests`);
  assert.ok(
    !existsSync(runtime.workspace) || !readdirSync(runtime.workspace).some((name) => name.startsWith("escaped")),
  );
  await runtime.close();
});

test("uses the configured prompt, and adds the configured system prompt", async () => {
  const words = { prompt: "[memory] NOTE IT", systemPrompt: "You are taking notes." };
  const { runtime, flushes, fill } = await scene(() => text("NO_REPLY"), { compaction: { memoryFlush: words } });
  await fill();
  const [request] = flushes();
  assert.ok(request !== undefined);
  assert.deepEqual([askedOf(request), request.system.endsWith("You are taking notes.")], ["[memory] NOTE IT", true]);
  await runtime.close();
});
