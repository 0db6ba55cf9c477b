// Models that misbehave, through the front door: each failure is told in words, others go on, the session stays usable.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import {
  call,
  drip,
  drop,
  empty,
  fail,
  garbage,
  halfCall,
  hang,
  refuse,
  say,
  startFakeOpenAI,
  type FakeRequest,
  type FakeServer,
  type Reply,
} from "../../fakes/openai.ts";
import { dispose, operator, startGateway, type TestGateway, type Wire } from "../../harness/gateway.ts";
import { chat, chatEnd, modelConfig, startWithModel, textOf } from "../../harness/model.ts";

let script: (request: FakeRequest, index: number) => Reply = () => say("hello");
let server: FakeServer;
let gateway: TestGateway;
let wire: Wire;
let run = 0;
/** OPENCLAW_MODEL_ROUNDS=50 for the full rounds of F14, F16 and F28. */
const rounds = Number(process.env["OPENCLAW_MODEL_ROUNDS"] ?? 1);
before(async () => {
  server = await startFakeOpenAI((request, index) => script(request, index));
  gateway = await startWithModel(server);
  wire = await operator(gateway);
});
after(async () => {
  wire.end();
  await dispose(gateway);
  await server.close();
});

const turn = (session: string, text = "hi") => chat(wire, `agent:main:${session}`, text, `fault-${++run}`);
const requestsNow = (): number => server.requests.filter(({ path }) => path.endsWith("/chat/completions")).length;

function repeated(work: () => Promise<void>): () => Promise<void> {
  return async () => {
    for (let round = 0; round < rounds; round++) await work();
  };
}

/** After whatever went wrong, the same session holds a plain conversation. */
async function stillUsable(session: string): Promise<void> {
  script = () => say("fine again");
  assert.equal(textOf(await turn(session, "are you there?")), "fine again");
}

const reported: [name: string, reply: () => Reply][] = [
  ["garbage in the stream", garbage],
  ["an empty reply", empty],
  ["401", () => fail(401, { error: { message: "bad key", type: "invalid_request_error" } })],
  ["400", () => fail(400, { error: { message: "no such parameter", type: "invalid_request_error" } })],
  ["402", () => fail(402, { error: { message: "no money", type: "insufficient_quota" } })],
];
for (const [name, reply] of reported) {
  test(
    `${name}: ends with a readable error, and the session stays usable`,
    { timeout: 300_000 * rounds },
    repeated(async () => {
      const session = `reported-${run}`;
      script = reply;
      const end = await turn(session);
      assert.equal(end.state, "error");
      assert.ok((end.errorMessage ?? "").length > 5, end.errorMessage);
      await stillUsable(session);
    }),
  );
}

const retried: [name: string, reply: () => Reply][] = [
  ["500 once", () => fail(500)],
  ["503 once", () => fail(503)],
  [
    "429 with Retry-After",
    () => fail(429, { error: { message: "slow down", type: "rate_limit" } }, { "retry-after": "1" }),
  ],
  ["429 without Retry-After", () => fail(429, { error: { message: "slow down", type: "rate_limit" } })],
  ["a connection dropped before the answer", () => drop("before")],
];
for (const [name, reply] of retried) {
  test(
    `${name}: is retried, and the person gets the answer`,
    { timeout: 300_000 * rounds },
    repeated(async () => {
      const from = requestsNow();
      let first = true;
      script = () => {
        if (!first) return say("second try");
        first = false;
        return reply();
      };
      assert.equal(textOf(await turn(`retried-${run}`)), "second try");
      assert.equal(requestsNow() - from, 2);
    }),
  );
}

test("shows a refusal as the model's text", async () => {
  script = () => refuse("I would rather not.");
  const end = await turn("refusal");
  assert.match(`${textOf(end)}${end.errorMessage ?? ""}`, /rather not/);
  await stillUsable("refusal");
});

const badCalls: [name: string, reply: () => Reply][] = [
  ["half a call", () => halfCall("read", '{"path": "no')],
  ["arguments of the wrong type", () => call("read", { path: 5 })],
  ["arguments that are no JSON", () => call("read", "{nope")],
  ["an unknown tool", () => call("no_such_tool", {})],
  ["twenty megabytes of arguments", () => call("write", { path: "big.txt", content: "x".repeat(20_000_000) })],
  ["unknown keys", () => call("agents_list", { approved: true })],
];
for (const [name, reply] of badCalls) {
  test(
    `${name}: the model gets an error, no tool runs, and the turn continues`,
    { timeout: 300_000 * rounds },
    repeated(async () => {
      const session = `call-${run}`;
      let asked = 0;
      script = (request) => {
        asked += 1;
        const { messages } = request.body as { messages: { role: string }[] };
        return messages.at(-1)?.role === "tool" || asked > 1 ? say("understood") : reply();
      };
      const end = await turn(session);
      assert.ok(
        end.state === "final" ? textOf(end) === "understood" : (end.errorMessage ?? "") !== "",
        JSON.stringify(end),
      );
      await stillUsable(session);
    }),
  );
}

test("a silent model in one session does not delay another and can be stopped", { timeout: 300_000 }, async () => {
  script = (request) => (JSON.stringify(request.body).includes("be silent") ? hang("after") : say("quick"));
  await wire.request("chat.send", {
    sessionKey: "agent:main:silent",
    message: "be silent",
    idempotencyKey: "silent-1",
  });
  assert.equal(textOf(await turn("other")), "quick");
  await wire.request("chat.abort", { sessionKey: "agent:main:silent" });
  assert.equal((await chatEnd(wire, "silent-1")).state, "aborted");
  await stillUsable("silent");
});

test("one token a second can be stopped at any time", { timeout: 300_000 }, async () => {
  script = () => drip(1000);
  await wire.request("chat.send", { sessionKey: "agent:main:drip", message: "slowly", idempotencyKey: "drip-1" });
  await new Promise((resolve) => setTimeout(resolve, 1500));
  await wire.request("chat.abort", { sessionKey: "agent:main:drip" });
  assert.equal((await chatEnd(wire, "drip-1")).state, "aborted");
  await stillUsable("drip");
});

test("ends a run that repeats the same call", { timeout: 300_000 }, async () => {
  script = (_request, index) => call("read", { path: "loop.txt" }, { id: `loop_${index}` });
  const from = requestsNow();
  const end = await turn("loop");
  assert.ok(requestsNow() - from < 15, `${requestsNow() - from} requests`);
  assert.ok(end.state === "error" || end.state === "final");
  await stillUsable("loop");
});

test(
  "two concurrent senders and many messages a second: each turn ends once, in one transcript",
  { timeout: 300_000 },
  async () => {
    script = () => say("ok");
    const second = await operator(gateway);
    const sends = Array.from({ length: 200 }, (_, i) =>
      (i % 2 === 0 ? wire : second).request("chat.send", {
        sessionKey: "agent:main:crowd",
        message: `message ${i}`,
        idempotencyKey: `crowd-${i}`,
      }),
    );
    const accepted = (await Promise.all(sends)).filter((frame) => frame.ok === true).length;
    assert.equal(accepted, 200);
    const ends = await Promise.all(
      Array.from({ length: 200 }, (_, i) => wire.request("agent.wait", { runId: `crowd-${i}`, timeoutMs: 240_000 })),
    );
    assert.equal(ends.filter((frame) => (frame.payload as { status: string }).status === "timeout").length, 0);
    second.end();
    await stillUsable("crowd");
  },
);

test("an unreachable model server is a readable error, and a fallback answers", { timeout: 300_000 }, async () => {
  const config = modelConfig(server) as { models: { providers: Record<string, object> }; agents: object };
  const dead = {
    baseUrl: "http://127.0.0.1:9/v1",
    apiKey: "sk-dead-0123456789",
    api: "openai-completions",
    models: [{ id: "gone", name: "Gone" }],
  };
  const own = await startGateway({
    config: {
      ...config,
      models: { providers: { ...config.models.providers, dead } },
      agents: { defaults: { model: { primary: "dead/gone", fallbacks: ["fake/fake-1"] } } },
    },
  });
  const client = await operator(own);
  script = () => say("from the fallback");
  assert.equal(textOf(await chat(client, "main", "hi", "fallback-1")), "from the fallback");
  client.end();
  await dispose(own);
});
