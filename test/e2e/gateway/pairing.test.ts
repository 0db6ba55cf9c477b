// Devices: silent pairing at the machine itself, requests from elsewhere, tokens, codes, and no way to more than the record.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import {
  detailsOf,
  dispose,
  newIdentity,
  operator,
  startGateway,
  Wire,
  type ConnectPlan,
  type Frame,
  type TestGateway,
} from "../../harness/gateway.ts";

let gateway: TestGateway;
let admin: Wire;
before(async () => {
  gateway = await startGateway();
  admin = await operator(gateway);
});
after(async () => {
  admin.end();
  await dispose(gateway);
});

const remote = { headers: { "x-forwarded-for": "203.0.113.9" } };
async function tryConnect(
  plan: ConnectPlan,
  options: ConstructorParameters<typeof Wire>[1] = {},
): Promise<{ frame: Frame; wire: Wire }> {
  const wire = new Wire(gateway.port, options);
  return { frame: await wire.connect(plan), wire };
}
interface Hello {
  readonly auth?: { readonly deviceToken: string; readonly role: string; readonly scopes: string[] };
}
const helloOf = (frame: Frame) => frame.payload as Hello;

test("pairs a device on this machine automatically and gives it a token that works alone", async () => {
  const identity = newIdentity();
  const first = await tryConnect({ token: gateway.token, identity });
  const token = helloOf(first.frame).auth?.deviceToken ?? "";
  assert.match(token, /^[0-9a-f]{32}$/);
  first.wire.end();
  const second = await tryConnect({ token, identity });
  assert.equal(second.frame.ok, true);
  assert.equal(helloOf(second.frame).auth?.deviceToken, token);
  second.wire.end();
});

test("a device token is useless without its device's key", async () => {
  const identity = newIdentity();
  const { frame, wire } = await tryConnect({ token: gateway.token, identity });
  wire.end();
  const thief = await tryConnect({ token: helloOf(frame).auth?.deviceToken, identity: newIdentity() });
  assert.match(thief.frame.error?.message ?? "", /^unauthorized: gateway token mismatch/);
});

test("a device from another machine waits for approval with one request, then connects", async () => {
  const identity = newIdentity();
  const plan = { token: gateway.token, identity, scopes: ["operator.read"] };
  const first = await tryConnect(plan, remote);
  assert.equal(first.frame.error?.code, "NOT_PAIRED");
  assert.deepEqual(await first.wire.closed, { code: 1008, reason: "pairing required" });
  const { requestId } = detailsOf(first.frame);
  const again = await tryConnect(plan, remote);
  assert.equal(detailsOf(again.frame)["requestId"], requestId);
  const asked = await admin.event("device.pair.requested");
  assert.equal((asked.payload as { requestId: string }).requestId, requestId);

  const approved = await admin.call("device.pair.approve", { requestId });
  assert.equal(approved.device.deviceId, identity.id);
  await admin.event("device.pair.resolved");
  const inside = await tryConnect(plan, remote);
  assert.equal(inside.frame.ok, true);
  inside.wire.end();
});

test("GWY-009 refuses a known device that asks for more than its record and creates a repair request", async () => {
  const identity = newIdentity();
  const narrow = await tryConnect({ token: gateway.token, identity, scopes: ["operator.read"] });
  assert.equal(narrow.frame.ok, true);
  narrow.wire.end();
  const wide = await tryConnect({ token: gateway.token, identity, scopes: ["operator.admin"] });
  assert.equal(wide.frame.error?.code, "NOT_PAIRED");
  const { pending } = await admin.call("device.pair.list", {});
  assert.equal(pending.find(({ deviceId }) => deviceId === identity.id)?.isRepair, true);
});

test("an empty scope list grants nothing, also for a device approved for more", async () => {
  const identity = newIdentity();
  (await tryConnect({ token: gateway.token, identity })).wire.end();
  const bare = await tryConnect({ token: gateway.token, identity, scopes: [] });
  assert.equal(bare.frame.ok, true);
  assert.equal((await bare.wire.request("health")).error?.message, "missing scope: operator.read");
  bare.wire.end();
});

test("rotating a token ends the old one; revoking it closes its connections", async () => {
  const identity = newIdentity();
  const { frame, wire } = await tryConnect({ token: gateway.token, identity });
  const old = helloOf(frame).auth?.deviceToken;
  const rotated = await admin.call("device.token.rotate", { deviceId: identity.id, role: "operator" });
  const fresh = rotated.token;
  assert.notEqual(fresh, old);
  assert.equal((await tryConnect({ token: old, identity })).frame.ok, false);
  const renewed = await tryConnect({ token: fresh, identity });
  assert.equal(renewed.frame.ok, true);
  renewed.wire.end();
  await admin.request("device.token.revoke", { deviceId: identity.id, role: "operator" });
  assert.equal((await wire.closed).code, 1008);
  assert.equal((await tryConnect({ token: fresh, identity })).frame.ok, false);
});

test("GWY-010 a client cannot rotate or approve beyond its own scopes", async () => {
  const target = newIdentity();
  (await tryConnect({ token: gateway.token, identity: target, scopes: ["operator.read"] })).wire.end();
  const beyondRecord = await admin.request("device.token.rotate", {
    deviceId: target.id,
    role: "operator",
    scopes: ["operator.admin"],
  });
  assert.equal(beyondRecord.ok, false);
  const pairer = await operator(gateway, { scopes: ["operator.pairing"] });
  const waiting = await tryConnect({ token: gateway.token, identity: newIdentity() }, remote);
  const { requestId } = detailsOf(waiting.frame);
  const beyondApprover = await pairer.request("device.pair.approve", { requestId });
  assert.match(beyondApprover.error?.message ?? "", /more than your own scopes/);
  pairer.end();
});

test("a pairing code admits one browser once, from anywhere", async () => {
  const { code } = await admin.call("device.pair.code", {});
  const identity = newIdentity();
  const first = await tryConnect({ token: code, identity }, remote);
  assert.equal(first.frame.ok, true);
  first.wire.end();
  const second = await tryConnect({ token: code, identity: newIdentity() }, remote);
  assert.equal(second.frame.ok, false);
});

test("devices, approvals and tokens survive a kill", async () => {
  const own = await startGateway();
  const identity = newIdentity();
  const wire = new Wire(own.port);
  const token = helloOf(await wire.connect({ token: own.token, identity })).auth?.deviceToken;
  await own.stop("SIGKILL");
  const next = await startGateway({ home: own.home });
  const again = new Wire(next.port);
  assert.equal((await again.connect({ token, identity })).ok, true);
  again.end();
  await dispose(next);
});
