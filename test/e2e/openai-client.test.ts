// The official openai package as a client of our two endpoints: streaming, tool calls, errors, abort.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import OpenAI from "openai";

import {
  call,
  fail,
  hang,
  say,
  startFakeOpenAI,
  type FakeRequest,
  type FakeServer,
  type Reply,
} from "../fakes/openai.ts";
import { dispose, type TestGateway } from "../kit.ts";
import { startWithModel } from "../model-kit.ts";

let script: (request: FakeRequest, index: number) => Reply = () => say("hello");
let server: FakeServer;
let gateway: TestGateway;
let client: OpenAI;
before(async () => {
  server = await startFakeOpenAI((request, index) => script(request, index));
  gateway = await startWithModel(server);
  client = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: gateway.token, maxRetries: 0 });
});
after(async () => {
  await dispose(gateway);
  await server.close();
});

const lastMessages = (): { role: string; content: unknown }[] => bodyOf(server.requests.at(-1));

function bodyOf(request: FakeRequest | undefined): { role: string; content: unknown }[] {
  if (request === undefined) throw new Error("the model was not asked");
  return (request.body as unknown as { messages: { role: string; content: unknown }[] }).messages;
}

test("chat.completions, whole", async () => {
  script = () => say("hello over http");
  const answer = await client.chat.completions.create({
    model: "openclaw",
    messages: [
      { role: "system", content: "be brief" },
      { role: "user", content: "hi" },
    ],
  });
  assert.equal(answer.choices[0]?.message.content, "hello over http");
  assert.equal(answer.choices[0]?.finish_reason, "stop");
  assert.match(answer.id, /^chatcmpl_/);
  assert.ok((answer.usage?.total_tokens ?? 0) > 0);
  assert.match(JSON.stringify(lastMessages()[0]), /be brief/);
});

test("chat.completions, streamed, ends with a stop chunk", async () => {
  script = () => say("hello over sse, in pieces", { chunks: 6, delayMs: 2 });
  const stream = await client.chat.completions.create({
    model: "openclaw:main",
    stream: true,
    stream_options: { include_usage: true },
    messages: [{ role: "user", content: "hi" }],
  });
  let text = "";
  let finish: string | null = null;
  for await (const chunk of stream) {
    text += chunk.choices[0]?.delta.content ?? "";
    finish = chunk.choices[0]?.finish_reason ?? finish;
  }
  assert.deepEqual({ text, finish }, { text: "hello over sse, in pieces", finish: "stop" });
});

test("the same user is the same session, and another is not", async () => {
  script = () => say("ok");
  await client.chat.completions.create({
    model: "openclaw",
    user: "alice",
    messages: [{ role: "user", content: "my word is heron" }],
  });
  await client.chat.completions.create({
    model: "openclaw",
    user: "alice",
    messages: [{ role: "user", content: "and now?" }],
  });
  assert.match(JSON.stringify(lastMessages()), /heron/);
  await client.chat.completions.create({
    model: "openclaw",
    user: "bob",
    messages: [{ role: "user", content: "and me?" }],
  });
  assert.doesNotMatch(JSON.stringify(lastMessages()), /heron/);
});

test("an unknown agent is refused with the known ones; a failing model is an error; a wrong key is 401", async () => {
  await assert.rejects(
    client.chat.completions.create({ model: "openclaw:nobody", messages: [{ role: "user", content: "x" }] }),
    (error: InstanceType<typeof OpenAI.APIError>) => {
      assert.equal(error.status, 404);
      assert.match(error.message, /known: main/);
      return true;
    },
  );
  script = () => fail(400, { error: { message: "scripted failure", type: "invalid_request_error" } });
  await assert.rejects(
    client.chat.completions.create({ model: "openclaw", messages: [{ role: "user", content: "x" }] }),
    (error: InstanceType<typeof OpenAI.APIError>) => (error.status ?? 0) >= 500,
  );
  const stranger = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: "wrong", maxRetries: 0 });
  await assert.rejects(
    stranger.chat.completions.create({ model: "openclaw", messages: [{ role: "user", content: "x" }] }),
    { status: 401 },
  );
});

test("leaving in the middle stops the model", async () => {
  script = () => hang("after");
  const control = new AbortController();
  const started = client.chat.completions.create(
    { model: "openclaw", messages: [{ role: "user", content: "x" }] },
    { signal: control.signal },
  );
  setTimeout(() => control.abort(), 300);
  await assert.rejects(started);
  script = () => say("fine");
  assert.equal(
    (await client.chat.completions.create({ model: "openclaw", messages: [{ role: "user", content: "y" }] })).choices[0]
      ?.message.content,
    "fine",
  );
});

const weather = {
  type: "function" as const,
  name: "get_weather",
  description: "weather of a city",
  strict: false,
  parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
};

test("responses, whole and streamed", async () => {
  script = () => say("hello responses", { chunks: 3 });
  const answer = await client.responses.create({ model: "openclaw", input: "hi", instructions: "be brief" });
  assert.equal(answer.output_text, "hello responses");
  assert.equal(answer.status, "completed");
  const kinds: string[] = [];
  let text = "";
  for await (const event of await client.responses.create({ model: "openclaw", input: "hi", stream: true })) {
    if (kinds.at(-1) !== event.type) kinds.push(event.type);
    if (event.type === "response.output_text.delta") text += event.delta;
  }
  assert.equal(text, "hello responses");
  assert.deepEqual(kinds, [
    "response.created",
    "response.in_progress",
    "response.output_item.added",
    "response.content_part.added",
    "response.output_text.delta",
    "response.output_text.done",
    "response.content_part.done",
    "response.output_item.done",
    "response.completed",
  ]);
});

test("a tool the caller brings reaches the model, comes back as a call, and its output goes on", async () => {
  script = (request) =>
    JSON.stringify(request.body).includes("18 degrees")
      ? say("it is 18")
      : call("get_weather", { city: "Oslo" }, { id: "call_w" });
  const first = await client.responses.create({
    model: "openclaw",
    user: "carol",
    input: "weather?",
    tools: [weather],
  });
  const asked = first.output.find((item) => item.type === "function_call");
  assert.deepEqual(
    { name: asked?.name, args: JSON.parse(asked?.arguments ?? "{}") as unknown },
    { name: "get_weather", args: { city: "Oslo" } },
  );
  const second = await client.responses.create({
    model: "openclaw",
    user: "carol",
    tools: [weather],
    input: [{ type: "function_call_output", call_id: asked?.call_id ?? "", output: "18 degrees" }],
  });
  assert.equal(second.output_text, "it is 18");
});

test("unknown fields are named", async () => {
  await assert.rejects(client.responses.create({ model: "openclaw", input: "x", zzz: 1 } as never), /zzz/);
});
