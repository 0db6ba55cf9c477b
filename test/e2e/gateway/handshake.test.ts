// The first request of a connection: every recorded refusal with its code, words and close code, and what is let in.
import assert from "node:assert/strict";
import { createHash, randomUUID, sign } from "node:crypto";
import { after, before, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { until } from "../../harness/exec.ts";
import {
  connectParams,
  dispose,
  newIdentity,
  startGateway,
  Wire,
  type ConnectPlan,
  type TestGateway,
} from "../../harness/gateway.ts";

let gateway: TestGateway;
before(async () => {
  gateway = await startGateway();
});
after(() => dispose(gateway));

interface Outcome {
  readonly error?: unknown;
  readonly close?: { code: number; reason: string };
  readonly ok?: boolean;
}

/** What a socket gets for its first frame: an error and a close, or a hello. */
async function first(
  send: (wire: Wire, nonce: string) => void,
  options: ConstructorParameters<typeof Wire>[1] = {},
): Promise<Outcome> {
  const wire = new Wire(gateway.port, options);
  send(wire, await wire.challenge);
  let close: Outcome["close"];
  void wire.closed.then((closed) => (close = closed));
  const isAccepted = (): boolean => wire.frames.some((frame) => frame.type === "res" && frame.ok === true);
  await until(() => close !== undefined || isAccepted(), Boolean);
  // An accepted connection stays open.
  if (close === undefined) await sleep(300);
  const answer = wire.frames.find((frame) => frame.type === "res");
  wire.end();
  return {
    ...(answer?.error === undefined ? {} : { error: { code: answer.error.code, message: answer.error.message } }),
    ...(answer?.ok === true ? { ok: true } : {}),
    ...(close === undefined ? {} : { close }),
  };
}

const raw = (text: string | Buffer) => (wire: Wire) => wire.send(text);
const identity = newIdentity();
const connect =
  (plan: ConnectPlan = {}, change: (params: Record<string, never>) => void = () => {}) =>
  (wire: Wire, nonce: string) => {
    const params = connectParams({ token: gateway.token, identity, ...plan }, nonce) as Record<string, never>;
    change(params);
    wire.send(JSON.stringify({ type: "req", id: "1", method: "connect", params }));
  };
const refusal = (message: string, closeCode = 1008, code = "INVALID_REQUEST"): Outcome => ({
  error: { code, message },
  close: { code: closeCode, reason: message.slice(0, 120) },
});

const cases: [
  name: string,
  send: (wire: Wire, nonce: string) => void,
  expected: () => Outcome,
  options?: ConstructorParameters<typeof Wire>[1],
][] = [
  [
    "another method first",
    raw(JSON.stringify({ type: "req", id: "1", method: "health" })),
    () => refusal("invalid handshake: first request must be connect"),
  ],
  [
    "an event first",
    raw(JSON.stringify({ type: "event", event: "x" })),
    () => ({ close: { code: 1008, reason: "invalid request frame" } }),
  ],
  ["broken JSON first", raw("{nope"), () => ({ close: { code: 1000, reason: "" } })],
  ["an array first", raw("[]"), () => ({ close: { code: 1008, reason: "invalid request frame" } })],
  ["binary rubbish first", raw(Buffer.from([1, 2, 3])), () => ({ close: { code: 1000, reason: "" } })],
  [
    "no params",
    raw(JSON.stringify({ type: "req", id: "1", method: "connect" })),
    () => refusal("invalid connect params: must be object"),
  ],
  [
    "empty params",
    raw(JSON.stringify({ type: "req", id: "1", method: "connect", params: {} })),
    () =>
      refusal(
        "invalid connect params: must have required property 'minProtocol'; must have required property 'maxProtocol'; must have required property 'client'",
      ),
  ],
  [
    "an unknown field",
    connect({ extra: { zzz: 1 } }),
    () => refusal("invalid connect params: at root: unexpected property 'zzz'"),
  ],
  ["an unknown role", connect({ role: "king" }), () => refusal("invalid role")],
  ["an unknown scope", connect({ scopes: ["operator.zzz"] }), () => ({ ok: true })],
  [
    "a wrong token",
    connect({ token: "wrong" }),
    () => refusal("unauthorized: gateway token mismatch (provide gateway auth token)"),
  ],
  [
    "a wrong token from the command line",
    connect({ token: "wrong", client: { id: "cli", mode: "cli" } }),
    () => refusal("unauthorized: gateway token mismatch (set gateway.remote.token to match gateway.auth.token)"),
  ],
  [
    "no token",
    connect({ token: undefined }),
    () => refusal("unauthorized: gateway token missing (provide gateway auth token)"),
  ],
  [
    "no token and no device",
    connect({ token: undefined, identity: null }),
    () => refusal("device identity required", 1008, "NOT_PAIRED"),
  ],
  ["the right token without a device", connect({ identity: null }), () => ({ ok: true })],
  [
    "a page client without an Origin",
    connect({ identity: null, client: { id: "openclaw-control-ui", mode: "webchat" } }),
    () =>
      refusal(
        "origin not allowed (open the Control UI from the gateway host or allow it in gateway.controlUi.allowedOrigins)",
      ),
  ],
  [
    "a password in place of the token",
    connect({}, (params) => void Object.assign(params, { auth: { password: "x" } })),
    () => refusal("device signature invalid"),
  ],
  ["protocol 4 to 5", connect({ protocol: [4, 5] }), () => refusal("protocol mismatch", 1002)],
  ["protocol 1 to 2", connect({ protocol: [1, 2] }), () => refusal("protocol mismatch", 1002)],
  ["protocol 1 to 9", connect({ protocol: [1, 9] }), () => ({ ok: true })],
  [
    "a bad signature",
    connect(
      {},
      (params) => void Object.assign(params["device"] ?? {}, { signature: Buffer.alloc(64).toString("base64url") }),
    ),
    () => refusal("device signature invalid"),
  ],
  [
    "a device id of another key",
    connect(
      {},
      (params) => void Object.assign(params["device"] ?? {}, { id: createHash("sha256").update("x").digest("hex") }),
    ),
    () => refusal("device identity mismatch"),
  ],
  [
    "a garbage key",
    connect({}, (params) => void Object.assign(params["device"] ?? {}, { publicKey: "AAAA" })),
    () => refusal("device identity mismatch"),
  ],
  ["a replayed nonce", connect({ nonce: randomUUID() }), () => refusal("device nonce mismatch")],
  ["an old signature", connect({ signedAt: Date.now() - 11 * 60_000 }), () => refusal("device signature expired")],
  ["a nine minutes old signature", connect({ signedAt: Date.now() - 9 * 60_000 }), () => ({ ok: true })],
  [
    "a foreign page",
    connect({ client: { id: "openclaw-control-ui", mode: "webchat" } }),
    originRefused,
    { headers: { origin: "https://evil.example" } },
  ],
  [
    "a foreign page that claims another client",
    connect(),
    originRefused,
    { headers: { origin: "https://evil.example" } },
  ],
  ["an opaque origin", connect(), originRefused, { headers: { origin: "null" } }],
  ["any path", connect(), () => ({ ok: true }), { path: "/a/b?x=1" }],
  [
    "a known device through a proxy",
    connect(),
    () => ({ ok: true }),
    { headers: { "x-forwarded-for": "203.0.113.9" } },
  ],
];

function originRefused(): Outcome {
  return refusal(
    "origin not allowed (open the Control UI from the gateway host or allow it in gateway.controlUi.allowedOrigins)",
  );
}

for (const [name, send, expected, options] of cases) {
  test(`connect with ${name}`, async () => {
    assert.deepEqual(await first(send, options), expected());
  });
}

test("accepts the older signature form without a nonce from loopback", async () => {
  const outcome = await first((wire) => {
    const params = connectParams({ token: gateway.token, identity }, "");
    const device = params["device"] as { signedAt: number; signature: string; nonce?: string };
    const text = [
      "v1",
      identity.id,
      "gateway-client",
      "backend",
      "operator",
      "operator.admin,operator.approvals,operator.pairing",
      String(device.signedAt),
      gateway.token,
    ].join("|");
    device.signature = sign(null, Buffer.from(text), identity.key).toString("base64url");
    delete device.nonce;
    wire.send(JSON.stringify({ type: "req", id: "1", method: "connect", params }));
  });
  assert.deepEqual(outcome, { ok: true });
});

test("GWY-021 closes a silent socket after ten seconds", { timeout: 120_000 }, async () => {
  const wire = new Wire(gateway.port);
  await wire.challenge;
  assert.deepEqual(await wire.closed, { code: 1000, reason: "" });
});

test("a frame over the limit closes the socket before authentication", async () => {
  const outcome = await first(
    raw(JSON.stringify({ type: "req", id: "1", method: "connect", params: { pad: "x".repeat(600_000) } })),
  );
  assert.deepEqual(outcome, { close: { code: 1009, reason: "" } });
});
