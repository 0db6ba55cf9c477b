import assert from "node:assert/strict";
import { test } from "node:test";

import { calls, failing, MAIN, openAgentHouse, scriptedBook, text, type Say } from "../../test/harness/agent.ts";
import { readHistory } from "../session/history.ts";
import { textOf } from "../core/message.ts";

const heartbeat = { source: "heartbeat", authorised: false, heartbeat: { ackMaxChars: 300 } } as const;
const shown = async (runtime: Awaited<ReturnType<typeof openAgentHouse>>): Promise<string[]> => {
  const record = await runtime.store.sessions.get(MAIN);
  if (record === undefined) return [];
  const { messages } = await readHistory(runtime.store.transcript, record, {
    limit: 50,
    includeTools: true,
    maxBytes: 100_000,
  });
  return messages.map(({ role, content }) => `${role}: ${textOf(content)}`);
};

async function houseThatSays(say: (index: number) => Say) {
  const book = scriptedBook((_request, index) => say(index));
  return { book, runtime: await openAgentHouse({ models: book }) };
}

test("an all-clear is shown to nobody, not typed out, and no later turn reads it", async () => {
  const { book, runtime } = await houseThatSays((index) => text(["Hello.", "HEARTBEAT_OK", "Bye."][index] ?? "?"));
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

test("an all-clear that told or did something stays with the model, and is still shown to nobody", async () => {
  const { book, runtime } = await houseThatSays((index) =>
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

test("news of a heartbeat is shown as a whole, without the token, and counts as activity", async () => {
  const news = `The disk is full. ${"Really. ".repeat(50)}`.trim();
  const { runtime } = await houseThatSays((index) => text(index === 0 ? "Hello." : `${news} HEARTBEAT_OK`));
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

test("after a pause of its own a heartbeat begins anew", async () => {
  const book = scriptedBook(() => text("HEARTBEAT_OK"));
  const runtime = await openAgentHouse({ models: book, config: { session: { heartbeatIdleMinutes: 1 } } });
  await runtime.ask("hi");
  const old = await runtime.store.sessions.get(MAIN);
  assert.ok(old !== undefined);
  await runtime.store.sessions.put({ ...old, updatedAt: Date.now() - 120_000 });
  await runtime.ask("[beat]", heartbeat);
  assert.notEqual((await runtime.store.sessions.get(MAIN))?.sessionId, old.sessionId);
  await runtime.close();
});

test("a heartbeat that fails leaves nothing in the way: no prompt in the chat, none in the next request", async () => {
  const { book, runtime } = await houseThatSays((index) => (index === 1 ? failing("invalid") : text("Hello.")));
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

test("a stray token on an ordinary reply is taken off", async () => {
  const { runtime } = await houseThatSays(() => text("Done. HEARTBEAT_OK"));
  const outcome = await runtime.ask("do it");
  assert.deepEqual([outcome.text, outcome.silent], ["Done.", false]);
  await runtime.close();
});
