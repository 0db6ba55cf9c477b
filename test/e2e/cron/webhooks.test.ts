// Webhooks through the front door: who may send them, what they do, and that each is done once.
import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { until } from "../../harness/exec.ts";
import { say } from "../../fakes/openai.ts";
import { HOOK_TOKEN, hook, openHookGateway, writeScript, type HookGateway } from "../../harness/hook.ts";
import { noShared, operator, shared } from "../../harness/gateway.ts";
import { chat, startWithModel, textOf } from "../../harness/model.ts";
import { textOf as contentText } from "../../../src/core/message.ts";

let runtime: HookGateway;
before(async () => {
  runtime = await openHookGateway({
    maxBodyBytes: 20_000,
    mappings: [
      { id: "first", match: { path: "both" }, action: "wake", textTemplate: "first: {{a[0].b}}" },
      { id: "second", match: { path: "both" }, action: "wake", textTemplate: "second" },
      {
        id: "by-source",
        match: { source: "github" },
        action: "agent",
        name: "Git {{repo}}",
        messageTemplate: "push to {{repo}}",
      },
      {
        id: "trusted",
        match: { path: "trusted" },
        action: "agent",
        messageTemplate: "{{order}}",
        allowUnsafeExternalContent: true,
      },
      { id: "script", match: { path: "script" }, transform: { module: "make.mjs", export: "make" } },
      { id: "skip", match: { path: "skip" }, transform: { module: "skip.mjs" } },
      { id: "throws", match: { path: "throws" }, transform: { module: "throws.mjs" } },
      { id: "hangs", match: { path: "hangs" }, transform: { module: "hangs.mjs" } },
      { id: "exits", match: { path: "exits" }, transform: { module: "exits.mjs" } },
      { id: "nonsense", match: { path: "nonsense" }, transform: { module: "nonsense.mjs" } },
    ],
    presets: ["gmail"],
  });
  const folder = join(runtime.gateway.state, "hooks", "transforms");
  writeScript(
    folder,
    "make.mjs",
    `export const make = ({ payload, headers, path }) => ({ kind: "agent", name: "Made", message: "made of " + payload.x + " at " + path + " " + JSON.stringify(headers) + " " + JSON.stringify(Object.keys(process.env)) });`,
  );
  writeScript(folder, "skip.mjs", "export default async () => null;");
  writeScript(folder, "throws.mjs", "export default () => { throw new Error('not today'); };");
  writeScript(folder, "hangs.mjs", "export default () => { for (;;); };");
  writeScript(folder, "exits.mjs", "export default () => { process.exit(3); };");
  writeScript(folder, "nonsense.mjs", "export default () => ({ kind: 'agent', message: 'x', shell: 'rm' });");
});
after(() => runtime.close());

const heardOf = (words: string, from = 0): Promise<string> =>
  until(
    () =>
      runtime
        .received()
        .slice(from)
        .find((text) => text.includes(words)) ?? "",
    (found) => found !== "",
  );

test("App. E 14: a wrong token is 401 in plain text, also the gateway's own token", async () => {
  for (const authorization of [undefined, "Bearer wrong", `Bearer ${runtime.gateway.token}`, `Basic ${HOOK_TOKEN}`]) {
    const { status, type, text } = await hook(runtime.gateway, "/wake", { text: "t" }, { authorization });
    assert.deepEqual({ status, type, text }, { status: 401, type: "text/plain", text: "Unauthorized" });
  }
});

test("App. E 14: missing text is 400, oversized is 413, an agent hook is 202", async () => {
  const missing = await hook(runtime.gateway, "/wake", {});
  assert.deepEqual([missing.status, missing.body], [400, { ok: false, error: "text required" }]);
  const large = await hook(runtime.gateway, "/wake", { text: "x".repeat(30_000) });
  assert.equal(large.status, 413);
  assert.equal(large.body["ok"], false);
  const ran = await hook(runtime.gateway, "/agent", { message: "look", deliver: false, wakeMode: "next-heartbeat" });
  assert.equal(ran.status, 202);
  assert.deepEqual(Object.keys(ran.body), ["ok", "runId"]);
});

test("accepts x-openclaw-token like a bearer token; refuses a token in the URL with the reason", async () => {
  const own = await hook(
    runtime.gateway,
    "/wake",
    { text: "t", mode: "next-heartbeat" },
    { authorization: undefined, "x-openclaw-token": HOOK_TOKEN },
  );
  assert.deepEqual([own.status, own.body], [200, { ok: true, mode: "next-heartbeat" }]);
  for (const authorization of [undefined, `Bearer ${HOOK_TOKEN}`]) {
    const inUrl = await hook(runtime.gateway, `/wake?token=${HOOK_TOKEN}`, { text: "from the url" }, { authorization });
    assert.equal(inUrl.status, 400);
    assert.match(inUrl.text, /logs.*Authorization: Bearer/);
    assert.ok(!inUrl.text.includes(HOOK_TOKEN));
  }
  assert.ok(!runtime.gateway.output().includes(HOOK_TOKEN));
});

test("other HTTP methods are 405; paths without a rule and the root are 404", async () => {
  const got = await hook(runtime.gateway, "/wake", undefined, {}, "GET");
  assert.deepEqual([got.status, got.headers.get("allow"), got.type], [405, "POST", "text/plain"]);
  for (const path of ["/zzz", "", "/wake/more"]) {
    const { status, type } = await hook(runtime.gateway, path, {});
    assert.deepEqual([status, type], [404, "text/plain"], path);
  }
});

test("invalid bodies are 400 or 415 with a reason: not JSON, duplicate keys, a list, another type, unknown fields", async () => {
  const cases: readonly (readonly [unknown, RegExp])[] = [
    ["{nope", /not JSON/],
    ['{"text":"a","text":"b"}', /text/],
    ["[1]", /object/],
    [{ text: "x", color: "red" }, /unknown field "color"/],
    [{ text: 7 }, /text must be a string/],
    [{ text: "  " }, /text required/],
  ];
  for (const [body, words] of cases) {
    const { status, body: answer } = await hook(runtime.gateway, "/wake", body);
    assert.deepEqual([status, answer["ok"]], [400, false], JSON.stringify(body));
    assert.match(String(answer["error"]), words);
  }
  const other = await hook(runtime.gateway, "/wake", "text=x", { "content-type": "application/x-www-form-urlencoded" });
  assert.equal(other.status, 415);
  const agent: readonly (readonly [Record<string, unknown>, RegExp])[] = [
    [{ message: "x", channel: "zzz" }, /channel must be last/],
    [{ message: "x", thinking: "deeply" }, /thinking must be one of/],
    [{ message: "x", timeoutSeconds: -1 }, /timeoutSeconds/],
    [{ message: "x", deliver: "yes" }, /deliver must be/],
    [{ message: "x", model: "" }, /model must/],
    [{ message: "x", agentId: "ghost" }, /no agent "ghost"/],
    [{}, /message required/],
  ];
  for (const [body, words] of agent) {
    const { status, body: answer } = await hook(runtime.gateway, "/agent", body);
    assert.equal(status, 400, JSON.stringify(body));
    assert.match(String(answer["error"]), words);
  }
});

test("treats an unknown mode as now, as recorded", async () => {
  const { status, body } = await hook(runtime.gateway, "/wake", { text: "whatever", mode: "zzz" });
  assert.deepEqual([status, body], [200, { ok: true, mode: "now" }]);
  await heardOf("whatever");
});

test("wake posts a line to the main session and, with now, gives it a turn immediately", async () => {
  await hook(runtime.gateway, "/wake", { text: "the kettle boils" });
  const told = await heardOf("the kettle boils");
  assert.match(told, /^System: .*untrusted content.*the kettle boils/m);
});

test("wake with next-heartbeat waits for the next turn", async () => {
  await hook(runtime.gateway, "/wake", { text: "the bread rises", mode: "next-heartbeat" });
  await sleep(700);
  assert.ok(!runtime.received().some((text) => text.includes("the bread rises")));
  await runtime.wire.request("chat.send", { sessionKey: "main", message: "hello", idempotencyKey: "after-bread" });
  assert.match(await heardOf("the bread rises"), /hello$/);
});

test("agent runs in its own session; the main session shows its answer and receives a summary", async () => {
  runtime.script = (text) => say(text.includes("the printer") ? "Paper is out." : "HEARTBEAT_OK");
  const { status, body } = await hook(runtime.gateway, "/agent", { message: "what of the printer", name: "Office" });
  assert.equal(status, 202);
  const told = await heardOf("Webhook Office ran");
  assert.match(told, /System: .*Webhook Office ran; its result \(made from untrusted content: .*\): Paper is out\./);
  const asked = runtime.received().find((text) => text.includes("what of the printer"));
  assert.match(asked ?? "", /<outside [0-9a-f]+ source="webhook Office">\nwhat of the printer\n<\/outside/);
  const history = await runtime.wire.call("chat.history", { sessionKey: "main" });
  const said = history.messages.filter(
    ({ role, content }) => role === "assistant" && contentText(content) === "Paper is out.",
  );
  assert.equal(said.length, 1);
  const listed = await runtime.wire.call("sessions.list", {});
  assert.ok(listed.sessions.some(({ key }) => key === `agent:main:hook:${String(body["runId"])}`));
  runtime.script = () => say("done");
});

test("model, thinking and timeoutSeconds apply to the run; a run that takes too long is reported as such", async () => {
  runtime.script = (text) => (text.includes("slowly") ? { kind: "hang", when: "after" } : say("HEARTBEAT_OK"));
  const { status } = await hook(runtime.gateway, "/agent", {
    message: "slowly",
    name: "Slow",
    model: "fake/fake-1",
    thinking: "low",
    timeoutSeconds: 1,
  });
  assert.equal(status, 202);
  assert.match(await heardOf("Webhook Slow"), /Webhook Slow failed \(run\.timeout\)/);
  runtime.script = () => say("done");
});

test("uses the first matching rule; templates read the payload", async () => {
  await hook(runtime.gateway, "/both", { a: [{ b: "berry" }] });
  assert.match(await heardOf("first: berry"), /Webhook first sent this .*first: berry/);
  assert.ok(!runtime.received().some((text) => text.includes("second")));
});

test("a rule can match the source in the payload and take its name from it", async () => {
  const { status } = await hook(runtime.gateway, "/anything/else", { source: "github", repo: "acme/web" });
  assert.equal(status, 202);
  assert.match(await heardOf("push to acme/web"), /webhook Git acme\/web/);
});

test("the gmail preset: one session per mail, with sender and subject in the message", async () => {
  const mail = {
    messages: [{ id: "18c", from: "ann@x.org", subject: "Tea", snippet: "at four?", body: "Bring cake." }],
  };
  assert.equal((await hook(runtime.gateway, "/gmail", mail)).status, 202);
  const told = await heardOf("ann@x.org");
  assert.match(told, /Subject: Tea\n\nat four\?\nBring cake\./);
  const listed = await runtime.wire.call("sessions.list", {});
  assert.ok(listed.sessions.some(({ key }) => key === "agent:main:hook:gmail:18c"));
});

test("does not mark text that the owner declared trusted", async () => {
  await hook(runtime.gateway, "/trusted", { order: "water the plants" });
  assert.ok(!(await heardOf("water the plants")).includes("<outside"));
});

test("a transform builds the action; it sees neither credentials nor our environment", async () => {
  const { status } = await hook(runtime.gateway, "/script", { x: 5 }, { "x-event": "push" });
  assert.equal(status, 202);
  const told = await heardOf("made of 5 at script");
  assert.match(told, /"x-event":"push"/);
  assert.ok(!told.includes(HOOK_TOKEN));
  assert.match(told, /\} \[\]/);
});

test("a transform that returns null ends in 204 without any effect", async () => {
  const { status, text } = await hook(runtime.gateway, "/skip", { x: "unheard of" });
  assert.deepEqual([status, text], [204, ""]);
  await sleep(600);
  assert.ok(!runtime.received().some((words) => words.includes("unheard of") || words.includes("Webhook skip")));
});

test("F13: a transform that throws, hangs, exits or returns nonsense is 500 for that rule only; the gateway stays up", async () => {
  for (const [path, words] of [
    ["/throws", /not today/],
    ["/hangs", /longer than 5 s/],
    ["/exits", /thread ended/],
    ["/nonsense", /unknown field "shell"/],
  ] as const) {
    const { status, body } = await hook(runtime.gateway, path, {});
    assert.equal(status, 500, path);
    assert.match(String(body["error"]), words);
  }
  assert.equal((await hook(runtime.gateway, "/script", { x: 6 })).status, 202);
  assert.equal(runtime.gateway.process.exitCode, null);
});

test("runs the same delivery once and repeats its answer, with any of the three headers, also concurrently", async () => {
  for (const header of ["x-openclaw-delivery", "x-github-delivery", "idempotency-key"]) {
    const send = () =>
      hook(runtime.gateway, "/agent", { message: `once by ${header}`, deliver: false }, { [header]: "d-1" });
    const [one, two] = await Promise.all([send(), send()]);
    const three = await send();
    assert.deepEqual([one.status, two.body, three.body], [202, one.body, one.body]);
    await heardOf(`once by ${header}`);
  }
  await sleep(500);
  assert.equal(runtime.received().filter((text) => text.includes("once by x-github-delivery\n</outside")).length, 1);
  const other = await hook(runtime.gateway, "/agent", { message: "other words" }, { "x-openclaw-delivery": "d-1" });
  assert.deepEqual([other.status, other.body["ok"]], [400, false]);
  const refused = await hook(runtime.gateway, "/agent", {}, { "x-openclaw-delivery": "d-2" });
  const fixed = await hook(runtime.gateway, "/agent", { message: "fixed" }, { "x-openclaw-delivery": "d-2" });
  assert.deepEqual([refused.status, fixed.status], [400, 202]);
});

interface Recorded {
  readonly request: {
    readonly method: string;
    readonly path: string;
    readonly headers: readonly string[];
    readonly body?: unknown;
  };
  readonly status: number | null;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
}

test(
  "answers every recorded webhook request with the status, type and keys of the published release",
  { skip: noShared },
  async () => {
    const all = JSON.parse(readFileSync(join(shared, "golden", "http.json"), "utf8")) as Record<string, Recorded>;
    // The published release resets the connection there; its own documents say 413.
    const names = Object.keys(all).filter((name) => name.startsWith("hooks: ") && name !== "hooks: too large");
    assert.ok(names.length >= 14);
    for (const name of names) {
      const { request, status, headers, body } = all[name] as Recorded;
      const token = name.includes("gateway token") ? runtime.gateway.token : HOOK_TOKEN;
      const answer = await hook(
        runtime.gateway,
        request.path.replace(/^\/hooks/, "").replace("<hook-token>", HOOK_TOKEN),
        request.body,
        {
          authorization: request.headers.includes("authorization") ? `Bearer ${token}` : undefined,
          "x-openclaw-token": request.headers.includes("x-openclaw-token") ? HOOK_TOKEN : undefined,
        },
        request.method,
      );
      const recorded = { status, type: headers["content-type"]?.split(";")[0], allow: headers["allow"] ?? null };
      assert.deepEqual(
        { status: answer.status, type: answer.type, allow: answer.headers.get("allow") },
        recorded,
        name,
      );
      if (typeof body === "object") {
        const { hint: _ours, ...rest } = answer.body;
        assert.deepEqual(Object.keys(rest), Object.keys(body ?? {}), name);
      }
    }
  },
);

test("App. E 7: applies an edit of hooks immediately, without a restart", async () => {
  const file = join(runtime.gateway.state, "openclaw.json");
  writeFileSync(file, readFileSync(file, "utf8").replace('"maxBodyBytes"', '"path": "/other", "maxBodyBytes"'));
  const moved = async (): Promise<number> => {
    const { status } = await fetch(`${runtime.gateway.url}/other/wake`, {
      method: "POST",
      headers: { authorization: `Bearer ${HOOK_TOKEN}`, "content-type": "application/json" },
      body: '{"text":"moved","mode":"next-heartbeat"}',
    });
    return status;
  };
  assert.equal(await until(moved, (status) => status === 200), 200);
  const hello = await runtime.wire.request("health", {});
  assert.equal(hello.ok, true, "the connection from before is still there");
});

test("a changed secret replaces the old one immediately", async (t) => {
  const own = await openHookGateway();
  t.after(() => own.close());
  const file = join(own.gateway.state, "openclaw.json");
  writeFileSync(file, readFileSync(file, "utf8").replace(HOOK_TOKEN, "rotated-token-0123456789"));
  const wake = (token: string) =>
    hook(own.gateway, "/wake", { text: "t", mode: "next-heartbeat" }, { authorization: `Bearer ${token}` });
  await until(
    async () => (await wake("rotated-token-0123456789")).status,
    (status) => status === 200,
  );
  assert.equal((await wake(HOOK_TOKEN)).status, 401);
});

test("a flood of webhooks does not delay a chat", async (t) => {
  const own = await openHookGateway();
  t.after(() => own.close());
  own.script = (text) => (text.includes("flood") ? { kind: "hang", when: "after" } : say("here you are"));
  const flood = Array.from({ length: 20 }, (_, index) => hook(own.gateway, "/agent", { message: `flood ${index}` }));
  assert.ok((await Promise.all(flood)).every(({ status }) => status === 202));
  await until(
    () => own.received().length,
    (count) => count >= 4,
  );
  assert.equal(textOf(await chat(own.wire, "main", "hello", "beside-the-flood")), "here you are");
});

test("recognizes a delivery after a restart, and the next process reports the run to the main session", async (t) => {
  const own = await openHookGateway();
  t.after(() => own.close());
  own.script = (text) => (text.includes("before the end") ? { kind: "hang", when: "after" } : say("HEARTBEAT_OK"));
  const send = () =>
    hook(own.gateway, "/agent", { message: "before the end", name: "Late" }, { "idempotency-key": "k" });
  const first = await send();
  await until(
    () => own.received().length,
    (count) => count > 0,
  );
  own.wire.end();
  await own.gateway.stop("SIGKILL");
  own.gateway = await startWithModel(own.server, {
    home: own.gateway.home,
    more: { hooks: { enabled: true, token: HOOK_TOKEN } },
  });
  own.wire = await operator(own.gateway);
  assert.deepEqual((await send()).body, first.body);
  const told = await until(
    () => own.received().find((text) => text.includes("Webhook Late")) ?? "",
    (found) => found !== "",
  );
  assert.match(told, /Webhook Late failed \(run\.interrupted\)/);
  assert.equal(own.received().filter((text) => text.includes("before the end\n</outside")).length, 1);
});

test("slows down wrong webhook tokens but not right ones, and counts the gateway's secret separately", async (t) => {
  const own = await openHookGateway();
  t.after(() => own.close());
  const guess = () => hook(own.gateway, "/wake", { text: "t" }, { authorization: "Bearer guess" });
  for (let index = 0; index < 10; index++) assert.equal((await guess()).status, 401);
  const slowed = await guess();
  assert.equal(slowed.status, 429);
  assert.ok(Number(slowed.headers.get("retry-after")) > 0);
  assert.equal((await hook(own.gateway, "/wake", { text: "t" })).status, 200, "the right token is not held back");
  const invoked = await fetch(`${own.gateway.url}/tools/invoke`, {
    method: "POST",
    headers: { authorization: `Bearer ${own.gateway.token}`, "content-type": "application/json" },
    body: '{"tool":"agents_list"}',
  });
  assert.equal(invoked.status, 200);
});

test("with hooks.signing every webhook must be signed and recent, and is accepted once", async (t) => {
  const own = await openHookGateway({ signing: { secret: "signing-secret-12345", toleranceSeconds: 60 } });
  t.after(() => own.close());
  const body = JSON.stringify({ text: "signed news", mode: "next-heartbeat" });
  const signed = (at: number, secret = "signing-secret-12345"): Record<string, string> => ({
    "x-openclaw-timestamp": String(at),
    "x-openclaw-signature": `sha256=${createHmac("sha256", secret).update(`${at}.${body}`).digest("hex")}`,
  });
  const now = Math.floor(Date.now() / 1000);
  const statuses = [];
  for (const headers of [{}, signed(now, "another"), signed(now - 3600), signed(now), signed(now)])
    statuses.push((await hook(own.gateway, "/wake", body, headers)).status);
  assert.deepEqual(statuses, [401, 401, 401, 200, 200]);
  await own.wire.request("chat.send", { sessionKey: "main", message: "hi", idempotencyKey: "signed" });
  const told = await until(
    () => own.received().find((text) => text.includes("signed news")) ?? "",
    (found) => found !== "",
  );
  assert.equal(told.split("signed news").length, 2, "told once");
});

test("without hooks.enabled the page answers that path and no webhook is accepted", async (t) => {
  const own = await openHookGateway({ enabled: false });
  t.after(() => own.close());
  const { status } = await hook(own.gateway, "/wake", { text: "t" });
  assert.ok(status === 404 || status === 405, String(status));
});
