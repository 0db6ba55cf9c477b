// Requests of a connected client: frames, scopes, parameters, limits. Typed errors as recorded, and nobody else disturbed.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import {
  dispose,
  newIdentity,
  operator,
  startGateway,
  Wire,
  type Frame,
  type TestGateway,
} from "../../harness/gateway.ts";

let gateway: TestGateway;
let wire: Wire;
before(async () => {
  gateway = await startGateway();
  wire = await operator(gateway);
});
after(async () => {
  wire.end();
  await dispose(gateway);
});

const errorOf = (frame: Frame) => ({ code: frame.error?.code, message: frame.error?.message });
const invalid = (message: string) => ({ code: "INVALID_REQUEST", message });

/** The answer to a raw frame: the next response whose id is the given one. */
async function answerTo(text: string | Buffer, id: string): Promise<Frame> {
  const seen = wire.frames.length;
  wire.send(text);
  for (let tries = 0; tries < 6000; tries++) {
    const found = wire.frames.slice(seen).find((frame) => frame.type === "res" && frame.id === id);
    if (found !== undefined) return found;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  throw new Error(`no answer to ${String(text).slice(0, 60)}`);
}

const badFrames: [name: string, frame: string, id: string, message: string][] = [
  [
    "an object that is no frame",
    '{"a":1}',
    "invalid",
    "invalid request frame: must have required property 'type'; must have required property 'id'; must have required property 'method'; at root: unexpected property 'a'",
  ],
  ["no id", '{"type":"req","method":"health"}', "invalid", "invalid request frame: must have required property 'id'"],
  [
    "an empty id",
    '{"type":"req","id":"","method":"health"}',
    "invalid",
    "invalid request frame: at /id: must NOT have fewer than 1 characters",
  ],
  [
    "a numeric id",
    '{"type":"req","id":5,"method":"health"}',
    "invalid",
    "invalid request frame: at /id: must be string",
  ],
  [
    "an extra field",
    '{"type":"req","id":"a","method":"health","zzz":1}',
    "a",
    "invalid request frame: at root: unexpected property 'zzz'",
  ],
  ["an unknown method", '{"type":"req","id":"b","method":"no.such"}', "b", "unknown method: no.such"],
  [
    "a second connect (GWY-027)",
    '{"type":"req","id":"c","method":"connect","params":{}}',
    "c",
    "connect is only valid as the first request",
  ],
  [
    "an unknown parameter",
    '{"type":"req","id":"d","method":"sessions.list","params":{"zzz":5}}',
    "d",
    "invalid sessions.list params: at root: unexpected property 'zzz'",
  ],
  [
    "a missing parameter",
    '{"type":"req","id":"e","method":"sessions.patch","params":{}}',
    "e",
    "invalid sessions.patch params: must have required property 'key'",
  ],
  [
    "a wrong type",
    '{"type":"req","id":"f","method":"sessions.list","params":{"limit":"x"}}',
    "f",
    "invalid sessions.list params: at /limit: must be integer",
  ],
];

for (const [name, frame, id, message] of badFrames) {
  test(`a request with ${name} is answered with a typed error`, async () => {
    assert.deepEqual(errorOf(await answerTo(frame, id)), invalid(message));
  });
}

test("ignores invalid JSON after the handshake and keeps the connection", async () => {
  wire.send("{nope");
  assert.equal((await wire.request("health", null)).ok, true);
});

test("accepts a binary frame that holds JSON", async () => {
  assert.equal((await answerTo(Buffer.from('{"type":"req","id":"bin","method":"last-heartbeat"}'), "bin")).ok, true);
});

test("invalid UTF-8 in a text frame closes only that socket", async () => {
  const other = await operator(gateway);
  const net = (other.socket as unknown as { _socket: { write(bytes: Buffer): void } })._socket;
  // A masked text frame of two bytes (mask 0) that are no UTF-8.
  net.write(Buffer.from([0x81, 0x82, 0, 0, 0, 0, 0xc3, 0x28]));
  assert.equal((await other.closed).code, 1007);
  assert.equal((await wire.request("health")).ok, true);
});

test("a frame over the limit closes with 1009", async () => {
  const other = await operator(gateway);
  other.send(JSON.stringify({ type: "req", id: "a", method: "health", params: { pad: "x".repeat(600_000) } }));
  assert.deepEqual(await other.closed, { code: 1009, reason: "" });
});

test("GWY-028 refuses a request id in use without affecting the first request", async () => {
  const first = wire.request("exec.approval.request", { command: "true", timeoutMs: 500 }, "twice");
  wire.send(JSON.stringify({ type: "req", id: "twice", method: "health" }));
  await first;
  const answers = (): Frame[] => wire.frames.filter((frame) => frame.id === "twice");
  for (let tries = 0; tries < 6000 && answers().length < 2; tries++)
    await new Promise((resolve) => setTimeout(resolve, 10));
  const said = answers().map((frame) => frame.error?.message ?? "ok");
  assert.deepEqual(said.toSorted(), ["ok", "request id is already in use"]);
});

test("refuses deeply nested parameters", async () => {
  const depth = 100_000;
  const text = `{"type":"req","id":"deep","method":"sessions.list","params":${"[".repeat(depth)}${"]".repeat(depth)}}`;
  const frame = await answerTo(text, "invalid");
  assert.equal(frame.ok, false);
  assert.equal((await wire.request("health")).ok, true);
});

test("nodes and operators can call only their own methods", async () => {
  const node = await operator(gateway, {
    role: "node",
    scopes: [],
    client: { id: "node-host", mode: "node" },
    identity: newIdentity(),
  });
  assert.deepEqual(errorOf(await node.request("health")), invalid("unauthorized role: node"));
  node.end();
});

const needs: [scopes: string[], method: string, missing: string | undefined][] = [
  [[], "health", "operator.read"],
  [["operator.read"], "health", undefined],
  [["operator.read"], "config.get", "operator.admin"],
  [["operator.read"], "device.pair.list", "operator.pairing"],
  [["operator.read"], "tools.invoke", "operator.write"],
  [["operator.write"], "health", undefined],
  [["operator.write"], "config.get", "operator.admin"],
  [["operator.pairing"], "health", "operator.read"],
  [["operator.pairing"], "device.pair.list", undefined],
  [["operator.admin"], "device.pair.list", undefined],
];
for (const [scopes, method, missing] of needs) {
  test(`scopes [${scopes.join(", ")}] calling ${method}: ${missing === undefined ? "allowed" : `missing ${missing}`}`, async () => {
    const client = await operator(gateway, { scopes });
    const frame = await client.request(method, {});
    if (missing === undefined) assert.equal(frame.ok, true);
    else assert.deepEqual(errorOf(frame), invalid(`missing scope: ${missing}`));
    client.end();
  });
}

test("hello-ok has version, methods, snapshot and limits", async () => {
  const client = new Wire(gateway.port);
  const hello = (await client.connect({ token: gateway.token, identity: newIdentity() })).payload as Record<
    string,
    unknown
  >;
  assert.deepEqual(Object.keys(hello).sort(), ["auth", "features", "policy", "protocol", "server", "snapshot", "type"]);
  assert.deepEqual(hello["policy"], { maxPayload: 524_288, maxBufferedBytes: 1_572_864, tickIntervalMs: 30_000 });
  const snapshot = hello["snapshot"] as Record<string, unknown>;
  assert.deepEqual(snapshot["sessionDefaults"], {
    defaultAgentId: "main",
    mainKey: "main",
    mainSessionKey: "agent:main:main",
    scope: "per-sender",
  });
  const health = await client.event("health");
  assert.equal((health.payload as { ok: boolean }).ok, true);
  client.end();
});

test("100,000 mutated frames leave the gateway answering with bounded memory", { timeout: 600_000 }, async () => {
  const victim = await operator(gateway);
  const seeds = [
    '{"type":"req","id":"x1","method":"sessions.list","params":{"limit":5}}',
    '{"type":"req","id":"x2","method":"tools.explain","params":{"tool":"exec"}}',
  ];
  const random = mulberry(42);
  const before = await residentBytes(gateway.pid);
  for (let round = 0; round < 100; round++) {
    for (let i = 0; i < 1000; i++) victim.send(mutate(seeds[i % seeds.length] ?? "", random));
    // One answered request per round keeps the sender from running ahead of the reader.
    const answer = await Promise.race([
      victim.request("health"),
      victim.closed.then(() => ({ type: "closed" }) as Frame),
    ]);
    assert.equal(answer.ok, true, `round ${round}`);
    victim.frames.length = 0;
  }
  victim.end();
  assert.equal((await wire.request("health")).ok, true);
  const grown = (await residentBytes(gateway.pid)) - before;
  assert.ok(grown < 60_000_000, `resident memory grew by ${grown} bytes`);
});

function mutate(seed: string, random: () => number): string {
  const bytes = seed.split("");
  const changes = 1 + Math.floor(random() * 4);
  for (let i = 0; i < changes; i++) {
    const at = Math.floor(random() * bytes.length);
    const kind = Math.floor(random() * 4);
    if (kind === 0) bytes[at] = String.fromCodePoint(32 + Math.floor(random() * 95));
    if (kind === 1) bytes.splice(at, 1);
    if (kind === 2) bytes.splice(at, 0, bytes[at] ?? "{");
    if (kind === 3) bytes[at] = '\ud800\u0000\u202e{}[]"'.charAt(Math.floor(random() * 8));
  }
  return bytes.join("");
}

function mulberry(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}

async function residentBytes(pid: number): Promise<number> {
  const { readFile } = await import("node:fs/promises");
  const text = await readFile(`/proc/${pid}/status`, "utf8").catch(() => "VmRSS: 0 kB");
  return Number(/VmRSS:\s+(\d+)/.exec(text)?.[1] ?? 0) * 1024;
}
