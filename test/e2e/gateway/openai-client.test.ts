// The official openai package as a client of our two endpoints: streaming, tool calls, errors, abort.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import OpenAI from "openai";

import {
  call,
  calls,
  fail,
  hang,
  say,
  startFakeOpenAI,
  type FakeRequest,
  type FakeServer,
  type Reply,
} from "../../fakes/openai.ts";
import { dispose, type TestGateway } from "../../harness/gateway.ts";
import { startWithModel } from "../../harness/model.ts";
import { pdfOf } from "../../harness/pdf.ts";

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
  return (request.body as { messages: { role: string; content: unknown }[] }).messages;
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

test("the same user gets the same session, and another user another one", async () => {
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

test("refuses an unknown agent with the known ones; a failing model is an error; a wrong key is 401", async () => {
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
  const unauthenticated = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: "wrong", maxRetries: 0 });
  await assert.rejects(
    unauthenticated.chat.completions.create({ model: "openclaw", messages: [{ role: "user", content: "x" }] }),
    { status: 401 },
  );
});

test("disconnecting stops the model", async () => {
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

test("a tool of the caller reaches the model, returns as a call, and its output continues the turn", async () => {
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

const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const asked = (): string => JSON.stringify(lastMessages());
const count = (word: string): number => asked().split(word).length - 1;
const refusedFor =
  (param: RegExp, code?: string, status = 400) =>
  (error: InstanceType<typeof OpenAI.APIError>): boolean => {
    assert.equal(error.status, status, error.message);
    assert.equal(error.type, "invalid_request_error");
    assert.match(`${error.param} ${error.message}`, param);
    if (code !== undefined) assert.equal(error.code, code);
    return true;
  };

test("streams the calls of a caller's tool in the documented order, numbered", async () => {
  script = () => call("get_weather", { city: "Oslo" });
  const kinds: string[] = [];
  const numbers: number[] = [];
  let given = "";
  const stream = await client.responses.create({ model: "openclaw", input: "hi", tools: [weather], stream: true });
  for await (const event of stream) {
    kinds.push(event.type);
    numbers.push(event.sequence_number);
    if (event.type === "response.function_call_arguments.delta") given += event.delta;
    if (event.type === "response.completed") assert.equal(event.response.output[0]?.type, "function_call");
  }
  assert.deepEqual(kinds, [
    "response.created",
    "response.in_progress",
    "response.output_item.added",
    "response.function_call_arguments.delta",
    "response.function_call_arguments.done",
    "response.output_item.done",
    "response.completed",
  ]);
  assert.deepEqual(numbers, [...numbers.keys()]);
  assert.deepEqual(JSON.parse(given), { city: "Oslo" });
});

test("streams a failure of the model as a failed response and as an error chunk", async () => {
  script = () => fail(400, { error: { message: "scripted failure", type: "invalid_request_error" } });
  const kinds: string[] = [];
  for await (const event of await client.responses.create({ model: "openclaw", input: "hi", stream: true })) {
    kinds.push(event.type);
    if (event.type === "response.failed") assert.match(event.response.error?.message ?? "", /scripted failure/);
  }
  assert.equal(kinds.at(-1), "response.failed");
  const stream = await client.chat.completions.create({
    model: "openclaw",
    stream: true,
    messages: [{ role: "user", content: "hi" }],
  });
  await assert.rejects(async () => {
    for await (const chunk of stream) assert.ok(chunk.choices.length > 0);
  }, /scripted failure/);
});

test("continues a conversation by previous_response_id", async () => {
  script = () => say("noted");
  const first = await client.responses.create({ model: "openclaw", input: "my word is heron" });
  const second = await client.responses.create({
    model: "openclaw",
    input: "and my number is 41",
    previous_response_id: first.id,
  });
  assert.equal(second.previous_response_id, first.id);
  assert.deepEqual([count("heron"), count("is 41")], [1, 1]);
  await client.responses.create({ model: "openclaw", input: "both?", previous_response_id: second.id });
  assert.deepEqual([count("heron"), count("is 41"), count("both?")], [1, 1, 1]);
});

test("continues a conversation after a restart of the gateway", async () => {
  script = () => say("noted");
  const own = await startWithModel(server);
  const open = ({ url, token }: TestGateway) => new OpenAI({ baseURL: `${url}/v1`, apiKey: token, maxRetries: 0 });
  const first = await open(own).responses.create({ model: "openclaw", input: "my word is heron" });
  await own.stop();
  const again = await startWithModel(server, { home: own.home });
  try {
    await open(again).responses.create({ model: "openclaw", input: "which?", previous_response_id: first.id });
    assert.equal(count("heron"), 1);
  } finally {
    await dispose(again);
  }
});

test("branches when a response is continued a second time, even at the same moment", async () => {
  script = () => say("noted");
  const first = await client.responses.create({ model: "openclaw", input: "my word is heron" });
  const before = server.requests.length;
  await Promise.all(
    ["left", "right", "middle"].map((input) =>
      client.responses.create({ model: "openclaw", input, previous_response_id: first.id }),
    ),
  );
  const bodies = server.requests.slice(before).map(({ body }) => JSON.stringify(body["messages"]));
  assert.equal(bodies.length, 3);
  for (const body of bodies) {
    assert.match(body, /heron/);
    assert.equal(["left", "right", "middle"].filter((word) => body.includes(word)).length, 1, body.slice(-300));
  }
});

test("takes the instructions of this request alone, and its own history besides the stored one", async () => {
  script = () => say("noted");
  const first = await client.responses.create({
    model: "openclaw",
    input: "first",
    instructions: "speak like a pirate",
  });
  assert.match(asked(), /pirate/);
  await client.responses.create({ model: "openclaw", input: "second", previous_response_id: first.id });
  assert.doesNotMatch(asked(), /pirate/);
});

test("refuses to continue a response that is unknown, not stored, or of another session", async () => {
  script = () => say("noted");
  const loose = await client.responses.create({ model: "openclaw", input: "hi", store: false });
  const users = await client.responses.create({ model: "openclaw", input: "hi", user: "dora" });
  for (const [previous_response_id, more] of [
    ["resp_none", {}],
    ["nonsense", {}],
    [loose.id, {}],
    [users.id, { user: "somebody else" }],
  ] as const)
    await assert.rejects(
      client.responses.create({ model: "openclaw", input: "x", previous_response_id, ...more }),
      refusedFor(/previous_response_id/, "previous_response_not_found"),
    );
});

test("gives a stored response back until it is deleted", async () => {
  script = () => say("keep me");
  const made = await client.responses.create({ model: "openclaw", input: "hi", metadata: { topic: "birds" } });
  const { created_at: _created, ...found } = await client.responses.retrieve(made.id);
  assert.deepEqual([found.id, found.output_text, found.metadata], [made.id, "keep me", { topic: "birds" }]);
  await client.responses.delete(made.id);
  await assert.rejects(client.responses.retrieve(made.id), { status: 404 });
  await assert.rejects(
    client.responses.create({ model: "openclaw", input: "x", previous_response_id: made.id }),
    refusedFor(/previous_response_id/),
  );
});

test("resolves references to items of stored responses, and refuses unknown ones", async () => {
  script = () => say("the heron");
  const made = await client.responses.create({ model: "openclaw", input: "which bird?" });
  const id = made.output[0]?.type === "message" ? made.output[0].id : "";
  const input = (reference: string): OpenAI.Responses.ResponseInput => [
    { role: "user", content: "which bird?" },
    { type: "item_reference", id: reference },
    { role: "user", content: "why?" },
  ];
  await client.responses.create({ model: "openclaw", input: input(id) });
  assert.equal(count("the heron"), 1);
  await assert.rejects(
    client.responses.create({ model: "openclaw", input: input("msg_none") }),
    refusedFor(/input\[1\]/),
  );
});

test("sends a conversation to the model once when a user repeats all of it in every request", async () => {
  script = () => say("an answer");
  const messages: OpenAI.Chat.ChatCompletionMessageParam[] = [];
  for (const content of ["first question", "second question", "third question"]) {
    messages.push({ role: "user", content });
    const { choices } = await client.chat.completions.create({ model: "openclaw", user: "erin", messages });
    messages.push({ role: "assistant", content: choices[0]?.message.content ?? "" });
  }
  assert.deepEqual(
    ["first", "second", "third"].map((word) => count(`${word} question`)),
    [1, 1, 1],
  );
});

test("refuses tool results of an unknown call", async () => {
  await assert.rejects(
    client.responses.create({
      model: "openclaw",
      input: [{ type: "function_call_output", call_id: "call_lost", output: "1" }],
    }),
    refusedFor(/call_lost/),
  );
  await assert.rejects(
    client.chat.completions.create({
      model: "openclaw",
      messages: [
        { role: "user", content: "x" },
        { role: "tool", tool_call_id: "call_lost", content: "1" },
      ],
    }),
    refusedFor(/call_lost/),
  );
});

const parameters = { type: "object", properties: {} };
const chat = (more: object) =>
  client.chat.completions.create({ model: "openclaw", messages: [{ role: "user", content: "x" }], ...more });
const response = (more: object) => client.responses.create({ model: "openclaw", input: "x", ...more } as never);

for (const [title, more, param] of [
  ["more than one answer", { n: 2 }, /^n /],
  ["log probabilities", { logprobs: true }, /^logprobs/],
  ["token bias", { logit_bias: { "50256": -100 } }, /^logit_bias/],
  ["audio", { modalities: ["text", "audio"] }, /^modalities/],
  ["old functions", { functions: [{ name: "f", parameters }] }, /^functions/],
  ["an unknown parameter", { repetition_penalty: 2 }, /^repetition_penalty/],
  ["a temperature out of range", { temperature: 3 }, /^temperature/],
  ["a fraction of tokens", { max_tokens: 1.5 }, /^max_tokens/],
  ["five stop words", { stop: ["a", "b", "c", "d", "e"] }, /^stop/],
  ["a format nobody knows", { response_format: { type: "xml" } }, /^response_format/],
  ["a hosted tool", { tools: [{ type: "web_search" }] }, /^tools\[0\]/],
  ["a tool name that cannot be", { tools: [{ type: "function", function: { name: "no spaces" } }] }, /^tools\[0\]/],
  ["a tool the agent has itself", { tools: [{ type: "function", function: { name: "read", parameters } }] }, /read/],
  [
    "the same tool twice",
    { tools: ["f", "f"].map((name) => ({ type: "function", function: { name } })) },
    /tools\[1\]/,
  ],
  ["a choice without tools", { tool_choice: "required" }, /^tool_choice/],
  [
    "a choice of no such tool",
    {
      tools: [{ type: "function", function: { name: "f" } }],
      tool_choice: { type: "function", function: { name: "g" } },
    },
    /^tool_choice/,
  ],
  [
    "an answer as the last message",
    {
      messages: [
        { role: "user", content: "x" },
        { role: "assistant", content: "y" },
      ],
    },
    /^messages/,
  ],
  [
    "sound",
    { messages: [{ role: "user", content: [{ type: "input_audio", input_audio: { data: "AA==", format: "wav" } }] }] },
    /messages\[0\]/,
  ],
] as const)
  test(`chat.completions refuses ${title} by name`, async () => {
    const before = server.requests.length;
    await assert.rejects(chat(more), refusedFor(param));
    assert.equal(server.requests.length, before, "the model was not asked");
  });

for (const [title, more, param] of [
  ["work in the background", { background: true }, /^background/],
  ["a conversation elsewhere", { conversation: "conv_1" }, /^conversation/],
  ["a stored prompt", { prompt: { id: "p" } }, /^prompt/],
  ["a hosted tool", { tools: [{ type: "file_search", vector_store_ids: [] }] }, /^tools\[0\]/],
  ["a tool the agent has itself", { tools: [{ ...weather, name: "exec" }] }, /exec/],
  ["an item nobody knows", { input: [{ type: "computer_call" }] }, /input\[0\]/],
  ["an uploaded file", { input: [{ role: "user", content: [{ type: "input_file", file_id: "file_1" }] }] }, /file_id/],
  ["log probabilities", { include: ["message.output_text.logprobs"] }, /^include/],
  ["zero tokens", { max_output_tokens: 0 }, /^max_output_tokens/],
  [
    "arguments that are no JSON",
    {
      input: [
        { type: "function_call", call_id: "c", name: "f", arguments: "{" },
        { role: "user", content: "x" },
      ],
    },
    /input\[0\]/,
  ],
] as const)
  test(`responses refuses ${title} by name`, async () => {
    await assert.rejects(response(more), refusedFor(param));
  });

test("passes sampling and formats on to the model, and accepts values that change nothing", async () => {
  script = () => say("{}");
  const json_schema = { name: "answer", schema: { ...parameters, additionalProperties: false } };
  await chat({
    temperature: 0.5,
    top_p: 0.9,
    stop: "END",
    seed: 7,
    presence_penalty: 0.5,
    response_format: { type: "json_schema", json_schema },
    parallel_tool_calls: false,
    n: 1,
    logprobs: false,
    metadata: { a: "b" },
  });
  const { temperature, top_p, stop, seed, presence_penalty, response_format, parallel_tool_calls } =
    server.requests.at(-1)?.body ?? {};
  assert.deepEqual(
    { temperature, top_p, stop, seed, presence_penalty, parallel_tool_calls },
    { temperature: 0.5, top_p: 0.9, stop: ["END"], seed: 7, presence_penalty: 0.5, parallel_tool_calls: false },
  );
  assert.match(JSON.stringify(response_format), /"json_schema".*"answer"/);
});

test("hands back one call at most when parallel calls are off, whatever the model does", async () => {
  script = () => calls([1, 2].map((n) => ({ name: "get_weather", args: { city: `c${n}` } })));
  const { output } = await client.responses.create({
    model: "openclaw",
    input: "x",
    tools: [weather],
    parallel_tool_calls: false,
  });
  assert.equal(output.filter(({ type }) => type === "function_call").length, 1);
});

test("lets a model retry unreadable arguments instead of returning them", async () => {
  let tries = 0;
  script = () => (++tries === 1 ? call("get_weather", '{"city": ') : call("get_weather", { city: "Oslo" }));
  const { output } = await client.responses.create({ model: "openclaw", input: "x", tools: [weather] });
  const [made] = output;
  assert.ok(made?.type === "function_call");
  assert.deepEqual([JSON.parse(made.arguments), tries], [{ city: "Oslo" }, 2]);
});

test("lists the agents and models that can be named, and accepts each of them", async () => {
  const listed = await client.models.list();
  const ids = listed.data.map(({ id }) => id);
  for (const id of ["openclaw", "openclaw:main", "fake/fake-1"]) assert.ok(ids.includes(id), `${id} of ${ids.join()}`);
  for (const model of listed.data)
    assert.deepEqual([model.object, typeof model.created, typeof model.owned_by], ["model", "number", "string"]);
  assert.equal((await client.models.retrieve("fake/fake-1")).owned_by, "fake");
  await assert.rejects(client.models.retrieve("gpt-none"), { status: 404 });
  script = () => say("by name");
  for (const model of ["fake/fake-1", "fake-1", "openclaw:main"])
    assert.equal((await client.responses.create({ model, input: "x" })).output_text, "by name");
  await assert.rejects(
    client.responses.create({ model: "gpt-none", input: "x" }),
    refusedFor(/gpt-none/, "model_not_found", 404),
  );
  const unauthenticated = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: "wrong", maxRetries: 0 });
  await assert.rejects(unauthenticated.models.list(), { status: 401 });
});

const image = (data: string) => ({ input: [{ role: "user", content: [{ type: "input_image", image_url: data }] }] });
const file = (part: object) => ({ input: [{ role: "user", content: [{ type: "input_file", ...part }] }] });
const base64 = (text: string): string => Buffer.from(text).toString("base64");

for (const [title, more, why] of [
  ["a picture that is text", image(`data:image/png;base64,${base64("hello")}`), /accepted type/],
  ["a picture that is no Base64", image("data:image/png;base64,@@@"), /Base64/],
  ["a picture at a private address", image("http://169.254.169.254/x.png"), /blocked: address of a cloud metadata/],
  ["a picture in a local file", image("file:///etc/passwd"), /http/],
  [
    "a file of a type that is not accepted",
    file({ filename: "a.zip", file_data: base64("PK\u0003\u0004\0\0") }),
    /allowedMimes/,
  ],
  ["a file that hides its bytes", file({ filename: "a.txt", file_data: base64("a\0b") }), /binary/],
  ["a broken PDF", file({ filename: "a.txt", file_data: base64("%PDF-1.7 …") }), /PDF cannot be read/],
  ["a PDF without text", file({ filename: "a.pdf", file_data: pdfOf([[]]).toString("base64") }), /PDF without text/],
  ["a file at a private address", file({ file_url: "http://localhost:8/x" }), /private or internal host name/],
  ["a file without content", file({ filename: "a.txt" }), /file_data/],
] as const)
  test(`refuses ${title}`, async () => {
    await assert.rejects(response(more), refusedFor(why));
  });

test("reads the text of a PDF, up to files.pdf.maxPages pages", async () => {
  script = () => say("read");
  const pages = ["one heron", "two herons", "three herons", "four herons", "five herons"].map((line) => [line]);
  await response(file({ filename: "birds.pdf", file_data: pdfOf(pages).toString("base64") }));
  assert.match(asked(), /source=\\"file birds\.pdf\\">\\none heron\\n\\ntwo herons/);
  assert.match(asked(), /four herons\\n\[cut: 4 of 5 pages/);
  assert.doesNotMatch(asked(), /five herons/);
});

test("accepts files as plain Base64 by their names, and in the older form", async () => {
  script = () => say("read");
  for (const part of [
    { filename: "a.csv", file_data: base64("bird,heron") },
    { source: { type: "base64", media_type: "text/csv", data: base64("bird,heron"), filename: "a.csv" } },
  ]) {
    await response(file(part));
    assert.match(asked(), /source=\\"file a.csv\\">\\nbird,heron/);
  }
  assert.equal(count(PNG), 0);
  await response({
    input: [{ role: "user", content: [{ type: "input_image", source: { type: "base64", data: PNG } }] }],
  });
  assert.equal(count(PNG), 1);
});

describe("with limits in the config", () => {
  let strict: TestGateway;
  let bound: OpenAI;
  before(async () => {
    const files = { allowUrl: false, maxBytes: 200, maxChars: 20, allowedMimes: ["text/plain"] };
    const responses = {
      enabled: true,
      maxBodyBytes: 3000,
      files,
      images: { maxBytes: 50, allowUrl: false, allowedMimes: ["image/png"] },
    };
    strict = await startWithModel(server, { more: { gateway: { http: { endpoints: { responses } } } } });
    bound = new OpenAI({ baseURL: `${strict.url}/v1`, apiKey: strict.token, maxRetries: 0 });
  });
  after(() => dispose(strict));
  const send = (more: object) => bound.responses.create({ model: "openclaw", input: "x", ...more } as never);

  for (const [title, more, why] of [
    ["a picture that is too large", image(`data:image/png;base64,${PNG}`), /50 bytes/],
    ["a picture by its URL", image("https://example.com/a.png"), /allowUrl/],
    ["a file by its URL", file({ file_url: "https://example.com/a.txt" }), /allowUrl/],
    ["a file that is too large", file({ filename: "a.txt", file_data: base64("x".repeat(201)) }), /200 bytes/],
    ["a type that was taken away", file({ filename: "a.csv", file_data: base64("a,b") }), /allowedMimes/],
  ] as const)
    test(`refuses ${title}`, async () => {
      await assert.rejects(send(more), refusedFor(why));
    });

  test("refuses a body that is too large, and cuts a long file", async () => {
    await assert.rejects(send({ input: "x".repeat(4000) }), { status: 413 });
    script = () => say("read");
    await send(file({ filename: "a.txt", file_data: base64("y".repeat(150)) }));
    assert.equal(count("y".repeat(20)), 1);
    assert.equal(count("y".repeat(21)), 0);
    assert.match(asked(), /first 20 of 150 characters/);
  });

  test("lists models with one endpoint enabled and leaves the other disabled", async () => {
    assert.ok((await bound.models.list()).data.length > 0);
    const { status } = await fetch(`${strict.url}/v1/chat/completions`, { method: "POST" });
    assert.ok(status >= 400, String(status));
  });
});

test("names unknown fields", async () => {
  await assert.rejects(client.responses.create({ model: "openclaw", input: "x", zzz: 1 } as never), /zzz/);
});
