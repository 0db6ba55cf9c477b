// The cron tool as an agent or a caller of tools uses it: jobs, wake-ups, words when something is wrong, another gateway.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { ask, firstRun, hourly, openJobHouse, quiet, type WireJob } from "../cron-kit.ts";
import { call as callTool, until } from "../exec-kit.ts";
import { call, say } from "../fakes/openai.ts";
import type { Wire } from "../kit.ts";
import { chat, messagesOf, textOf, type ScriptedHouse } from "../model-kit.ts";

let house: ScriptedHouse;
let wire: Wire;
before(async () => {
  house = await openJobHouse();
  ({ wire } = house);
});
after(() => house.close());

test("status, list, add, update by jobId or id, run, runs, remove: as the RPC", async () => {
  const added = await callTool(house.gateway, "cron", {
    action: "add",
    job: { name: "from tool", schedule: hourly, payload: { kind: "exec", command: "echo tool" }, delivery: quiet },
  });
  const id = String(added.details["id"]);
  assert.equal(added.details["agentId"], "main");
  assert.equal(Number((await callTool(house.gateway, "cron", { action: "status" })).details["jobs"]) > 0, true);
  assert.match((await callTool(house.gateway, "cron", { action: "list" })).text, /from tool/);
  for (const named of [{ jobId: id }, { id }]) {
    const { details } = await callTool(house.gateway, "cron", {
      action: "update",
      ...named,
      patch: { name: "renamed" },
    });
    assert.equal(details["name"], "renamed");
  }
  assert.equal((await callTool(house.gateway, "cron", { action: "run", jobId: id })).details["ran"], true);
  await firstRun(wire, id);
  assert.match(
    (await callTool(house.gateway, "cron", { action: "runs", jobId: id, limit: 5 })).text,
    /"summary": "tool"/,
  );
  assert.deepEqual((await callTool(house.gateway, "cron", { action: "remove", jobId: id })).details, {
    ok: true,
    removed: true,
  });
});

test("fields given flat, without a job around them, are the job", async () => {
  const { details } = await callTool(house.gateway, "cron", {
    action: "add",
    name: "flat",
    everyMs: hourly.everyMs,
    text: "hi",
  });
  assert.deepEqual(details["payload"], { kind: "systemEvent", text: "hi" });
  await callTool(house.gateway, "cron", { action: "remove", id: details["id"] });
});

test("wake queues a line for the session, now or with the next heartbeat", async () => {
  house.script = ({ content }) => say(String(content).includes("the bell") ? "ding" : "hello");
  const before = house.server.requests.length;
  const { details } = await callTool(house.gateway, "cron", { action: "wake", text: "the bell rang" });
  assert.deepEqual(details, { ok: true, mode: "now" });
  await until(
    () => house.server.requests.slice(before).map((request) => JSON.stringify(messagesOf(request).at(-1))),
    (heard) => heard.some((text) => text.includes("the bell rang")),
  );
  const later = await callTool(house.gateway, "cron", { action: "wake", text: "later", mode: "next-heartbeat" });
  assert.deepEqual(later.details, { ok: true, mode: "next-heartbeat" });
  assert.match((await callTool(house.gateway, "cron", { action: "wake" })).text, /wake needs text/);
});

test("help says the whole schema; an unknown action and wrong fields are words a model can act on", async () => {
  assert.match(
    (await callTool(house.gateway, "cron", { action: "help" })).text,
    /schedule, one of[\s\S]*payload, one of/,
  );
  assert.equal((await callTool(house.gateway, "cron", { action: "dance" })).error?.type, "tool.bad-arguments");
  const { error } = await callTool(house.gateway, "cron", {
    action: "add",
    job: { name: "x", schedule: { kind: "every", everyMs: 1 }, text: "x" },
  });
  assert.equal(error?.type, "cron.invalid");
  assert.match(error?.message ?? "", /at least 1000/);
});

test("an agent adds a reminder for itself in a turn of its owner", async () => {
  let asked = false;
  house.script = ({ role }) => {
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
  const url = `ws://127.0.0.1:${house.gateway.port}`;
  const bare = await callTool(house.gateway, "cron", { action: "status", gatewayUrl: url });
  assert.match(bare.text, /explicit gatewayToken/);
  const wrong = await callTool(house.gateway, "cron", { action: "status", gatewayUrl: url, gatewayToken: "wrong" });
  assert.ok(wrong.error !== undefined);
  const right = await callTool(house.gateway, "cron", {
    action: "status",
    gatewayUrl: url,
    gatewayToken: house.gateway.token,
    timeoutMs: 60_000,
  });
  assert.equal(right.details["enabled"], true);
  const far = await callTool(house.gateway, "cron", {
    action: "status",
    gatewayUrl: "ws://203.0.113.7:1",
    gatewayToken: "x",
  });
  assert.match(far.text, /may only name this machine/);
});
