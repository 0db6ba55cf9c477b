// Jobs at set times through the front door: schema, kinds, schedules, delivery, the tool, and what the mission says of it.
import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { addJob, ask, cronEvents, firstRun, runsOf, type WireJob } from "../cron-kit.ts";
import { call as callTool, until } from "../exec-kit.ts";
import { call, say, startFakeOpenAI, type FakeRequest, type FakeServer, type Reply } from "../fakes/openai.ts";
import { dispose, operator, startGateway, tempHome, type TestGateway, type Wire } from "../kit.ts";
import { chat, startWithModel, textOf } from "../model-kit.ts";

interface Message {
  readonly role: string;
  readonly content: unknown;
}
let script: (last: Message, request: FakeRequest) => Reply = () => say("hello");
let server: FakeServer;
let gateway: TestGateway;
let wire: Wire;
const messagesOf = ({ body }: FakeRequest): Message[] => (body as unknown as { messages: Message[] }).messages;
const toolsOf = ({ body }: FakeRequest): string[] =>
  ((body as unknown as { tools?: { function: { name: string } }[] }).tools ?? []).map(({ function: f }) => f.name);
const HOUR = 3_600_000;
const hourly = { kind: "every", everyMs: HOUR };
const quiet = { mode: "none" };

before(async () => {
  server = await startFakeOpenAI((request) =>
    script(messagesOf(request).at(-1) ?? { role: "none", content: "" }, request),
  );
  gateway = await startWithModel(server, {
    more: {
      agents: { defaults: { model: { primary: "fake/fake-1" } }, list: [{ id: "main", default: true }, { id: "ops" }] },
    },
  });
  wire = await operator(gateway);
  mkdirSync(gateway.workspace, { recursive: true });
});
after(async () => {
  wire.end();
  await dispose(gateway);
  await server.close();
});

describe("jobs over the wire", () => {
  test("cron.status, list, add, update, remove have the recorded shapes; events say what happened", async () => {
    const { id, ...job } = await addJob(wire, {
      name: "ui-job",
      enabled: true,
      schedule: { kind: "every", everyMs: 1_800_000 },
      sessionTarget: "isolated",
      wakeMode: "now",
      payload: { kind: "agentTurn", message: "ui cron text" },
      delivery: { mode: "announce", channel: "last" },
    });
    const { createdAtMs, updatedAtMs, state, schedule, ...rest } = job as unknown as Record<string, never>;
    assert.deepEqual(rest, {
      name: "ui-job",
      enabled: true,
      sessionTarget: "isolated",
      wakeMode: "now",
      payload: { kind: "agentTurn", message: "ui cron text" },
      delivery: { mode: "announce", channel: "last" },
    });
    assert.deepEqual(schedule, { kind: "every", everyMs: 1_800_000, anchorMs: createdAtMs });
    assert.deepEqual(state, { nextRunAtMs: Number(createdAtMs) + 1_800_000 });
    assert.equal(updatedAtMs, createdAtMs);
    const status = await ask<Record<string, unknown>>(wire, "cron.status", {});
    assert.deepEqual(Object.keys(status), ["enabled", "storePath", "jobs", "nextWakeAtMs"]);
    const patched = await ask<WireJob>(wire, "cron.update", {
      jobId: id,
      patch: { enabled: false, description: "off" },
    });
    assert.deepEqual([patched.enabled, patched.state], [false, {}]);
    const listed = await ask<{ jobs: WireJob[] }>(wire, "cron.list", {});
    assert.equal(
      listed.jobs.some((one) => one.id === id),
      false,
    );
    const all = await ask<{ jobs: WireJob[] }>(wire, "cron.list", { includeDisabled: true });
    assert.equal(
      all.jobs.some((one) => one.id === id),
      true,
    );
    assert.deepEqual(await ask(wire, "cron.remove", { id }), { ok: true, removed: true });
    assert.deepEqual(await ask(wire, "cron.remove", { id }), { ok: true, removed: false });
    const events = await until(
      () => cronEvents(wire, id).map(({ action }) => action),
      (actions) => actions.length >= 3,
    );
    assert.deepEqual(events, ["added", "updated", "removed"]);
  });

  test("an unknown job is refused by update and run, with where to look", async () => {
    for (const [method, params] of [
      ["cron.update", { id: "nope", patch: {} }],
      ["cron.run", { id: "nope" }],
    ] as const) {
      const { error } = await wire.request(method, params);
      assert.match(error?.message ?? "", /unknown cron job id: nope/);
    }
    assert.equal((await wire.request("cron.run", {})).error?.code, "INVALID_REQUEST");
  });

  test("main with agentTurn, isolated with systemEvent, delivery on main: INVALID_REQUEST with the key that mends it", async () => {
    for (const [job, hint] of [
      [{ sessionTarget: "main", payload: { kind: "agentTurn", message: "x" } }, /sessionTarget/],
      [{ sessionTarget: "isolated", payload: { kind: "systemEvent", text: "x" } }, /sessionTarget/],
      [{ payload: { kind: "systemEvent", text: "x" }, delivery: { mode: "announce" } }, /delivery/],
    ] as const) {
      const { error } = await wire.request("cron.add", { name: "bad", schedule: hourly, ...job });
      assert.equal(error?.code, "INVALID_REQUEST");
      assert.match(JSON.stringify(error), hint);
    }
  });

  test("a client that may only read may look, and change nothing", async () => {
    const reader = await operator(gateway, { scopes: ["operator.read"] });
    assert.equal((await reader.request("cron.list", {})).ok, true);
    const { error } = await reader.request("cron.add", { name: "x", schedule: hourly, payload: { text: "x" } });
    assert.equal(error?.message, "missing scope: operator.admin");
    reader.end();
  });

  test("dry run: cron.preview shows the job and its next five times, and keeps nothing", async () => {
    const before = await ask<{ jobs: number }>(wire, "cron.status", {});
    const job = {
      name: "dst",
      schedule: { kind: "cron", expr: "30 2 * * *", tz: "Europe/Berlin" },
      payload: { message: "x" },
    };
    const preview = await ask<{ fires: { offset: string }[]; job: WireJob; tz: string }>(wire, "cron.preview", { job });
    assert.deepEqual([preview.fires.length, preview.tz, preview.job.sessionTarget], [5, "Europe/Berlin", "isolated"]);
    assert.match(preview.fires[0]?.offset ?? "", /^\+0[12]:00$/);
    assert.deepEqual(await ask(wire, "cron.status", {}), before);
  });
});

describe("what jobs do", () => {
  test("at: once, at its time; success removes the job, its row stays", async () => {
    script = () => say("Done.");
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

  test("agentTurn: a turn in a session of its own, prefixed with job and name, a new session id each run", async () => {
    script = () => say("The brief.");
    const { id } = await addJob(wire, { name: "brief", schedule: hourly, message: "Sum up.", delivery: quiet });
    const before = server.requests.length;
    assert.deepEqual(Object.keys(await ask<object>(wire, "cron.run", { id })).toSorted(), ["ok", "ran", "runId"]);
    await ask(wire, "cron.run", { id });
    const [one, two] = await runsOf(wire, id);
    assert.deepEqual([one?.status, one?.summary], ["ok", "The brief."]);
    assert.match(one?.sessionKey ?? "", new RegExp(`^agent:main:cron:${id}:run:`));
    assert.notEqual(one?.sessionId, two?.sessionId);
    const [request] = server.requests.slice(before).filter(({ path }) => path.endsWith("/chat/completions"));
    assert.match(JSON.stringify(messagesOf(request as FakeRequest)), new RegExp(`\\[cron:${id} brief\\] Sum up\\.`));
    const history = await ask<{ messages: unknown[] }>(wire, "chat.history", { sessionKey: `cron:${id}` });
    assert.equal(history.messages.length, 2);
  });

  test("agentTurn: toolsAllow takes tools away and gives none; another model, thinking and time are its own", async () => {
    script = () => say("ok");
    const payload = { kind: "agentTurn", message: "x", toolsAllow: ["read", "browser"], timeoutSeconds: 120 };
    const { id } = await addJob(wire, { name: "narrow", schedule: hourly, payload, delivery: quiet });
    const before = server.requests.length;
    await ask(wire, "cron.run", { id });
    assert.deepEqual(toolsOf(server.requests[before] as FakeRequest), ["read"]);
    const calls = await addJob(wire, {
      name: "tries",
      schedule: hourly,
      payload: { ...payload, toolsAllow: [] },
      delivery: quiet,
    });
    let asked = 0;
    script = ({ role, content }) => {
      if (role === "tool") return say(`heard: ${String(content)}`);
      return asked++ === 0 ? call("exec", { command: "id" }) : say("over");
    };
    await ask(wire, "cron.run", { id: calls.id });
    assert.match((await runsOf(wire, calls.id))[0]?.summary ?? "", /heard: .*exec.*the tools this turn was given/);
  });

  test("exec: a command without a model, under the agent's rules, its output the result", async () => {
    const before = server.requests.length;
    const { id } = await addJob(wire, { name: "disk", schedule: hourly, command: "echo $((40+2))", delivery: quiet });
    await ask(wire, "cron.run", { id });
    const [run] = await runsOf(wire, id);
    assert.deepEqual([run?.status, run?.summary], ["ok", "42"]);
    assert.equal(server.requests.length, before);
    const bad = await addJob(wire, { name: "bad", schedule: hourly, command: "echo no >&2; exit 3", delivery: quiet });
    await ask(wire, "cron.run", { id: bad.id });
    assert.equal((await runsOf(wire, bad.id))[0]?.status, "error");
  });

  test("tool: any tool without a model, through the one path; a refused one is an error with the rule", async () => {
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
    script = ({ content }) => say(String(content).includes("tea is ready") ? "Your tea is ready!" : "hello");
    const { id } = await addJob(wire, { name: "tea", schedule: hourly, text: "tea is ready" });
    const before = server.requests.length;
    await ask(wire, "cron.run", { id });
    const heard = server.requests.slice(before).map((request) => JSON.stringify(messagesOf(request).at(-1)));
    assert.match(heard.join("\n"), /System: \[[^\]]+\] tea is ready/);
    const later = await addJob(wire, {
      name: "later",
      schedule: hourly,
      text: "water plants",
      wakeMode: "next-heartbeat",
    });
    const asked = server.requests.length;
    await ask(wire, "cron.run", { id: later.id });
    await sleep(600);
    assert.equal(server.requests.length, asked);
    await chat(wire, "main", "anything new?", "run-after-event");
    assert.match(JSON.stringify(messagesOf(server.requests.at(-1) as FakeRequest).at(-1)), /water plants/);
    const empty = await addJob(wire, { name: "empty", schedule: hourly, text: "" });
    await ask(wire, "cron.run", { id: empty.id });
    assert.equal((await runsOf(wire, empty.id))[0]?.status, "skipped");
  });

  test("isolated default announce: the result is said in the main chat, once, and shown in open chats", async () => {
    script = () => say("Rain at noon.");
    const { id } = await addJob(wire, { name: "weather", schedule: hourly, message: "Weather?" });
    await ask(wire, "cron.run", { id });
    const shown = await until(
      () =>
        wire.frames.filter(
          (frame) => frame.event === "chat" && JSON.stringify(frame.payload).includes("Rain at noon."),
        ),
      (frames) =>
        frames.some((frame) => (frame.payload as unknown as { sessionKey: string }).sessionKey === "agent:main:main"),
    );
    assert.ok(shown.length >= 1);
    const { messages } = await ask<{ messages: unknown[] }>(wire, "chat.history", { sessionKey: "main" });
    assert.equal(messages.filter((message) => JSON.stringify(message).includes("Rain at noon.")).length, 1);
    script = () => say("HEARTBEAT_OK");
    const nothing = await addJob(wire, { name: "nothing", schedule: hourly, message: "News?" });
    await ask(wire, "cron.run", { id: nothing.id });
    const after = await ask<{ messages: unknown[] }>(wire, "chat.history", { sessionKey: "main" });
    assert.equal(after.messages.length, messages.length);
  });

  test("a channel that is not set up: the run is an error that names it, unless best effort", async () => {
    script = () => say("text");
    const job = { schedule: hourly, message: "x", delivery: { mode: "announce", channel: "whatsapp", to: "+1" } };
    const { id } = await addJob(wire, { name: "wa", ...job });
    await ask(wire, "cron.run", { id });
    assert.match((await runsOf(wire, id))[0]?.error ?? "", /whatsapp/);
    const loose = await addJob(wire, { name: "wa2", ...job, delivery: { ...job.delivery, bestEffort: true } });
    await ask(wire, "cron.run", { id: loose.id });
    assert.equal((await runsOf(wire, loose.id))[0]?.status, "ok");
  });

  test("a job of an agent runs as that agent; an agent that does not exist is refused; null leaves it to the default", async () => {
    script = () => say("ops here");
    const { id } = await addJob(wire, { name: "ops", schedule: hourly, message: "x", agentId: "ops", delivery: quiet });
    await ask(wire, "cron.run", { id });
    assert.match((await runsOf(wire, id))[0]?.sessionKey ?? "", /^agent:ops:cron:/);
    const { error } = await wire.request("cron.add", { name: "x", schedule: hourly, message: "x", agentId: "ghost" });
    assert.match(error?.message ?? "", /no agent "ghost"; known: main, ops/);
    const cleared = await ask<WireJob>(wire, "cron.update", { id, patch: { agentId: null } });
    assert.equal(cleared.agentId, undefined);
  });

  test("a model failure is an error row, and the model of the job is used", async () => {
    script = () => say("fine");
    const payload = { kind: "agentTurn", message: "x", model: "fake/no-such-model" };
    const { id } = await addJob(wire, { name: "model", schedule: hourly, payload, delivery: quiet });
    const before = server.requests.length;
    await ask(wire, "cron.run", { id });
    const used = server.requests.slice(before).map(({ body }) => (body as unknown as { model: string }).model);
    assert.equal(used[0], "no-such-model");
  });

  test("every second, for a while: each slot one row, in order, none twice", async () => {
    const file = join(gateway.workspace, "ticks.txt");
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
});

describe("the cron tool", () => {
  test("status, list, add, update by jobId or id, run, runs, remove: as the RPC", async () => {
    const added = await callTool(gateway, "cron", {
      action: "add",
      job: { name: "from tool", schedule: hourly, payload: { kind: "exec", command: "echo tool" }, delivery: quiet },
    });
    const id = String(added.details["id"]);
    assert.equal(added.details["agentId"], "main");
    assert.equal(Number((await callTool(gateway, "cron", { action: "status" })).details["jobs"]) > 0, true);
    assert.match((await callTool(gateway, "cron", { action: "list" })).text, /from tool/);
    for (const named of [{ jobId: id }, { id }]) {
      const { details } = await callTool(gateway, "cron", { action: "update", ...named, patch: { name: "renamed" } });
      assert.equal(details["name"], "renamed");
    }
    assert.equal((await callTool(gateway, "cron", { action: "run", jobId: id })).details["ran"], true);
    await firstRun(wire, id);
    assert.match((await callTool(gateway, "cron", { action: "runs", jobId: id, limit: 5 })).text, /"summary": "tool"/);
    assert.deepEqual((await callTool(gateway, "cron", { action: "remove", jobId: id })).details, {
      ok: true,
      removed: true,
    });
  });

  test("fields given flat, without a job around them, are the job", async () => {
    const { details } = await callTool(gateway, "cron", { action: "add", name: "flat", everyMs: HOUR, text: "hi" });
    assert.deepEqual(details["payload"], { kind: "systemEvent", text: "hi" });
    await callTool(gateway, "cron", { action: "remove", id: details["id"] });
  });

  test("wake queues a line for the session, now or with the next heartbeat", async () => {
    script = ({ content }) => say(String(content).includes("the bell") ? "ding" : "hello");
    const before = server.requests.length;
    const { details } = await callTool(gateway, "cron", { action: "wake", text: "the bell rang" });
    assert.deepEqual(details, { ok: true, mode: "now" });
    await until(
      () => server.requests.slice(before).map((request) => JSON.stringify(messagesOf(request).at(-1))),
      (heard) => heard.some((text) => text.includes("the bell rang")),
    );
    const later = await callTool(gateway, "cron", { action: "wake", text: "later", mode: "next-heartbeat" });
    assert.deepEqual(later.details, { ok: true, mode: "next-heartbeat" });
    assert.match((await callTool(gateway, "cron", { action: "wake" })).text, /wake needs text/);
  });

  test("help says the whole schema; an unknown action and wrong fields are words a model can act on", async () => {
    assert.match((await callTool(gateway, "cron", { action: "help" })).text, /schedule, one of[\s\S]*payload, one of/);
    assert.equal((await callTool(gateway, "cron", { action: "dance" })).error?.type, "tool.bad-arguments");
    const { error } = await callTool(gateway, "cron", {
      action: "add",
      job: { name: "x", schedule: { kind: "every", everyMs: 1 }, text: "x" },
    });
    assert.equal(error?.type, "cron.invalid");
    assert.match(error?.message ?? "", /at least 1000/);
  });

  test("an agent adds a reminder for itself in a turn of its owner", async () => {
    let asked = false;
    script = ({ role }) => {
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
    const url = `ws://127.0.0.1:${gateway.port}`;
    const bare = await callTool(gateway, "cron", { action: "status", gatewayUrl: url });
    assert.match(bare.text, /explicit gatewayToken/);
    const wrong = await callTool(gateway, "cron", { action: "status", gatewayUrl: url, gatewayToken: "wrong" });
    assert.ok(wrong.error !== undefined);
    const right = await callTool(gateway, "cron", {
      action: "status",
      gatewayUrl: url,
      gatewayToken: gateway.token,
      timeoutMs: 60_000,
    });
    assert.equal(right.details["enabled"], true);
    const far = await callTool(gateway, "cron", {
      action: "status",
      gatewayUrl: "ws://203.0.113.7:1",
      gatewayToken: "x",
    });
    assert.match(far.text, /may only name this machine/);
  });
});

test("cron.enabled false and OPENCLAW_SKIP_CRON: nothing runs by itself, the rest works; switching it on takes effect at once", async () => {
  const home = tempHome();
  const off = await startGateway({ home, config: { cron: { enabled: false } } });
  const client = await operator(off);
  const { id } = await addJob(client, {
    name: "x",
    schedule: { kind: "every", everyMs: 1000 },
    command: "echo x",
    delivery: quiet,
  });
  assert.deepEqual((await ask<{ enabled: boolean }>(client, "cron.status", {})).enabled, false);
  await sleep(1500);
  assert.deepEqual(await runsOf(client, id), []);
  assert.match(off.output(), /scheduler disabled; jobs will not run automatically/);
  const file = join(off.state, "openclaw.json");
  writeFileSync(file, readFileSync(file, "utf8").replace('"enabled": false', '"enabled": true'));
  await until(
    () => runsOf(client, id),
    (runs) => runs.some(({ state }) => state === "ran"),
  );
  client.end();
  await off.stop();
  const skipped = await startGateway({ home, env: { OPENCLAW_SKIP_CRON: "1" } });
  const again = await operator(skipped);
  const before = (await runsOf(again, id)).length;
  await sleep(1500);
  assert.equal((await runsOf(again, id)).length, before);
  again.end();
  await dispose(skipped);
});

test("an older jobs.json is taken over at the first start and stays as it is", async () => {
  const home = tempHome();
  const folder = join(home, ".openclaw", "cron");
  mkdirSync(folder, { recursive: true });
  const file = join(folder, "jobs.json");
  const jobs = [
    {
      id: "older-1",
      name: "older",
      enabled: true,
      schedule: hourly,
      payload: { kind: "systemEvent", text: "hi" },
      state: {},
    },
  ];
  writeFileSync(file, JSON.stringify({ version: 1, jobs }));
  const text = readFileSync(file, "utf8");
  const started = await startGateway({ home });
  const client = await operator(started);
  const listed = await until(
    async () => (await ask<{ jobs: WireJob[] }>(client, "cron.list", {})).jobs,
    (found) => found.length === 1,
  );
  assert.deepEqual([listed[0]?.id, listed[0]?.name], ["older-1", "older"]);
  assert.equal(readFileSync(file, "utf8"), text);
  assert.equal(existsSync(`${file}.bak`), false);
  client.end();
  await dispose(started);
});
