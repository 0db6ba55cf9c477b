// What every wire must do, shown against a server on loopback that speaks its vendor's published format.
import assert from "node:assert/strict";
import { after, describe, it } from "node:test";

import type { FakeServer, Script, Tls } from "../../test/fakes/server.ts";
import {
  call,
  calls,
  drip,
  drop,
  empty,
  fail,
  garbage,
  halfCall,
  hang,
  lateFail,
  refuse,
  say,
  think,
} from "../../test/fakes/reply.ts";
import { selfSigned } from "../../test/fakes/tls.ts";
import type { AssistantMessage, Message, ToolResultMessage } from "../core/message.ts";
import type { Deadlines } from "./deadline.ts";
import type { Model, ModelEvent, ModelFailure, ModelRequest } from "./model.ts";

export interface WireSubject {
  readonly name: string;
  start(script: Script, options?: { readonly key?: string; readonly tls?: Tls }): Promise<FakeServer>;
  open(url: string, wish?: OpenWish): Promise<Model>;
  /** How the vendor says that a request is too long: status and body. */
  readonly overflow: readonly [number, unknown];
  /** Whether its protocol streams thinking. */
  readonly thinks: boolean;
  /** A call whose arguments end early although the stream ends well: given on as text, or a failure. */
  readonly halfCallEnds: "tool-call" | "error";
}

export interface OpenWish {
  readonly secret?: string;
  readonly deadlines?: Deadlines;
}

/** For the cases that are about waiting; all others may take their time on a busy machine. */
const impatient: Deadlines = { connectMs: 5000, firstTokenMs: 300, stallMs: 300 };

export function modelCases(subject: WireSubject): void {
  describe(`model cases: ${subject.name}`, () => {
    const servers: FakeServer[] = [];
    after(() => Promise.all(servers.map((server) => server.close())));
    const scene: MakeScene = async (script, deadlines) => {
      const server = await subject.start(script);
      servers.push(server);
      return { server, model: await subject.open(server.url, deadlines === undefined ? {} : { deadlines }) };
    };
    answers(subject, scene);
    conversations(subject, scene);
    failures(subject, scene);
    aborts(scene);
  });
}

interface Scene {
  readonly server: FakeServer;
  readonly model: Model;
}
type MakeScene = (script: Script, deadlines?: Deadlines) => Promise<Scene>;

function answers(subject: WireSubject, scene: MakeScene): void {
  it("streams text whose characters were torn apart on the way", async () => {
    const text = "Grüße 😀👩‍👩‍👧 漢字 \u{1F1E7}\u{1F1F7} — done";
    const { model, server } = await scene([say(text, { chunks: text.length, shredBytes: 5 })]);
    const events = await ask(model);
    assert.equal(textOf(events), text);
    for (const event of events)
      if (event.type === "text") assert.ok(event.delta.isWellFormed(), "half a character was given out");
    assert.deepEqual(lastOf(events), { ...lastOf(events), type: "end", stop: "stop" });
    assert.equal(server.requests.length, 1);
  });

  it("counts tokens, and the cached ones apart", async () => {
    const { model } = await scene([say("one two three four")]);
    await ask(model);
    const end = lastOf(await ask(model));
    assert.ok(end?.type === "end");
    const { input, output, cacheRead, cacheWrite, totalTokens } = end.usage;
    assert.ok(output >= 4 && cacheRead > 0, JSON.stringify(end.usage));
    assert.equal(totalTokens, input + output + cacheRead + cacheWrite);
  });

  it("reports an empty answer as such", async () => {
    const { model } = await scene([empty()]);
    assert.deepEqual(kinds(await ask(model)), ["error:empty"]);
  });

  it("ends with refusal when the model refuses", async () => {
    const { model } = await scene([refuse("I will not do that.")]);
    const events = await ask(model);
    assert.equal(stopOf(events), "refusal");
    assert.equal(textOf(events), "I will not do that.");
  });

  it("ends with length when the tokens ran out", async () => {
    const { model } = await scene([say("and then", { finish: "length" })]);
    assert.equal(stopOf(await ask(model)), "length");
  });

  it("gives calls in order, after their starts, with the arguments as they came", async () => {
    const { model } = await scene([
      calls(
        [
          { name: "read", args: { path: "a" }, id: "one" },
          { name: "write", args: { path: "b", text: "ü😀" }, id: "two" },
        ],
        { before: "Both." },
      ),
    ]);
    const events = await ask(model);
    assert.equal(textOf(events), "Both.");
    assert.deepEqual(
      callsOf(events).map(({ name, arguments: text }) => [name, JSON.parse(text)]),
      [
        ["read", { path: "a" }],
        ["write", { path: "b", text: "ü😀" }],
      ],
    );
    assert.deepEqual(
      startsOf(events),
      callsOf(events).map(({ id }) => id),
    );
    assert.equal(stopOf(events), "tool-calls");
  });

  it("makes repeated call ids unique", async () => {
    const { model } = await scene([
      calls([
        { name: "read", args: { path: "a" }, id: "same" },
        { name: "read", args: { path: "b" }, id: "same" },
      ]),
    ]);
    const events = await ask(model);
    const ids = callsOf(events).map(({ id }) => id);
    assert.equal(new Set(ids).size, 2);
    assert.deepEqual(startsOf(events), ids);
  });

  it(
    "streams thinking and keeps what the vendor wants back",
    { skip: subject.thinks ? false : "its protocol streams no thinking" },
    async () => {
      const { model } = await scene([think("Let me see.", say("Yes."))]);
      const events = await ask(model, { thinking: "medium" });
      const thought = events.flatMap((event) => (event.type === "thinking" ? [event.delta] : [])).join("");
      assert.equal(thought, "Let me see.");
      assert.equal(textOf(events), "Yes.");
      const end = lastOf(events);
      assert.ok(end?.type === "end" && end.replay !== undefined);
    },
  );
}

function conversations(subject: WireSubject, scene: MakeScene): void {
  it("carries a tool's result back", async () => {
    const { model, server } = await scene([call("read", { path: "a" }), say("It says hello.")]);
    const first = await ask(model);
    const history = [user("look"), assistantFrom(first, model), ...resultsFor(first, "hello")];
    const second = await ask(model, { messages: history });
    assert.equal(textOf(second), "It says hello.");
    assert.ok(JSON.stringify(server.requests[1]?.body).includes("hello"));
  });

  it("carries thinking through a tool round trip", async () => {
    const reply = call("read", { path: "a" });
    const { model } = await scene([subject.thinks ? think("I should read it.", reply) : reply, say("Done.")]);
    const first = await ask(model, { thinking: "high", maxTokens: 30_000 });
    const history = [user("look"), assistantFrom(first, model), ...resultsFor(first, "x")];
    assert.equal(textOf(await ask(model, { messages: history, thinking: "high", maxTokens: 30_000 })), "Done.");
  });

  it("sends pictures of people and of tools", async () => {
    const picture = { type: "image", data: onePixel, mimeType: "image/png" } as const;
    const { model, server } = await scene([call("camera", {}), say("A dot.")]);
    const asked: Message = { role: "user", content: [{ type: "text", text: "what is it" }, picture], timestamp: 0 };
    const first = await ask(model, { messages: [asked] });
    const [result] = resultsFor(first, "taken");
    assert.ok(result !== undefined);
    const shown: ToolResultMessage = { ...result, content: [...result.content, picture] };
    assert.equal(textOf(await ask(model, { messages: [asked, assistantFrom(first, model), shown] })), "A dot.");
    assert.equal(JSON.stringify(server.requests[1]?.body).split(onePixel).length - 1, 2);
  });

  it("mends a broken history instead of being refused", async () => {
    const { model } = await scene([say("fine")]);
    const messages: Message[] = [
      { role: "assistant", content: [{ type: "text", text: "I began this." }], timestamp: 0 },
      {
        role: "toolResult",
        toolCallId: "gone",
        toolName: "read",
        content: [{ type: "text", text: "orphan" }],
        isError: false,
        timestamp: 0,
      },
      user("go \ud83d on"),
      {
        role: "assistant",
        content: [{ type: "text", text: "" }, callBlock("bad id!*/", "read"), callBlock("bad id!*/", "read")],
        timestamp: 0,
      },
      resultOf("bad id!*/", ""),
      { role: "assistant", content: [], timestamp: 0 },
      user(""),
      user("and again"),
    ];
    assert.equal(textOf(await ask(model, { messages })), "fine");
  });

  it("takes over a conversation another vendor began", async () => {
    const { model } = await scene([say("I go on.")]);
    const foreign = {
      dialect: "another",
      model: "other",
      parts: [{ type: "thinking", text: "secret", options: { other: { signature: "x" } } }],
    };
    const turn: AssistantMessage = {
      role: "assistant",
      content: [{ type: "text", text: "Reading." }, callBlock("toolu_01|fc:9", "read")],
      timestamp: 0,
      provider: "another",
      model: "other",
      replay: foreign,
    };
    const messages = [user("look"), turn, resultOf("toolu_01|fc:9", "hello")];
    assert.equal(textOf(await ask(model, { messages, thinking: "high", maxTokens: 30_000 })), "I go on.");
  });
}

function failures(subject: WireSubject, scene: MakeScene): void {
  const fails = (name: string, script: Script, expected: Partial<ModelFailure>): void => {
    it(`${name} is ${expected.kind}`, async () => {
      const { model } = await scene(script, expected.kind === "timeout" ? impatient : undefined);
      const failure = failureOf(await ask(model));
      assert.deepEqual({ ...failure, ...expected }, failure);
      assert.ok(failure.message.length > 10, failure.message);
      assert.equal(textOf(await ask((await scene([say("usable")])).model)), "usable");
    });
  };
  fails("a request longer than the window", [fail(...subject.overflow)], { kind: "context" });
  fails("429 with Retry-After in seconds", [fail(429, undefined, { "retry-after": "7" })], {
    kind: "rate-limit",
    retryAfterMs: 7000,
    status: 429,
  });
  fails("429 without Retry-After", [fail(429)], { kind: "rate-limit", status: 429 });
  fails("500", [fail(500)], { kind: "overloaded", status: 500 });
  fails("503 in HTML", [fail(503, "<html>Service Unavailable</html>")], { kind: "overloaded", status: 503 });
  fails("402", [fail(402, { error: { message: "payment required" } })], { kind: "billing", status: 402 });
  fails("403", [fail(403, { error: { message: "not yours" } })], { kind: "auth", status: 403 });
  fails("404", [fail(404, { error: { message: "no such model" } })], { kind: "invalid", status: 404 });
  fails("a redirect", [fail(302, "", { location: "http://127.0.0.1:1/" })], { kind: "invalid", status: 302 });
  fails("garbage", [garbage()], { kind: "garbled" });
  fails("a connection dropped before the answer", [drop("before")], { kind: "network" });
  fails("a connection dropped in the answer", [drop("middle")], { kind: "network" });
  fails("a call cut in half", [halfCall("read", '{"path": "/et', "cut")], { kind: "network" });
  fails("silence before the status line", [hang("before")], { kind: "timeout" });
  fails("silence after it", [hang("after")], { kind: "timeout" });
  fails("an error told in the stream", [lateFail("", "Overloaded", "overloaded_error")], { kind: "overloaded" });

  it("Retry-After as a date is understood", async () => {
    const { model } = await scene([
      fail(429, undefined, { "retry-after": new Date(Date.now() + 20_000).toUTCString() }),
    ]);
    const { retryAfterMs = 0 } = failureOf(await ask(model));
    assert.ok(retryAfterMs > 15_000 && retryAfterMs <= 20_000, String(retryAfterMs));
  });

  it("one token a minute ends at the deadline", async () => {
    const { model, server } = await scene([drip(60_000)], impatient);
    const events = await ask(model);
    assert.equal(failureOf(events).kind, "timeout");
    await server.requests[0]?.cut;
  });

  it("a half call in an answer that ends well never becomes a whole one", async () => {
    const { model } = await scene([halfCall("read", '{"path": "/et')]);
    const events = await ask(model);
    if (subject.halfCallEnds === "error") assert.match(failureOf(events).kind, /garbled|network/);
    else
      assert.deepEqual(
        callsOf(events).map(({ arguments: text }) => text),
        ['{"path": "/et'],
      );
  });

  it("20 MB of arguments are a failure, not a call", async () => {
    const { model } = await scene([call("write", { path: "a", text: "x".repeat(20_000_000) })]);
    const events = await ask(model, {}, new AbortController().signal);
    assert.deepEqual([failureOf(events).kind, callsOf(events)], ["garbled", []]);
  });

  it("a wrong key is told without showing it", async () => {
    const secret = "sk-very-secret-0123456789abcdef";
    const server = await subject.start([say("no")], { key: "another" });
    const model = await subject.open(server.url, { secret });
    const failure = failureOf(await ask(model));
    assert.equal(failure.kind, "auth");
    assert.ok(!JSON.stringify(failure).includes(secret));
    const echo = await subject.start([fail(401, { error: { message: `bad key ${secret}` } })]);
    assert.ok(!JSON.stringify(failureOf(await ask(await subject.open(echo.url, { secret })))).includes(secret));
    await Promise.all([server.close(), echo.close()]);
  });

  it("a certificate nobody vouches for is network, and nothing is sent", async () => {
    const server = await subject.start([say("no")], { tls: selfSigned });
    const failure = failureOf(await ask(await subject.open(server.url)));
    assert.equal(failure.kind, "network");
    assert.equal(server.requests.length, 0);
    await server.close();
  });

  it("nobody there is network", async () => {
    const server = await subject.start([say("no")]);
    await server.close();
    assert.equal(failureOf(await ask(await subject.open(server.url))).kind, "network");
  });
}

function aborts(scene: MakeScene): void {
  const stages: readonly (readonly [string, Script, (event: ModelEvent) => boolean])[] = [
    ["before an answer", [hang("before")], () => false],
    ["after the status line", [hang("after")], () => false],
    ["in the middle of text", [say("x".repeat(400), { chunks: 400, delayMs: 5 })], ({ type }) => type === "text"],
    [
      "in the middle of a call",
      [{ ...call("read", { path: "y".repeat(50) }), delayMs: 40 }],
      ({ type }) => type === "tool-start",
    ],
  ];
  for (const [name, script, isMoment] of stages) {
    it(`an abort ${name} closes the socket and is the last event`, async () => {
      const { model, server } = await scene(script);
      const controller = new AbortController();
      const events: ModelEvent[] = [];
      const timer = setTimeout(() => controller.abort(), 60);
      for await (const event of model.stream(request(), controller.signal)) {
        events.push(event);
        if (isMoment(event)) controller.abort();
      }
      clearTimeout(timer);
      assert.equal(failureOf(events).kind, "aborted");
      assert.equal(events.filter(({ type }) => type === "end" || type === "error").length, 1);
      await server.requests[0]?.cut;
    });
  }

  it("an abort before the start sends nothing", async () => {
    const { model, server } = await scene([say("no")]);
    assert.deepEqual(kinds(await ask(model, {}, AbortSignal.abort())), ["error:aborted"]);
    assert.equal(server.requests.length, 0);
  });

  it("a reader that walks away closes the socket", async () => {
    const { model, server } = await scene([say("x".repeat(400), { chunks: 400, delayMs: 5 })]);
    for await (const event of model.stream(request(), new AbortController().signal)) if (event.type === "text") break;
    await server.requests[0]?.cut;
  });

  it("an abort after the end changes nothing", async () => {
    const { model } = await scene([say("done")]);
    const controller = new AbortController();
    const events = await ask(model, {}, controller.signal);
    controller.abort();
    assert.equal(stopOf(events), "stop");
  });
}

const onePixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

export function request(change: Partial<ModelRequest> = {}): ModelRequest {
  const path = { type: "string" };
  const tool = (name: string) => ({
    name,
    description: `${name}s`,
    parameters: { type: "object", properties: { path }, additionalProperties: false },
  });
  return {
    system: "You are a careful assistant.",
    messages: [user("hello")],
    tools: [tool("read"), tool("write"), tool("camera")],
    thinking: "off",
    maxTokens: 4096,
    cacheKey: "session-1",
    ...change,
  };
}

export async function ask(
  model: Model,
  change: Partial<ModelRequest> = {},
  signal?: AbortSignal,
): Promise<ModelEvent[]> {
  const events: ModelEvent[] = [];
  for await (const event of model.stream(request(change), signal ?? new AbortController().signal)) events.push(event);
  const lasts = events.filter(({ type }) => type === "end" || type === "error");
  assert.ok(
    lasts.length === 1 && lasts[0] === events.at(-1),
    `exactly one last event: ${JSON.stringify(events).slice(0, 500)}`,
  );
  return events;
}

export const user = (text: string): Message => ({ role: "user", content: [{ type: "text", text }], timestamp: 0 });

/** As the loop keeps it: text joined, calls after it, the vendor's replay beside them. */
export function assistantFrom(events: readonly ModelEvent[], { provider, id }: Model): AssistantMessage {
  const text = textOf(events);
  const end = lastOf(events);
  return {
    role: "assistant",
    content: [
      ...(text === "" ? [] : [{ type: "text" as const, text }]),
      ...callsOf(events).map((entry) => ({
        ...callBlock(entry.id, entry.name),
        arguments: JSON.parse(entry.arguments) as Record<string, unknown>,
      })),
    ],
    timestamp: 0,
    provider,
    model: id,
    ...(end?.type === "end" && end.replay !== undefined
      ? { replay: JSON.parse(JSON.stringify(end.replay)) as unknown }
      : {}),
  };
}

export function resultsFor(events: readonly ModelEvent[], text: string): ToolResultMessage[] {
  return callsOf(events).map(({ id, name }) => ({ ...resultOf(id, text), toolName: name }));
}

function resultOf(toolCallId: string, text: string): ToolResultMessage {
  return {
    role: "toolResult",
    toolCallId,
    toolName: "read",
    content: [{ type: "text", text }],
    isError: false,
    timestamp: 0,
  };
}

const callBlock = (id: string, name: string) => ({ type: "toolCall" as const, id, name, arguments: {} });

export function textOf(events: readonly ModelEvent[]): string {
  const last = lastOf(events);
  if (last?.type === "error" && events.length === 1) assert.fail(`failed: ${last.error.kind}: ${last.error.message}`);
  return events.flatMap((event) => (event.type === "text" ? [event.delta] : [])).join("");
}

const lastOf = (events: readonly ModelEvent[]): ModelEvent | undefined => events.at(-1);
const callsOf = (events: readonly ModelEvent[]) => events.filter((event) => event.type === "tool-call");
const startsOf = (events: readonly ModelEvent[]): string[] =>
  events.flatMap((event) => (event.type === "tool-start" ? [event.id] : []));

function stopOf(events: readonly ModelEvent[]): string {
  const last = lastOf(events);
  assert.ok(last?.type === "end", JSON.stringify(last));
  return last.stop;
}

function failureOf(events: readonly ModelEvent[]): ModelFailure {
  const last = lastOf(events);
  assert.ok(last?.type === "error", JSON.stringify(last));
  return last.error;
}

function kinds(events: readonly ModelEvent[]): string[] {
  return events.map((event) => (event.type === "error" ? `error:${event.error.kind}` : event.type));
}
