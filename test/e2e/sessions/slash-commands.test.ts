// Slash commands and directives through the gateway, with runs under way and a model that can be looked at.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { hang, say, startFakeOpenAI, type FakeServer, type Reply } from "../../fakes/openai.ts";
import { dispose, operator, type TestGateway, type Wire } from "../../harness/gateway.ts";
import { chat, chatEnd, startWithModel, textOf } from "../../harness/model.ts";
import type { SessionRow } from "../../../src/protocol/methods/sessions.ts";

let reply: () => Reply = () => say("hello");
let server: FakeServer;
let gateway: TestGateway;
let wire: Wire;
before(async () => {
  server = await startFakeOpenAI(() => reply());
  gateway = await startWithModel(server);
  wire = await operator(gateway);
});
after(async () => {
  wire.end();
  await dispose(gateway);
  await server.close();
});

const asked = (): string[] =>
  server.requests.filter(({ path }) => path.endsWith("/chat/completions")).map(({ body }) => JSON.stringify(body));

async function beginSlowRun(sessionKey: string, runId: string): Promise<void> {
  reply = () => hang("after");
  const before = asked().length;
  await wire.request("chat.send", { sessionKey, message: "a long task", idempotencyKey: runId });
  while (asked().length === before) await sleep(5);
}

async function rowOf(sessionKey: string): Promise<SessionRow | undefined> {
  const { sessions } = await wire.call("sessions.list", {});
  return sessions.find(({ key }) => key === sessionKey);
}

for (const word of ["/stop", "esc", "interrupt"]) {
  test(`${word} ends a run that hangs`, async () => {
    const session = `agent:main:halt-${word.replace("/", "")}`;
    await beginSlowRun(session, `slow ${word}`);
    assert.equal(textOf(await chat(wire, session, word, `stop ${word}`)), "Stopped 1 run.");
    assert.equal((await chatEnd(wire, `slow ${word}`)).state, "aborted");
    reply = () => say("on we go");
    assert.equal(textOf(await chat(wire, session, "and now?", `next ${word}`)), "on we go");
  });
}

test("read and set commands do not wait for a run and do not affect it", async () => {
  const session = "agent:main:look";
  await beginSlowRun(session, "look-run");
  assert.match(textOf(await chat(wire, session, "/status", "look-1")), /1 running or waiting/);
  assert.match(textOf(await chat(wire, session, "/verbose full", "look-2")), /Verbose is now full/);
  assert.equal((await rowOf(session))?.["verboseLevel"], "full");
  assert.match(textOf(await chat(wire, session, "stop", "look-3")), /Stopped 1 run/);
});

test("/new ends the current run; the model sees no earlier messages, and the levels stay", async () => {
  const session = "agent:main:renewed";
  reply = () => say("noted");
  await chat(wire, session, "the word is marmalade", "renewed-1");
  await chat(wire, session, "/verbose on", "renewed-2");
  const before = await rowOf(session);
  await beginSlowRun(session, "renewed-run");
  reply = () => say("fresh");
  assert.equal(textOf(await chat(wire, session, "/new what is the word?", "renewed-3")), "fresh");
  assert.equal((await chatEnd(wire, "renewed-run")).state, "aborted");
  const last = asked().at(-1) ?? "";
  assert.match(last, /what is the word\?/);
  assert.doesNotMatch(last, /marmalade|\/new|a long task/);
  const row = await rowOf(session);
  assert.notEqual(row?.["sessionId"], before?.["sessionId"]);
  assert.equal(row?.["verboseLevel"], "on");
});

test("directives inside a message never reach the model and are not stored", async () => {
  const session = "agent:main:inline";
  reply = () => say("fine");
  assert.equal(textOf(await chat(wire, session, "hey /think low /verbose on there", "inline-1")), "fine");
  const last = asked().at(-1) ?? "";
  assert.match(last, /hey there/);
  assert.doesNotMatch(last, /\/think|\/verbose/);
  const row = await rowOf(session);
  assert.deepEqual([row?.["thinkingLevel"], row?.["verboseLevel"]], [undefined, undefined]);
});

test("a path in a message is text for the model", async () => {
  reply = () => say("seen");
  await chat(wire, "agent:main:path", "/usr/bin holds what?", "path-1");
  assert.match(asked().at(-1) ?? "", /\/usr\/bin holds what\?/);
});

test("/model lists the configured model and refuses others before any request is made", async () => {
  const session = "agent:main:choose";
  assert.match(textOf(await chat(wire, session, "/model", "choose-1")), /1\. fake\/fake-1 \(in use\)/);
  const before = asked().length;
  assert.match(textOf(await chat(wire, session, "hi /model nowhere/x", "choose-2")), /was not sent to a model/);
  assert.equal(asked().length, before);
});

test("shows usage from the stored records", async () => {
  const session = "agent:main:used";
  reply = () => say("a few words");
  await chat(wire, session, "hello", "used-1");
  const figures = textOf(await chat(wire, session, "/usage cost", "used-2"));
  assert.match(figures, /^This session: [1-9][\d,]* tokens in, [1-9][\d,]* out.*, 1 model call, \$/);
});

test("a refused tool is an error on the wire with the rule that refused it", async () => {
  const end = await chat(wire, "agent:main:refuse", "/tool nosuchtool {}", "refuse-1");
  assert.equal(end.state, "error");
  assert.match(end.errorMessage ?? "", /nosuchtool/);
});
