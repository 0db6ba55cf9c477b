// F15 through the front door: a session outgrows its model in chat, in the tool loop and in the summary itself. It always
// ends usable and the person is told. OPENCLAW_CONTEXT_ROUNDS=300 for the full rounds (18 by default, each kind of summary twice).
import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";

import {
  call,
  drop,
  empty,
  fail,
  refuse,
  say,
  startFakeOpenAI,
  type FakeRequest,
  type FakeServer,
  type Reply,
} from "../../fakes/openai.ts";
import { dispose, operator, startGateway, type TestGateway, type Wire } from "../../harness/gateway.ts";
import { chatEnd, modelConfig, textOf, type ChatEnd } from "../../harness/model.ts";

const rounds = Number(process.env["OPENCLAW_CONTEXT_ROUNDS"] ?? 9);
/** What the config says; the server is stricter in most rounds. */
const WINDOW = 32_000;

interface Message {
  readonly role: string;
  readonly content: unknown;
}

const tooLong = (): Reply =>
  fail(400, {
    error: {
      message: "This model's maximum context length is smaller than what was sent.",
      type: "invalid_request_error",
      param: "messages",
      code: "context_length_exceeded",
    },
  });

/** How the model takes being asked for a summary. */
const summaries: Record<string, () => Reply> = {
  "sums up": () => say("They sent long messages; the mark is kept."),
  "overflows in the summary": tooLong,
  "refuses to sum up": () => refuse("I cannot help with that."),
  "gives an empty summary": empty,
  "gives a summary of blanks": () => say(" \n\t "),
  "loses the line in the summary": () => drop("middle"),
  "writes a summary longer than what it sums up": () => say("and then ".repeat(30_000)),
  "fails at the summary": () => fail(400, { error: { message: "bad request", type: "invalid_request_error" } }),
  "answers the summary with a call": () => call("exec", { command: "touch escaped" }),
};
const places = ["in chat", "in the tool loop", "in one message"] as const;

interface Round {
  readonly place: (typeof places)[number];
  readonly summary: string;
  /** Tokens the server really takes. */
  readonly limit: number;
  calls: number;
}

const plans = new Map<string, Round>();
let server: FakeServer;
let gateway: TestGateway;
let wire: Wire;

before(async () => {
  server = await startFakeOpenAI((request) => answer(request));
  const config = modelConfig(server);
  const providers = config["models"] as { providers: { fake: { models: { contextWindow: number }[] } } };
  for (const model of providers.providers.fake.models) model.contextWindow = WINDOW;
  gateway = await startGateway({ config });
  wire = await operator(gateway, { client: { mode: "backend" } });
  mkdirSync(gateway.workspace, { recursive: true });
  const lines = Array.from({ length: 4000 }, (_, line) => `line ${line} of a long file with words in it`);
  writeFileSync(join(gateway.workspace, "big.txt"), lines.join("\n"));
});
after(async () => {
  wire.end();
  await dispose(gateway);
  await server.close();
});

function answer({ body }: FakeRequest): Reply {
  const { messages, tools } = body as { messages: Message[]; tools?: unknown };
  const all = JSON.stringify(messages);
  const plan = plans.get(/mark-(\d+)-/.exec(all)?.[0] ?? "");
  if (plan === undefined) return say("I know of no mark.");
  const system = JSON.stringify(messages[0]?.content ?? "");
  const tokens = (all.length + (tools === undefined ? 0 : JSON.stringify(tools).length)) / 4;
  if (system.includes("You summarize a conversation")) return (summaries[plan.summary] ?? tooLong)();
  if (tokens > plan.limit) return tooLong();
  const asked = JSON.stringify(messages.findLast(({ role }) => role === "user")?.content ?? "");
  if (asked.includes("[memory]")) return say("NO_REPLY");
  if (plan.place === "in the tool loop" && asked.includes("read it all") && plan.calls < 6)
    return call("read", { path: "big.txt", offset: 1 + 300 * plan.calls++, limit: 300 });
  return say(asked.includes("still there") ? "still here" : "taken in");
}

/** Lost lines are tried again with pauses: a turn may take long, and still ends. */
async function talk(sessionKey: string, message: string, runId: string): Promise<ChatEnd> {
  const sent = await wire.request("chat.send", { sessionKey, message, idempotencyKey: runId });
  assert.equal(sent.ok, true, JSON.stringify(sent.error));
  return chatEnd(wire, runId, 180_000);
}

async function fill(plan: Round, mark: string, session: string): Promise<void> {
  const send = async (text: string, run: string): Promise<void> => {
    const end = await talk(session, `${mark} ${text}`, `${mark}${run}`);
    // A turn may fail; then it says so.
    if (end.state === "error") assert.match(end.errorMessage ?? "", /\w{3}/, "a failure without words");
    else assert.equal(end.state, "final");
  };
  if (plan.place === "in the tool loop") {
    await send("read it all", "a");
    await send("read it all once more", "b");
  } else if (plan.place === "in one message") {
    await send("hello", "a");
    await send("enormous ".repeat((WINDOW * 4) / 6), "b");
  } else for (let at = 0; at < 7; at++) await send(`part ${at} ${"some words ".repeat(2200)}`, String(at));
}

const notices = (session: string): string[] =>
  wire.frames.flatMap(({ event, payload }) => {
    if (event !== "agent") return [];
    const { sessionKey, stream, data } = payload as {
      sessionKey: string;
      stream: string;
      data: { text?: string };
    };
    return sessionKey === session && stream === "notice" ? [data.text ?? ""] : [];
  });

async function play(round: number): Promise<void> {
  const names = Object.keys(summaries);
  const plan: Round = {
    summary: names[round % names.length] ?? "sums up",
    place: places[(round + Math.floor(round / names.length)) % places.length] ?? "in chat",
    limit: [WINDOW, 24_000, 16_000, 12_000][round % 4] ?? WINDOW,
    calls: 0,
  };
  const mark = `mark-${round}-`;
  const session = `agent:main:context-${round}`;
  plans.set(mark, plan);
  const what = `${plan.place}, the model ${plan.summary}, takes ${plan.limit} tokens`;
  try {
    await fill(plan, mark, session);
    const end = await talk(session, `${mark} still there?`, `${mark}end`);
    assert.deepEqual([end.state, textOf(end)], ["final", "still here"], `${what}: ${end.errorMessage ?? ""}`);
    assert.ok(notices(session).length > 0, `${what}: no system message was posted`);
    const again = await talk(session, `${mark} still there?`, `${mark}again`);
    assert.equal(textOf(again), "still here", what);
  } finally {
    plans.delete(mark);
  }
}

for (let at = 0; at < rounds; at += 9) {
  const batch = Array.from({ length: Math.min(9, rounds - at) }, (_, index) => at + index);
  test(`rounds ${at} to ${at + batch.length - 1}: after every kind of summary the session is usable and the person is informed`, async () => {
    for (let pair = 0; pair < batch.length; pair += 3) await Promise.all(batch.slice(pair, pair + 3).map(play));
    wire.frames.length = 0;
  });
}
