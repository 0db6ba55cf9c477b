// Sessions of clients: bounded, bound to where they were opened, and their questions end with an answer or an abort.
import assert from "node:assert/strict";
import { test } from "node:test";

import { createSessions } from "./session.ts";

const FACTS = { isLocal: true, capabilities: {} };

test("keeps a bounded number of sessions and drops the least recently used idle one", () => {
  const sessions = createSessions({ now: () => 0 });
  const first = sessions.open(FACTS);
  const second = sessions.open(FACTS);
  first.calls.set(1, { cancel: () => {} });
  for (let n = 0; n < 300; n++) sessions.open(FACTS);
  assert.equal(sessions.get(first.id, true), first);
  assert.equal(sessions.get(second.id, true), undefined);
});

test("is found only from where it was opened", () => {
  const sessions = createSessions({ now: () => 0 });
  const { id } = sessions.open(FACTS);
  assert.equal(sessions.get(id, false), undefined);
  assert.equal(sessions.get(id, true)?.id, id);
});

test("keeps a bounded size of answered requests for a client that resumes, and every open one", () => {
  const session = createSessions({ now: () => 0 }).open(FACTS);
  const open = session.newStream();
  const answered = Array.from({ length: 20 }, () => {
    const stream = session.newStream();
    stream.send({ text: "x".repeat(1_000_000) });
    stream.end();
    return stream.id;
  });
  const { id: last } = session.newStream();
  const kept = [...session.streams.keys()];
  assert.deepEqual(kept, [open.id, ...answered.slice(-7), last]);
});

test("stops the calls of a session that ends", () => {
  const sessions = createSessions({ now: () => 0 });
  const session = sessions.open(FACTS);
  let stopped = 0;
  session.calls.set("a", { cancel: () => void stopped++ });
  sessions.end(session);
  assert.deepEqual([stopped, sessions.get(session.id, true)], [1, undefined]);
});

test("gives each reply to the question it answers, and ignores others", async () => {
  const session = createSessions({ now: () => 0 }).open(FACTS);
  const sent: { id?: string }[] = [];
  const send = (message: object): void => void sent.push(message);
  const { signal } = new AbortController();
  const [one, two] = [session.ask(send, "roots/list", {}, signal), session.ask(send, "roots/list", {}, signal)];
  const reply = (replyTo: unknown, n: number) => session.reply({ replyTo, result: { n }, error: undefined });
  for (const wrong of [7, undefined, "q99", sent[0]]) reply(wrong, 0);
  reply(sent[1]?.id, 2);
  reply(sent[0]?.id, 1);
  reply(sent[0]?.id, 3);
  assert.deepEqual([(await one).result, (await two).result], [{ n: 1 }, { n: 2 }]);
});

test("takes a question back when the call that asked it is stopped", async () => {
  const session = createSessions({ now: () => 0 }).open(FACTS);
  const sent: Record<string, unknown>[] = [];
  const control = new AbortController();
  const asking = session.ask((message) => void sent.push({ ...message }), "roots/list", {}, control.signal);
  control.abort(new Error("stopped"));
  await assert.rejects(asking, /stopped/);
  assert.deepEqual(
    [sent.at(-1)?.["method"], sent.at(-1)?.["params"]],
    ["notifications/cancelled", { requestId: sent[0]?.["id"] }],
  );
});
