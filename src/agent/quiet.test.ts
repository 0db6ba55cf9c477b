import assert from "node:assert/strict";
import { test } from "node:test";

import { calls, failing, MAIN, openAgentHouse, scriptedBook, text, type Say } from "../../test/agent-kit.ts";
import { readHistory } from "../session/history.ts";
import { textOf } from "../core/message.ts";

const heartbeat = { source: "heartbeat", authorised: false, heartbeat: { ackMaxChars: 300 } } as const;
const shown = async (house: Awaited<ReturnType<typeof openAgentHouse>>): Promise<string[]> => {
  const record = await house.store.sessions.get(MAIN);
  if (record === undefined) return [];
  const { messages } = await readHistory(house.store.transcript, record, {
    limit: 50,
    includeTools: true,
    maxBytes: 100_000,
  });
  return messages.map(({ role, content }) => `${role}: ${textOf(content)}`);
};

async function houseThatSays(say: (index: number) => Say) {
  const book = scriptedBook((_request, index) => say(index));
  return { book, house: await openAgentHouse({ models: book }) };
}

test("an all-clear is shown to nobody, not typed out, and no later turn reads it", async () => {
  const { book, house } = await houseThatSays((index) => text(["Hello.", "HEARTBEAT_OK", "Bye."][index] ?? "?"));
  await house.ask("hi");
  const before = (await house.store.sessions.get(MAIN))?.updatedAt;
  house.events.length = 0;
  const beat = await house.ask("[beat]", heartbeat);
  assert.deepEqual([beat.status, beat.silent, beat.text], ["ok", true, ""]);
  assert.deepEqual(
    house.events.filter(({ body }) => body.stream === "assistant"),
    [],
  );
  assert.equal((await house.store.sessions.get(MAIN))?.updatedAt, before);
  assert.deepEqual(await shown(house), ["user: hi", "assistant: Hello."]);
  await house.ask("bye");
  assert.deepEqual(
    book.requests[2]?.messages.map(({ content }) => textOf(content)),
    ["hi", "Hello.", "bye"],
  );
  await house.close();
});

test("an all-clear that told or did something stays with the model, and is still shown to nobody", async () => {
  const { book, house } = await houseThatSays((index) =>
    index === 0 ? calls(["session_status", {}]) : text(index < 3 ? "HEARTBEAT_OK" : "ok"),
  );
  await house.ask("[beat]", heartbeat);
  await house.lines.add(MAIN, "Exec completed");
  await house.ask("[beat 2]", heartbeat);
  await house.ask("and?");
  const last = book.requests.at(-1)?.messages.map(({ content }) => textOf(content)) ?? [];
  assert.ok(last.includes("[beat]") && last.some((words) => words.includes("Exec completed")));
  assert.deepEqual(await shown(house), ["user: and?", "assistant: ok"]);
  await house.close();
});

test("news of a heartbeat is shown as a whole, without the token, and counts as activity", async () => {
  const news = `The disk is full. ${"Really. ".repeat(50)}`.trim();
  const { house } = await houseThatSays((index) => text(index === 0 ? "Hello." : `${news} HEARTBEAT_OK`));
  await house.ask("hi");
  const before = (await house.store.sessions.get(MAIN))?.updatedAt ?? 0;
  house.events.length = 0;
  const beat = await house.ask("[beat]", heartbeat);
  assert.deepEqual([beat.silent, beat.text], [false, news]);
  assert.deepEqual(
    house.events.flatMap(({ body }) => (body.stream === "assistant" ? [body.delta] : [])),
    [news],
  );
  assert.ok(((await house.store.sessions.get(MAIN))?.updatedAt ?? 0) > before);
  await house.close();
});

test("after a pause of its own a heartbeat begins anew", async () => {
  const book = scriptedBook(() => text("HEARTBEAT_OK"));
  const house = await openAgentHouse({ models: book, config: { session: { heartbeatIdleMinutes: 1 } } });
  await house.ask("hi");
  const old = await house.store.sessions.get(MAIN);
  assert.ok(old !== undefined);
  await house.store.sessions.put({ ...old, updatedAt: Date.now() - 120_000 });
  await house.ask("[beat]", heartbeat);
  assert.notEqual((await house.store.sessions.get(MAIN))?.sessionId, old.sessionId);
  await house.close();
});

test("a heartbeat that fails leaves nothing in the way: no prompt in the chat, none in the next request", async () => {
  const { book, house } = await houseThatSays((index) => (index === 1 ? failing("invalid") : text("Hello.")));
  await house.ask("hi");
  assert.equal((await house.ask("[beat]", heartbeat)).status, "error");
  assert.deepEqual(await shown(house), ["user: hi", "assistant: Hello."]);
  await house.ask("bye");
  assert.deepEqual(
    book.requests.at(-1)?.messages.map(({ content }) => textOf(content)),
    ["hi", "Hello.", "bye"],
  );
  await house.close();
});

test("a stray token on an ordinary reply is taken off", async () => {
  const { house } = await houseThatSays(() => text("Done. HEARTBEAT_OK"));
  const outcome = await house.ask("do it");
  assert.deepEqual([outcome.text, outcome.silent], ["Done.", false]);
  await house.close();
});
