// The cron tool as an agent or a caller of tools uses it: jobs, wake-ups, words when something is wrong, another gateway.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { ask, firstRun, hourly, openJobGateway, quiet, type WireJob } from "../../harness/cron.ts";
import { call as callTool, until } from "../../harness/exec.ts";
import { call, say } from "../../fakes/openai.ts";
import type { Wire } from "../../harness/gateway.ts";
import { chat, messagesOf, textOf, type ScriptedGateway } from "../../harness/model.ts";

let runtime: ScriptedGateway;
let wire: Wire;
before(async () => {
  runtime = await openJobGateway();
  ({ wire } = runtime);
});
after(() => runtime.close());

test("status, list, add, update by jobId or id, run, runs and remove work as over the wire", async () => {
  const added = await callTool(runtime.gateway, "cron", {
    action: "add",
    job: { name: "from tool", schedule: hourly, payload: { kind: "exec", command: "echo tool" }, delivery: quiet },
  });
  const id = String(added.details["id"]);
  assert.equal(added.details["agentId"], "main");
  assert.equal(Number((await callTool(runtime.gateway, "cron", { action: "status" })).details["jobs"]) > 0, true);
  assert.match((await callTool(runtime.gateway, "cron", { action: "list" })).text, /from tool/);
  for (const named of [{ jobId: id }, { id }]) {
    const { details } = await callTool(runtime.gateway, "cron", {
      action: "update",
      ...named,
      patch: { name: "renamed" },
    });
    assert.equal(details["name"], "renamed");
  }
  assert.equal((await callTool(runtime.gateway, "cron", { action: "run", jobId: id })).details["ran"], true);
  await firstRun(wire, id);
  assert.match(
    (await callTool(runtime.gateway, "cron", { action: "runs", jobId: id, limit: 5 })).text,
    /"summary": "tool"/,
  );
  assert.deepEqual((await callTool(runtime.gateway, "cron", { action: "remove", jobId: id })).details, {
    ok: true,
    removed: true,
  });
});

test("converts numbers and flags sent as text, and rejects others with the expected form", async () => {
  const payload = { kind: "exec", command: "true", timeout: "30" };
  const made = [
    {
      job: { name: "t1", schedule: { kind: "every", everyMs: "3600000" }, payload, enabled: "false", delivery: quiet },
    },
    { name: "t2", everyMs: "3600000", command: "true", enabled: "False", delivery: quiet },
  ];
  for (const job of made) {
    const { details, text } = await callTool(runtime.gateway, "cron", { action: "add", ...job });
    const { schedule, enabled, id } = details as { schedule?: { everyMs: number }; enabled?: boolean; id?: string };
    assert.deepEqual([schedule?.everyMs, enabled], [3_600_000, false], text);
    const update = { action: "update", jobId: id, patch: { schedule: { kind: "every", everyMs: "7200000" } } };
    const { details: after } = await callTool(runtime.gateway, "cron", update);
    assert.equal((after as { schedule?: { everyMs: number } }).schedule?.everyMs, 7_200_000);
    await callTool(runtime.gateway, "cron", { action: "remove", jobId: id });
  }
  const { text } = await callTool(runtime.gateway, "cron", {
    action: "add",
    job: { name: "t3", schedule: { kind: "every", everyMs: "an hour" }, payload },
  });
  assert.match(text, /schedule\.everyMs must be a number of milliseconds.*, not "an hour"/);
});

test("accepts the fields of a job without a job object around them", async () => {
  const { details } = await callTool(runtime.gateway, "cron", {
    action: "add",
    name: "flat",
    everyMs: hourly.everyMs,
    text: "hi",
  });
  assert.deepEqual(details["payload"], { kind: "systemEvent", text: "hi" });
  await callTool(runtime.gateway, "cron", { action: "remove", id: details["id"] });
});

test("wake queues a line for the session, now or with the next heartbeat", async () => {
  runtime.script = ({ content }) => say(String(content).includes("the bell") ? "ding" : "hello");
  const before = runtime.server.requests.length;
  const { details } = await callTool(runtime.gateway, "cron", { action: "wake", text: "the bell rang" });
  assert.deepEqual(details, { ok: true, mode: "now" });
  await until(
    () => runtime.server.requests.slice(before).map((request) => JSON.stringify(messagesOf(request).at(-1))),
    (heard) => heard.some((text) => text.includes("the bell rang")),
  );
  const later = await callTool(runtime.gateway, "cron", { action: "wake", text: "later", mode: "next-heartbeat" });
  assert.deepEqual(later.details, { ok: true, mode: "next-heartbeat" });
  assert.match((await callTool(runtime.gateway, "cron", { action: "wake" })).text, /missing "text"/);
});

test("refuses an unknown action and wrong fields with a message a model can act on", async () => {
  assert.equal((await callTool(runtime.gateway, "cron", { action: "dance" })).error?.type, "tool.bad-arguments");
  const { error } = await callTool(runtime.gateway, "cron", {
    action: "add",
    job: { name: "x", schedule: { kind: "every", everyMs: 1 }, text: "x" },
  });
  assert.equal(error?.type, "cron.invalid");
  assert.match(error?.message ?? "", /at least 1000/);
});

test("an agent adds a reminder for itself in the owner's turn", async () => {
  let asked = false;
  runtime.script = ({ role }) => {
    if (role === "tool") return say("Noted.");
    if (asked) return say("hello");
    asked = true;
    return call("cron", { action: "add", job: { name: "own reminder", schedule: { at: "3h" }, text: "stretch" } });
  };
  assert.equal(textOf(await chat(wire, "main", "remind me in three hours", "run-remind")), "Noted.");
  const { jobs } = await ask<{ jobs: WireJob[] }>(wire, "cron.list", {});
  const job = jobs.find(({ name }) => name === "own reminder");
  assert.deepEqual([job?.agentId, job?.schedule["kind"], job?.sessionTarget], ["main", "at", "main"]);
});

test("gatewayUrl needs an explicit gatewayToken; with both the other gateway answers by its own rules", async () => {
  const url = `ws://127.0.0.1:${runtime.gateway.port}`;
  const bare = await callTool(runtime.gateway, "cron", { action: "status", gatewayUrl: url });
  assert.match(bare.text, /missing "gatewayToken"/);
  const wrong = await callTool(runtime.gateway, "cron", { action: "status", gatewayUrl: url, gatewayToken: "wrong" });
  assert.ok(wrong.error !== undefined);
  const right = await callTool(runtime.gateway, "cron", {
    action: "status",
    gatewayUrl: url,
    gatewayToken: runtime.gateway.token,
    timeoutMs: 60_000,
  });
  assert.equal(right.details["enabled"], true);
  const far = await callTool(runtime.gateway, "cron", {
    action: "status",
    gatewayUrl: "ws://203.0.113.7:1",
    gatewayToken: "x",
  });
  assert.match(far.text, /must be on this machine/);
});

test("a job made in a chat delivers there, its rows say so, and its output can be paged", async () => {
  runtime.script = () => say("hello");
  const chatKey = "agent:main:kitchen";
  await chat(wire, chatKey, "begin", "kitchen-1");
  const inChat = { body: { sessionKey: chatKey } };
  const added = await callTool(
    runtime.gateway,
    "cron",
    { action: "add", job: { name: "count", schedule: hourly, payload: { kind: "exec", command: "seq 1 600" } } },
    inChat,
  );
  const id = String(added.details["id"]);
  assert.equal(added.details["sessionKey"], chatKey);
  await callTool(runtime.gateway, "cron", { action: "run", jobId: id, runMode: "force" }, inChat);
  const run = await firstRun(wire, id);
  assert.equal(run.deliversTo, chatKey);
  const { messages } = await ask<{ messages: unknown[] }>(wire, "chat.history", { sessionKey: chatKey });
  assert.match(JSON.stringify(messages.at(-1)), /count:.*599/);
  const page = await callTool(runtime.gateway, "cron", {
    action: "runs",
    jobId: id,
    slot: run.slot,
    offset: 200,
    limit: 3,
  });
  assert.equal(page.text, "[offset 200 to 202 of 600; continue with offset 203]\n201\n202\n203");
  const other = await callTool(runtime.gateway, "cron", { action: "runs", jobId: id, slot: "1" });
  assert.equal(other.error?.type, "cron.no-output");
  await callTool(runtime.gateway, "cron", { action: "remove", jobId: id });
});

test("a reminder quotes the last messages when contextMessages asks for them", async () => {
  runtime.script = () => say("the oven is on");
  const chatKey = "agent:main:oven";
  await chat(wire, chatKey, "is it hot?", "oven-1");
  const { details } = await callTool(
    runtime.gateway,
    "cron",
    {
      action: "add",
      contextMessages: "2",
      job: { name: "oven", schedule: { kind: "at", at: "3h" }, text: "check it" },
    },
    { body: { sessionKey: chatKey } },
  );
  assert.match(
    String((details["payload"] as { text: string }).text),
    /^check it\n\nRecent messages when this was set:\n- User: .*is it hot\?\n- Assistant: the oven is on$/,
  );
  await callTool(runtime.gateway, "cron", { action: "remove", jobId: details["id"] });
});
