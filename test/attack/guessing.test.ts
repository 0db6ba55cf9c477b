// Guessing the shared secret: wrong answers are slowed down, and nobody locks the owner out by giving them.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";

import {
  dispose,
  invoke,
  newIdentity,
  openclaw,
  startGateway,
  Wire,
  type Frame,
  type TestGateway,
} from "../harness/gateway.ts";

const bearer = (gateway: TestGateway, secret: string, headers: Record<string, string> = {}) =>
  invoke(gateway, "agents_list", {}, { headers: { authorization: `Bearer ${secret}`, ...headers } });

async function connect(gateway: TestGateway, plan: object, headers: Record<string, string> = {}): Promise<Frame> {
  const wire = new Wire(gateway.port, { headers });
  const frame = await wire.connect(plan);
  wire.end();
  return frame;
}

describe("GWY-013 with a random token", () => {
  let gateway: TestGateway;
  before(async () => {
    gateway = await startGateway();
  });
  after(() => dispose(gateway));

  test("answers wrong tokens with 401, then 429 with a time to wait", async () => {
    const seen: number[] = [];
    for (let count = 0; count < 12; count += 1) seen.push((await bearer(gateway, `wrong-${count}`)).status);
    assert.deepEqual(seen, [...Array.from({ length: 10 }, () => 401), 429, 429]);
    const wrong = await bearer(gateway, "wrong");
    assert.ok(Number(wrong.headers.get("retry-after")) > 0);
    assert.match(
      (await connect(gateway, { token: "wrong", identity: null })).error?.message ?? "",
      /too many failed attempts/,
    );
  });

  test("admits the right token meanwhile, by every way in", async () => {
    assert.equal((await bearer(gateway, gateway.token)).status, 200);
    assert.equal((await connect(gateway, { token: gateway.token, identity: null })).ok, true);
    assert.equal((await connect(gateway, { token: gateway.token, identity: newIdentity() })).ok, true);
    const { code, stderr } = await openclaw(gateway.home, ["health"]);
    assert.equal(code, 0, stderr);
  });

  test("admits right tokens among a flood of wrong ones", async () => {
    const flood = Array.from({ length: 150 }, (_, index) => bearer(gateway, `flood-${index}`));
    const right = await Promise.all(Array.from({ length: 10 }, () => bearer(gateway, gateway.token)));
    assert.deepEqual(new Set(right.map(({ status }) => status)), new Set([200]));
    assert.deepEqual(new Set((await Promise.all(flood)).map(({ status }) => status)), new Set([429]));
  });
});

describe("GWY-013 with a password", () => {
  const password = "harbour-4711";
  let gateway: TestGateway;
  before(async () => {
    gateway = await startGateway({ config: { gateway: { auth: { mode: "password", password } } } });
  });
  after(() => dispose(gateway));

  const withPassword = (given: string, more: object = {}) => ({
    identity: null,
    ...more,
    extra: { auth: { password: given } },
  });

  test("simultaneous requests do not get more guesses: most are rejected without a comparison", async () => {
    const guesses = await Promise.all(Array.from({ length: 200 }, (_, index) => bearer(gateway, `guess-${index}`)));
    const statuses = guesses.map(({ status }) => status);
    assert.equal(statuses.filter((status) => status === 401).length, 10);
    assert.equal(statuses.filter((status) => status === 429).length, 190);
  });

  test("admits the right password on this machine afterwards, over HTTP, WebSocket and the command line", async () => {
    assert.equal((await bearer(gateway, password)).status, 200);
    assert.equal((await connect(gateway, withPassword(password))).ok, true);
    const { code, stderr } = await openclaw(gateway.home, ["health"]);
    assert.equal(code, 0, stderr);
  });

  test("slows down guesses from other machines without slowing down the owner on this one", async () => {
    const proxied = { "x-forwarded-for": "203.0.113.9" };
    const guesses = Promise.all(Array.from({ length: 40 }, () => bearer(gateway, "guess", proxied)));
    assert.equal((await bearer(gateway, password)).status, 200);
    const statuses = (await guesses).map(({ status }) => status);
    assert.equal(statuses.filter((status) => status === 401).length, 10);
    assert.equal(statuses.filter((status) => status === 429).length, 30);
  });
});
