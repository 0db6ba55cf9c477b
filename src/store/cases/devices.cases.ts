// Contract cases of the tables of devices and of pairing requests.
import assert from "node:assert/strict";
import { it } from "node:test";

import type { Ground } from "./context.ts";

export function deviceCases(ground: Ground): void {
  it("stores, replaces and deletes a device, also over a restart", async () => {
    await ground.store().devices.put("d1", { name: "phone", scopes: ["read"] });
    await ground.store().devices.put("d2", { name: "laptop" });
    await ground.store().devices.put("d1", { name: "phone", scopes: [] });
    const store = await ground.restart();
    assert.deepEqual(await store.devices.get("d1"), { name: "phone", scopes: [] });
    assert.deepEqual(await store.devices.list(), [{ name: "phone", scopes: [] }, { name: "laptop" }]);
    assert.equal(await store.devices.delete("d1"), true);
    assert.equal(await store.devices.delete("d1"), false);
    const again = await ground.restart();
    assert.equal(await again.devices.get("d1"), undefined);
  });

  it("finds a request by its id and the newest by its device", async () => {
    const { pending } = ground.store().devices;
    await pending.put({ requestId: "r1", deviceId: "d1", expiresAt: 10, body: { turn: 1 } });
    await pending.put({ requestId: "r2", deviceId: "d1", expiresAt: 20, body: { turn: 2 } });
    assert.deepEqual(await pending.get("r1"), { turn: 1 });
    assert.deepEqual(await pending.byDevice("d1"), { turn: 2 });
    assert.equal(await pending.byDevice("d2"), undefined);
    await pending.put({ requestId: "r1", deviceId: "d1", expiresAt: 10, body: { turn: 3 } });
    assert.deepEqual(await pending.get("r1"), { turn: 3 });
    assert.equal(await pending.delete("r1"), true);
    assert.equal(await pending.delete("r1"), false);
  });

  it("lists only requests that have not expired, and prunes the others", async () => {
    const { pending } = ground.store().devices;
    for (const expiresAt of [10, 20, 30]) {
      await pending.put({ requestId: `r${expiresAt}`, deviceId: "d", expiresAt, body: expiresAt });
    }
    assert.deepEqual(await pending.list(20), [30]);
    assert.deepEqual(await pending.list(5), [10, 20, 30]);
    assert.equal(await pending.prune(20), 2);
    assert.deepEqual(await pending.list(5), [30]);
  });
}
