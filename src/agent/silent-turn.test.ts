import assert from "node:assert/strict";
import { test } from "node:test";

import { calls, failing, MAIN, openTestAgents, scriptedBook, text, type Say } from "../../test/harness/agent.ts";
import { readHistory } from "../session/history.ts";
import { textOf } from "../core/message.ts";

const heartbeat = { source: "heartbeat", authorised: false, heartbeat: { ackMaxChars: 300 } } as const;
const shown = async (runtime: Awaited<ReturnType<typeof openTestAgents>>): Promise<string[]> => {
  const record = await runtime.store.sessions.get(MAIN);
  if (record === undefined) return [];
  const { messages } = await readHistory(runtime.store.transcript, record, {
    limit: 50,
    includeTools: true,
    maxBytes: 100_000,
  });
  return messages.map(({ role, content }) => `${role}: ${textOf(content)}`);
};

async function openThatSays(say: (index: number) => Say) {
  const book = scriptedBook((_request, index) => say(index));
  return { book, runtime: await openTestAgents({ models: book }) };
}

test("hides a HEARTBEAT_OK reply from people and from later turns", async () => {
  const { book, runtime } = await openThatSays((index) => text(["Hello.", "HEARTBEAT_OK", "Bye."][index] ?? "?"));
  await runtime.ask("hi");
  const before = (await runtime.store.sessions.get(MAIN))?.updatedAt;
  runtime.events.length = 0;
  const beat = await runtime.ask("[beat]", heartbeat);
  assert.deepEqual([beat.status, beat.silent, beat.text], ["ok", true, ""]);
  assert.deepEqual(
    runtime.events.filter(({ body }) => body.stream === "assistant"),
    [],
  );
  assert.equal((await runtime.store.sessions.get(MAIN))?.updatedAt, before);
  assert.deepEqual(await shown(runtime), ["user: hi", "assistant: Hello."]);
  await runtime.ask("bye");
  assert.deepEqual(
    book.requests[2]?.messages.map(({ content }) => textOf(content)),
    ["hi", "Hello.", "bye"],
  );
  await runtime.close();
});

test("keeps a HEARTBEAT_OK turn with events or tool calls for the model, and hides it from people", async () => {
  const { book, runtime } = await openThatSays((index) =>
    index === 0 ? calls(["session_status", {}]) : text(index < 3 ? "HEARTBEAT_OK" : "ok"),
  );
  await runtime.ask("[beat]", heartbeat);
  await runtime.lines.add(MAIN, "Exec completed");
  await runtime.ask("[beat 2]", heartbeat);
  await runtime.ask("and?");
  const last = book.requests.at(-1)?.messages.map(({ content }) => textOf(content)) ?? [];
  assert.ok(last.includes("[beat]") && last.some((words) => words.includes("Exec completed")));
  assert.deepEqual(await shown(runtime), ["user: and?", "assistant: ok"]);
  await runtime.close();
});

test("shows the report of a heartbeat without the token, and counts it as activity", async () => {
  const news = `The disk is full. ${"Really. ".repeat(50)}`.trim();
  const { runtime } = await openThatSays((index) => text(index === 0 ? "Hello." : `${news} HEARTBEAT_OK`));
  await runtime.ask("hi");
  const before = (await runtime.store.sessions.get(MAIN))?.updatedAt ?? 0;
  runtime.events.length = 0;
  const beat = await runtime.ask("[beat]", heartbeat);
  assert.deepEqual([beat.silent, beat.text], [false, news]);
  assert.deepEqual(
    runtime.events.flatMap(({ body }) => (body.stream === "assistant" ? [body.delta] : [])),
    [news],
  );
  assert.ok(((await runtime.store.sessions.get(MAIN))?.updatedAt ?? 0) > before);
  await runtime.close();
});

test("resets the session of a heartbeat after heartbeatIdleMinutes", async () => {
  const book = scriptedBook(() => text("HEARTBEAT_OK"));
  const runtime = await openTestAgents({ models: book, config: { session: { heartbeatIdleMinutes: 1 } } });
  await runtime.ask("hi");
  const old = await runtime.store.sessions.get(MAIN);
  assert.ok(old !== undefined);
  await runtime.store.sessions.put({ ...old, updatedAt: Date.now() - 120_000 });
  await runtime.ask("[beat]", heartbeat);
  assert.notEqual((await runtime.store.sessions.get(MAIN))?.sessionId, old.sessionId);
  await runtime.close();
});

test("hides the prompt of a failed heartbeat from the chat and the next request", async () => {
  const { book, runtime } = await openThatSays((index) => (index === 1 ? failing("invalid") : text("Hello.")));
  await runtime.ask("hi");
  assert.equal((await runtime.ask("[beat]", heartbeat)).status, "error");
  assert.deepEqual(await shown(runtime), ["user: hi", "assistant: Hello."]);
  await runtime.ask("bye");
  assert.deepEqual(
    book.requests.at(-1)?.messages.map(({ content }) => textOf(content)),
    ["hi", "Hello.", "bye"],
  );
  await runtime.close();
});

test("removes a stray token from an ordinary reply", async () => {
  const { runtime } = await openThatSays(() => text("Done. HEARTBEAT_OK"));
  const outcome = await runtime.ask("do it");
  assert.deepEqual([outcome.text, outcome.silent], ["Done.", false]);
  await runtime.close();
});
