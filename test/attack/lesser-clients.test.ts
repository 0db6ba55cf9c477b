// Clients with fewer rights than the owner: what they see of others, and rights that they could give themselves.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { until } from "../harness/exec.ts";
import { call, say } from "../fakes/openai.ts";
import { newIdentity, operator, Wire, type Frame } from "../harness/gateway.ts";
import { chat, openScripted, type ScriptedGateway } from "../harness/model.ts";
import { scriptedNode } from "../harness/node.ts";

let runtime: ScriptedGateway;
before(async () => {
  runtime = await openScripted();
});
after(async () => runtime.close());

const SAID = "the harbour code is 4711";
const lesser = { none: [], approvals: ["operator.approvals"], pairing: ["operator.pairing"] };

/** With every cap a client can ask for. */
async function listener(scopes: readonly string[]): Promise<{ wire: Wire; hello: string }> {
  const wire = new Wire(runtime.gateway.port);
  const plan = { token: runtime.gateway.token, identity: newIdentity(), scopes, extra: { caps: ["tool-events"] } };
  const answer = await wire.connect(plan);
  assert.equal(answer.ok, true, JSON.stringify(answer));
  return { wire, hello: JSON.stringify(answer.payload) };
}

const eventsOf = (frames: readonly Frame[]): string[] => [
  ...new Set(frames.flatMap(({ event }) => (event === undefined ? [] : [event]))),
];

test("a client without read scope receives no chat, tool, job, heartbeat or presence events; one with it does", async () => {
  const { gateway, wire: admin } = runtime;
  const looker = await listener(["operator.read"]);
  const deaf = await Promise.all(Object.values(lesser).map((scopes) => listener(scopes)));
  const node = await scriptedNode(gateway);
  runtime.script = ({ role }) => (role === "tool" ? say(SAID) : call("session_status", {}));
  await chat(admin, "main", "what is the code?", "lesser-1");
  const schedule = { kind: "every", everyMs: 3_600_000 };
  const payload = { kind: "agentTurn", message: "look around" };
  await admin.request("cron.add", { name: "quiet job", schedule, sessionTarget: "isolated", payload });
  await admin.request("voicewake.set", { triggers: ["hey harbour"] });
  // The last one is for everybody: what went before it has arrived as well.
  for (const { frames } of [looker.wire, ...deaf.map(({ wire }) => wire), node.wire])
    await until(
      () => eventsOf(frames),
      (events) => events.includes("voicewake.changed"),
    );

  const heard = JSON.stringify(looker.wire.frames);
  for (const sign of [SAID, '"stream":"tool"', "session_status", '"event":"cron"'])
    assert.ok(heard.includes(sign), sign);
  for (const { frames } of [...deaf.map(({ wire }) => wire), node.wire]) {
    const events = eventsOf(frames).filter((event) => event !== "tick");
    assert.deepEqual(events.toSorted(), ["health", "voicewake.changed"]);
    assert.doesNotMatch(JSON.stringify(frames), /harbour code|agent:main:main","updatedAt|openclaw\.sqlite/);
  }
  looker.wire.end();
  node.wire.end();
  for (const { wire } of deaf) wire.end();
});

test("connecting without read scope reveals neither other clients nor file paths", async () => {
  await chat(runtime.wire, "agent:main:direct:+15550001111", "hello", "lesser-2");
  const readable = await listener(["operator.read"]);
  assert.match(readable.hello, /"configPath":"[^"]+"/);
  // Its figures are kept for a moment.
  await until(
    async () => JSON.stringify((await readable.wire.request("health")).payload),
    (health) => health.includes("15550001111"),
  );
  for (const scopes of Object.values(lesser)) {
    const { wire, hello } = await listener(scopes);
    const health = JSON.stringify((await wire.event("health")).payload);
    assert.doesNotMatch(
      hello + health,
      /15550001111|"configPath"|"stateDir"|openclaw\.sqlite|"deviceId":"[0-9a-f]{64}"/,
    );
    assert.match(health, /"ok":true/);
    wire.end();
  }
  readable.wire.end();
});

test("a pairing code grants no more than its creator has", async () => {
  const { gateway } = runtime;
  const pairer = await operator(gateway, { scopes: ["operator.pairing"] });
  const newCode = async (wire: Wire): Promise<string> => (await wire.call("device.pair.code", {})).code;
  const connect = async (token: string, scopes: readonly string[]): Promise<Frame> => {
    // From elsewhere, where only the code opens.
    const wire = new Wire(gateway.port, { headers: { "x-forwarded-for": "203.0.113.7" } });
    const answer = await wire.connect({ token, identity: newIdentity(), scopes });
    wire.end();
    return answer;
  };
  for (const scopes of [["operator.admin"], ["operator.read"], ["operator.pairing", "operator.approvals"]]) {
    const answer = await connect(await newCode(pairer), scopes);
    assert.equal(answer.error?.code, "NOT_PAIRED", JSON.stringify({ scopes, answer }));
  }
  assert.equal((await connect(await newCode(pairer), ["operator.pairing"])).ok, true);
  assert.equal(
    (await connect(await newCode(runtime.wire), ["operator.admin"])).ok,
    true,
    "the owner's code still opens",
  );
  pairer.end();
});

test("narrowing a token limits connections that name no scopes and closes open ones", async () => {
  const { gateway, wire: admin } = runtime;
  const identity = newIdentity();
  const before = await operator(gateway, { identity });
  const rotated = await admin.request("device.token.rotate", {
    deviceId: identity.id,
    role: "operator",
    scopes: ["operator.read"],
  });
  const { token } = rotated.payload as { token: string };
  assert.deepEqual(await before.closed, { code: 1008, reason: "device token rotated" });
  const wire = new Wire(gateway.port);
  const bare = await wire.connect({ token, identity, scopes: [], extra: { scopes: undefined } });
  assert.equal(bare.ok, true, JSON.stringify(bare));
  assert.equal((await wire.request("health")).ok, true, "what is left of it works");
  assert.equal((await wire.request("config.get", {})).error?.message, "missing scope: operator.admin");
  assert.equal((await wire.request("chat.send", {})).error?.message, "missing scope: operator.write");
  wire.end();
});
