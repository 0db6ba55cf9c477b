// `openclaw system …` and the methods behind it: events, heartbeats, presence, as programs and as people see them.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { until } from "../../harness/exec.ts";
import { say, startFakeOpenAI, type FakeServer } from "../../fakes/openai.ts";
import { dispose, openclaw, operator, type Ran, type TestGateway, type Wire } from "../../harness/gateway.ts";
import { startWithModel } from "../../harness/model.ts";

let server: FakeServer;
let gateway: TestGateway;
let wire: Wire;
const run = (...words: string[]): Promise<Ran> => openclaw(gateway.home, ["system", ...words]);
const json = async (...words: string[]): Promise<unknown> => {
  const ran = await run(...words, "--json");
  assert.equal(ran.code, 0, ran.stderr);
  return JSON.parse(ran.stdout);
};
const heard = (): string[] =>
  server.requests.flatMap(({ path, body }) => (path.endsWith("completions") ? [JSON.stringify(body["messages"])] : []));

before(async () => {
  server = await startFakeOpenAI(() => say("HEARTBEAT_OK"));
  gateway = await startWithModel(server);
  wire = await operator(gateway, {
    client: { instanceId: "Page-One", displayName: "Page" },
  });
});
after(async () => {
  wire.end();
  await dispose(gateway);
  await server.close();
});

test("system event waits for the next heartbeat by default", async () => {
  assert.deepEqual(await json("event", "--text", "the kettle boils"), { ok: true });
  const { queuedSystemEvents } = await wire.call("status");
  assert.deepEqual([queuedSystemEvents, heard()], [["the kettle boils"], []]);
});

test("system event --mode now gives the main session a turn that includes waiting lines", async () => {
  const ran = await run("event", "--text", "the door rang", "--mode", "now");
  assert.deepEqual([ran.code, ran.stdout], [0, "Posted; a turn starts now.\n"]);
  const told = await until(heard, (list) => list.length === 1);
  assert.match(told[0] ?? "", /System: \[[^\]]+\] the kettle boils\\nSystem: \[[^\]]+\] the door rang/);
});

test("system heartbeat last shows the wake and its outcome", async () => {
  await until(
    () => json("heartbeat", "last"),
    (last) => (last as { status?: string } | null)?.status === "ok",
  );
  const ran = await run("heartbeat", "last");
  assert.match(ran.stdout, /^When +.* ago, \d+ ms\nAgent +main\nResult +ok\n$/);
  assert.match((await run("heartbeat")).stdout, /^When /);
});

test("system heartbeat disable and enable switch heartbeats off and on", async () => {
  assert.deepEqual(await json("heartbeat", "disable", "--expect-final"), { ok: true, enabled: false });
  const { heartbeatSeconds } = await wire.call("health");
  assert.equal(heartbeatSeconds, 0);
  assert.deepEqual(await json("heartbeat", "enable"), { ok: true, enabled: true });
  const health = await wire.call("health");
  assert.equal(health.heartbeatSeconds, 1800);
  const { prompt, ...rest } = health.agents[0]?.heartbeat ?? {};
  assert.deepEqual(rest, { enabled: true, every: "30m", everyMs: 1_800_000, target: "last", ackMaxChars: 300 });
  assert.match(String(prompt), /HEARTBEAT\.md/);
  assert.equal((await run("heartbeat", "disable")).stdout, "Heartbeats are off.\n");
  assert.equal((await run("heartbeat", "enable")).stdout, "Heartbeats are on.\n");
});

test("system presence shows the gateway and the page, but not the command line itself", async () => {
  const rows = (await json("presence")) as { mode: string; reason: string; instanceId?: string }[];
  assert.deepEqual(
    rows.map(({ mode, reason, instanceId }) => [mode, reason, instanceId]),
    [
      ["gateway", "self", undefined],
      ["backend", "connect", "Page-One"],
    ],
  );
  assert.match((await run("presence")).stdout, /Host +Mode[\s\S]*Page +backend operator/);
});

test("system-event: a beacon creates or updates one row; a note without a sender is a line for main", async () => {
  const beacon = {
    text: "Node: phone",
    instanceId: "PHONE-1",
    host: "phone",
    ip: "10.1.2.3",
    mode: "test",
    version: "9",
    platform: "ios",
    lastInputSeconds: 4,
    reason: "connect",
    roles: ["node"],
    scopes: [],
    tags: ["a"],
    unknown: { deep: true },
  };
  assert.deepEqual((await wire.request("system-event", beacon)).payload, { ok: true });
  await wire.request("system-event", { ...beacon, instanceId: "phone-1", lastInputSeconds: 9 });
  const rows = await wire.call("system-presence");
  const { ts, ...row } = rows.find(({ mode }) => mode === "test") ?? {};
  const { unknown: _unknown, ...expected } = beacon;
  assert.deepEqual(row, { ...expected, instanceId: "phone-1", lastInputSeconds: 9 });
  assert.equal(typeof ts, "number");
  await wire.event("presence");
  assert.deepEqual((await wire.request("system-event", { text: "a note" })).payload, { ok: true });
  const { queuedSystemEvents } = await wire.call("status");
  assert.deepEqual(queuedSystemEvents, ["a note"]);
  const bad = await wire.request("system-event", { instanceId: "x" });
  assert.deepEqual([bad.error?.code, bad.error?.message], ["INVALID_REQUEST", "text required"]);
});

test("usage errors have another exit code than failures", async () => {
  const missing = await run("event");
  assert.deepEqual([missing.code, /missing --text/.test(missing.stderr)], [2, true]);
  assert.equal((await run("event", "--text", "x", "--mode", "soon")).code, 2);
});

test("a device without the scope can neither wake nor switch", async () => {
  const reader = await operator(gateway, { scopes: ["operator.read"] });
  for (const [method, params, scope] of [
    ["wake", { mode: "now", text: "x" }, "operator.write"],
    ["set-heartbeats", { enabled: false }, "operator.admin"],
    ["system-event", { text: "x" }, "operator.admin"],
  ] as const) {
    const { error } = await reader.request(method, params);
    assert.deepEqual([error?.code, error?.message], ["INVALID_REQUEST", `missing scope: ${scope}`]);
  }
  assert.equal((await reader.request("last-heartbeat")).ok, true);
  reader.end();
});
