import assert from "node:assert/strict";
import { once } from "node:events";
import { test, type TestContext } from "node:test";

import { WebSocketServer, type WebSocket as Peer } from "ws";

import { Client } from "../client.ts";
import { openIdentity } from "../identity.ts";
import { createStore, firstState } from "../state.ts";
import { createMemoryStorage, createCredentialStore } from "../credential-store.ts";
import { ConversationStore } from "./conversation-store.ts";
import { createRows } from "./rows.ts";
import type { ChatMessage } from "./parse-events.ts";

const key = "agent:main:main";

interface Frame {
  readonly id: string;
  readonly method: string;
  readonly params: Record<string, unknown>;
}

/** A fake gateway on a real socket: it serves a transcript and sends the run events of the test. */
async function openRoom(t: TestContext): Promise<{
  conversations: ConversationStore;
  transcript: ChatMessage[];
  asked: Frame[];
  readonly emit: (event: string, payload: object, seq?: number) => void;
  answers: Map<string, (params: Record<string, unknown>) => object | undefined>;
  readonly cut: () => void;
}> {
  const server = new WebSocketServer({ port: 0, host: "127.0.0.1" });
  await once(server, "listening");
  const transcript: ChatMessage[] = [];
  const asked: Frame[] = [];
  const answers = new Map<string, (params: Record<string, unknown>) => object | undefined>([
    ["connect", () => ({ ok: true, payload: hello })],
    [
      "chat.history",
      ({ limit }) => ({ ok: true, payload: { messages: transcript.slice(-Number(limit)), thinkingLevel: "low" } }),
    ],
    ["chat.send", ({ idempotencyKey }) => ({ ok: true, payload: { runId: idempotencyKey, status: "started" } })],
    ["chat.abort", () => ({ ok: true, payload: { ok: true, aborted: true } })],
    ["health", () => ({ ok: true, payload: { ok: true, ts: 1 } })],
    ["system-presence", () => ({ ok: true, payload: [] })],
  ]);
  server.on("connection", (peer: Peer) => {
    peer.send(JSON.stringify({ type: "event", event: "connect.challenge", payload: { nonce: "n", ts: 1 } }));
    peer.on("message", (bytes: Buffer) => {
      const frame = JSON.parse(bytes.toString()) as Frame;
      asked.push(frame);
      const answer = answers.get(frame.method)?.(frame.params);
      if (answer !== undefined) peer.send(JSON.stringify({ type: "res", id: frame.id, ...answer }));
    });
  });
  const { port } = server.address() as { port: number };
  const identity = await openIdentity({ get: () => Promise.resolve(undefined), put: (pair) => Promise.resolve(pair) });
  const store = createStore(firstState);
  const credentials = createCredentialStore(createMemoryStorage(), "/");
  const client = new Client({
    url: `ws://127.0.0.1:${port}/`,
    version: "1",
    store,
    credentials,
    identity,
    secrets: {},
  });
  t.after(() => {
    client.stop();
    for (const peer of server.clients) peer.terminate();
    server.close();
  });
  const conversations = new ConversationStore({ client, store }, (step) => setImmediate(step));
  store.subscribe(() => conversations.open(key));
  conversations.subscribe(() => conversations.open(key));
  client.start();
  await until(() => conversations.reading(key).isRead);
  return {
    conversations,
    transcript,
    asked,
    answers,
    emit(event, payload, seq) {
      for (const peer of server.clients)
        peer.send(JSON.stringify({ type: "event", event, payload, ...(seq === undefined ? {} : { seq }) }));
    },
    cut() {
      for (const peer of server.clients) peer.terminate();
    },
  };
}

const hello = {
  protocol: 3,
  server: { version: "1", connId: "c" },
  features: { methods: [], events: [] },
  snapshot: { presence: [], health: { ok: true, ts: 1 }, uptimeMs: 1 },
  policy: { maxPayload: 1_000_000, tickIntervalMs: 30_000 },
};

async function until(holds: () => boolean): Promise<void> {
  for (let rounds = 0; !holds(); rounds += 1) {
    assert.ok(rounds < 6000, "it did not happen within a minute");
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

const messageOf = (role: "user" | "assistant", text: string, timestamp: number): ChatMessage => ({
  role,
  content: [{ type: "text", text }],
  timestamp,
});
const drawn = (conversations: ConversationStore): string[] =>
  createRows()(conversations.conversation(key)).map((row) => (row.kind === "tool" ? row.name : row.text));

test("a message is sent with its own key, and its reply is shown once", async (t) => {
  const { conversations, transcript, asked, emit } = await openRoom(t);
  assert.equal(conversations.reading(key).thinkingLevel, "low");
  conversations.send(key, "hi");
  assert.deepEqual([drawn(conversations), conversations.isBusy(key)], [["hi"], true]);
  await until(() => asked.some(({ method }) => method === "chat.send"));
  const { runId } = conversations.conversation(key).runs[0] ?? { runId: "" };
  assert.deepEqual(asked.find(({ method }) => method === "chat.send")?.params, {
    sessionKey: key,
    message: "hi",
    idempotencyKey: runId,
  });
  emit("agent", { runId, sessionKey: key, seq: 1, stream: "assistant", data: { text: "Hel", delta: "Hel" } });
  await until(() => drawn(conversations).length === 2);
  transcript.push(messageOf("user", "hi", 10), messageOf("assistant", "Hello", 11));
  emit("chat", { runId, sessionKey: key, seq: 2, state: "final", message: messageOf("assistant", "Hello", 11) });
  await until(() => conversations.conversation(key).runs.length === 0);
  assert.deepEqual(
    [drawn(conversations), conversations.isBusy(key), conversations.settledCount],
    [["hi", "Hello"], false, 1],
  );
});

test("a message is sent again with the same key after a lost connection, and shown once", async (t) => {
  const { conversations, transcript, asked, answers, cut } = await openRoom(t);
  answers.set("chat.send", () => undefined);
  conversations.send(key, "once");
  await until(() => asked.some(({ method }) => method === "chat.send"));
  transcript.push(messageOf("user", "once", 10), messageOf("assistant", "done", 11));
  answers.set("chat.send", ({ idempotencyKey }) => ({ ok: true, payload: { runId: idempotencyKey, status: "ok" } }));
  cut();
  await until(() => conversations.conversation(key).runs.length === 0);
  assert.deepEqual(drawn(conversations), ["once", "done"]);
  const keys = asked.filter(({ method }) => method === "chat.send").map(({ params }) => params["idempotencyKey"]);
  assert.deepEqual([keys.length, new Set(keys).size], [2, 1]);
});

test("an error stays with its message until it is sent again or discarded", async (t) => {
  const { conversations, answers } = await openRoom(t);
  const well = answers.get("chat.send");
  answers.set("chat.send", () => ({
    ok: false,
    error: { code: "INVALID_REQUEST", message: "denied", details: { hint: "fix it" } },
  }));
  conversations.send(key, "hi");
  await until(() => conversations.conversation(key).runs[0]?.phase === "unsent");
  const [run] = conversations.conversation(key).runs;
  assert.deepEqual([run?.failure, conversations.isBusy(key)], [{ message: "denied", hint: "fix it" }, false]);
  if (well !== undefined) answers.set("chat.send", well);
  conversations.retry(key, run?.runId ?? "");
  await until(() => conversations.conversation(key).runs[0]?.phase === "running");
  conversations.discard(key, run?.runId ?? "");
  assert.deepEqual(conversations.conversation(key).runs, []);
});

test("reads the transcript again after missed events", async (t) => {
  const { conversations, transcript, emit } = await openRoom(t);
  emit("tick", { ts: 1 }, 1);
  transcript.push(messageOf("assistant", "said by another", 5));
  emit("tick", { ts: 2 }, 4);
  await until(() => drawn(conversations).length === 1);
});

test("stop names the active run, and earlier messages load in steps", async (t) => {
  const { conversations, transcript, asked, emit } = await openRoom(t);
  emit("agent", { runId: "other", sessionKey: key, seq: 1, stream: "lifecycle", data: { phase: "start" } });
  await until(() => conversations.isBusy(key));
  await conversations.stop(key);
  assert.deepEqual(asked.at(-1)?.params, { sessionKey: key, runId: "other" });
  for (let at = 1; at <= 10_000; at += 1) transcript.push(messageOf("user", `m${at}`, at));
  conversations.reread(key);
  await until(() => conversations.conversation(key).messages.length === 200);
  assert.equal(conversations.reading(key).hasEarlier, true);
  conversations.earlier(key);
  await until(() => conversations.conversation(key).messages.length === 400);
  for (const wanted of [600, 800, 1000, 1000]) {
    conversations.earlier(key);
    await until(
      () => !conversations.reading(key).isLoading && conversations.conversation(key).messages.length === wanted,
    );
  }
});
