// What a run of a job does, by kind, agent and delivery, and the rows it leaves.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import {
  addJob,
  ask,
  cronEvents,
  firstRun,
  hourly,
  openJobGateway,
  quiet,
  runsOf,
  type WireJob,
} from "../../harness/cron.ts";
import { until } from "../../harness/exec.ts";
import { call, say, type FakeRequest } from "../../fakes/openai.ts";
import type { Wire } from "../../harness/gateway.ts";
import { chat, messagesOf, toolsOf, type ScriptedGateway } from "../../harness/model.ts";

let runtime: ScriptedGateway;
let wire: Wire;
before(async () => {
  runtime = await openJobGateway();
  ({ wire } = runtime);
});
after(() => runtime.close());

test("at: runs once at its time; success removes the job and keeps its row", async () => {
  runtime.script = () => say("Done.");
  const at = new Date(Date.now() + 1200).toISOString();
  const { id } = await addJob(wire, {
    name: "once",
    schedule: { kind: "at", at },
    command: "echo one shot",
    delivery: quiet,
  });
  const run = await firstRun(wire, id);
  assert.deepEqual([run.status, run.summary, run.slot], ["ok", "one shot", String(Date.parse(at))]);
  await until(
    async () => (await ask<{ jobs: WireJob[] }>(wire, "cron.list", { includeDisabled: true })).jobs,
    (jobs) => jobs.every((job) => job.id !== id),
  );
  const [started, finished] = await until(
    () => cronEvents(wire, id).slice(1),
    (events) => events.length >= 2,
  );
  assert.deepEqual([started?.["action"], finished?.["action"], finished?.["status"]], ["started", "finished", "ok"]);
});

test("a row says when its job runs next, and a job without a next time says nothing", async () => {
  const { id, state } = await addJob(wire, { name: "next", schedule: hourly, command: "true", delivery: quiet });
  await ask(wire, "cron.run", { id });
  assert.equal((await firstRun(wire, id)).nextRunAtMs, state.nextRunAtMs);
  await ask(wire, "cron.remove", { id });
  assert.deepEqual(
    (await runsOf(wire, id)).filter(({ nextRunAtMs }) => nextRunAtMs !== undefined),
    [],
  );
});

test("agentTurn: runs in its own session, prefixed with job and name, with a new session id each time", async () => {
  runtime.script = () => say("The brief.");
  const { id } = await addJob(wire, { name: "brief", schedule: hourly, message: "Sum up.", delivery: quiet });
  const before = runtime.server.requests.length;
  assert.deepEqual(Object.keys(await ask<object>(wire, "cron.run", { id })).toSorted(), ["ok", "ran", "runId"]);
  await ask(wire, "cron.run", { id });
  const [one, two] = await runsOf(wire, id);
  assert.deepEqual([one?.status, one?.summary], ["ok", "The brief."]);
  assert.match(one?.sessionKey ?? "", new RegExp(`^agent:main:cron:${id}:run:`));
  assert.notEqual(one?.sessionId, two?.sessionId);
  const [request] = runtime.server.requests.slice(before).filter(({ path }) => path.endsWith("/chat/completions"));
  assert.match(JSON.stringify(messagesOf(request as FakeRequest)), new RegExp(`\\[cron:${id} brief\\] Sum up\\.`));
  const history = await ask<{ messages: unknown[] }>(wire, "chat.history", { sessionKey: `cron:${id}` });
  assert.equal(history.messages.length, 2);
});

test("agentTurn: toolsAllow only removes tools; model, thinking and timeout apply to that run", async () => {
  runtime.script = () => say("ok");
  const payload = { kind: "agentTurn", message: "x", toolsAllow: ["read", "browser"], timeoutSeconds: 120 };
  const { id } = await addJob(wire, { name: "narrow", schedule: hourly, payload, delivery: quiet });
  const before = runtime.server.requests.length;
  await ask(wire, "cron.run", { id });
  assert.deepEqual(toolsOf(runtime.server.requests[before] as FakeRequest), ["read"]);
  const calls = await addJob(wire, {
    name: "tries",
    schedule: hourly,
    payload: { ...payload, toolsAllow: [] },
    delivery: quiet,
  });
  let asked = 0;
  runtime.script = ({ role, content }) => {
    if (role === "tool") return say(`heard: ${String(content)}`);
    return asked++ === 0 ? call("exec", { command: "id" }) : say("over");
  };
  await ask(wire, "cron.run", { id: calls.id });
  assert.match((await runsOf(wire, calls.id))[0]?.summary ?? "", /heard: .*exec.*the tools this turn was given/);
});

test("exec: runs a command without a model under the agent's rules, with its output as the result", async () => {
  const before = runtime.server.requests.length;
  const { id } = await addJob(wire, { name: "disk", schedule: hourly, command: "echo $((40+2))", delivery: quiet });
  await ask(wire, "cron.run", { id });
  const [run] = await runsOf(wire, id);
  assert.deepEqual([run?.status, run?.summary], ["ok", "42"]);
  assert.equal(runtime.server.requests.length, before);
  const bad = await addJob(wire, { name: "bad", schedule: hourly, command: "echo no >&2; exit 3", delivery: quiet });
  await ask(wire, "cron.run", { id: bad.id });
  assert.equal((await runsOf(wire, bad.id))[0]?.status, "error");
});

test("tool: runs any tool without a model; a refused one is an error with the rule", async () => {
  const { id } = await addJob(wire, {
    name: "look",
    schedule: hourly,
    tool: "sessions_list",
    args: { limit: 1 },
    delivery: quiet,
  });
  await ask(wire, "cron.run", { id });
  assert.match((await runsOf(wire, id))[0]?.summary ?? "", /"count": /);
  const { entries } = await ask<{ entries: { caller: string }[] }>(wire, "tools.journal", {
    tool: "sessions_list",
    limit: 1,
  });
  assert.equal(entries[0]?.caller, "cron");
  const none = await addJob(wire, { name: "none", schedule: hourly, tool: "no_such_tool", delivery: quiet });
  await ask(wire, "cron.run", { id: none.id });
  assert.match((await runsOf(wire, none.id))[0]?.error ?? "", /no_such_tool/);
});

test("systemEvent now: the main session takes a turn with the line; next-heartbeat leaves it waiting", async () => {
  runtime.script = ({ content }) => say(String(content).includes("tea is ready") ? "Your tea is ready!" : "hello");
  const { id } = await addJob(wire, { name: "tea", schedule: hourly, text: "tea is ready" });
  const before = runtime.server.requests.length;
  await ask(wire, "cron.run", { id });
  const heard = runtime.server.requests.slice(before).map((request) => JSON.stringify(messagesOf(request).at(-1)));
  assert.match(heard.join("\n"), /System: \[[^\]]+\] tea is ready/);
  const later = await addJob(wire, {
    name: "later",
    schedule: hourly,
    text: "water plants",
    wakeMode: "next-heartbeat",
  });
  const asked = runtime.server.requests.length;
  await ask(wire, "cron.run", { id: later.id });
  await sleep(600);
  assert.equal(runtime.server.requests.length, asked);
  await chat(wire, "main", "anything new?", "run-after-event");
  assert.match(JSON.stringify(messagesOf(runtime.server.requests.at(-1) as FakeRequest).at(-1)), /water plants/);
  const empty = await addJob(wire, { name: "empty", schedule: hourly, text: "" });
  await ask(wire, "cron.run", { id: empty.id });
  assert.equal((await runsOf(wire, empty.id))[0]?.status, "skipped");
});

test("isolated jobs announce their result once in the main chat, also in open chats", async () => {
  runtime.script = () => say("Rain at noon.");
  const { id } = await addJob(wire, { name: "weather", schedule: hourly, message: "Weather?" });
  await ask(wire, "cron.run", { id });
  const shown = await until(
    () =>
      wire.frames.filter((frame) => frame.event === "chat" && JSON.stringify(frame.payload).includes("Rain at noon.")),
    (frames) => frames.some((frame) => (frame.payload as { sessionKey: string }).sessionKey === "agent:main:main"),
  );
  assert.ok(shown.length >= 1);
  const { messages } = await ask<{ messages: unknown[] }>(wire, "chat.history", { sessionKey: "main" });
  assert.equal(messages.filter((message) => JSON.stringify(message).includes("Rain at noon.")).length, 1);
  runtime.script = () => say("HEARTBEAT_OK");
  const nothing = await addJob(wire, { name: "nothing", schedule: hourly, message: "News?" });
  await ask(wire, "cron.run", { id: nothing.id });
  const after = await ask<{ messages: unknown[] }>(wire, "chat.history", { sessionKey: "main" });
  assert.equal(after.messages.length, messages.length);
});

test("a channel that is not set up makes the run an error that names it, unless bestEffort is set", async () => {
  runtime.script = () => say("text");
  const job = { schedule: hourly, message: "x", delivery: { mode: "announce", channel: "whatsapp", to: "+1" } };
  const { id } = await addJob(wire, { name: "wa", ...job });
  await ask(wire, "cron.run", { id });
  assert.match((await runsOf(wire, id))[0]?.error ?? "", /whatsapp/);
  const loose = await addJob(wire, { name: "wa2", ...job, delivery: { ...job.delivery, bestEffort: true } });
  await ask(wire, "cron.run", { id: loose.id });
  assert.equal((await runsOf(wire, loose.id))[0]?.status, "ok");
});

test("a job runs as its agent; an unknown agent is refused; null means the default agent", async () => {
  runtime.script = () => say("ops here");
  const { id } = await addJob(wire, { name: "ops", schedule: hourly, message: "x", agentId: "ops", delivery: quiet });
  await ask(wire, "cron.run", { id });
  assert.match((await runsOf(wire, id))[0]?.sessionKey ?? "", /^agent:ops:cron:/);
  const { error } = await wire.request("cron.add", { name: "x", schedule: hourly, message: "x", agentId: "ghost" });
  assert.match(error?.message ?? "", /no agent "ghost"; known: main, ops/);
  const cleared = await ask<WireJob>(wire, "cron.update", { id, patch: { agentId: null } });
  assert.equal(cleared.agentId, undefined);
});

test("a model failure is an error row, and the job's own model is used", async () => {
  runtime.script = () => say("fine");
  const payload = { kind: "agentTurn", message: "x", model: "fake/no-such-model" };
  const { id } = await addJob(wire, { name: "model", schedule: hourly, payload, delivery: quiet });
  const before = runtime.server.requests.length;
  await ask(wire, "cron.run", { id });
  const used = runtime.server.requests.slice(before).map(({ body }) => (body as { model: string }).model);
  assert.equal(used[0], "no-such-model");
});

test("every second for a while: each slot has one row, in order, none twice", async () => {
  const file = join(runtime.gateway.workspace, "ticks.txt");
  const { id } = await addJob(wire, {
    name: "ticks",
    schedule: { kind: "every", everyMs: 1000 },
    command: `echo t >> ${file}`,
    delivery: quiet,
  });
  await until(
    () => runsOf(wire, id),
    (runs) => runs.length >= 4,
  );
  await ask(wire, "cron.update", { id, patch: { enabled: false } });
  await until(
    async () => (await ask<{ jobs: WireJob[] }>(wire, "cron.list", { includeDisabled: true })).jobs,
    (jobs) => jobs.some((job) => job.id === id && !("runningAtMs" in job.state)),
  );
  const runs = await runsOf(wire, id);
  const slots = runs.map(({ slot }) => Number(slot));
  for (const [index, slot] of slots.slice(1).entries()) assert.equal(slot - (slots[index] ?? 0), 1000);
  const ran = runs.filter(({ state }) => state === "ran").length;
  assert.equal(readFileSync(file, "utf8").trim().split("\n").length, ran);
});
