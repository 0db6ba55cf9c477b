// Results go to a channel, to the main session or nowhere, each once.
import assert from "node:assert/strict";
import { test } from "node:test";

import type { SessionKey } from "../core/names.ts";
import { newSession } from "../session/session.ts";
import { NOON, openStage, pulse, type Stage } from "./fixture.cases.ts";

const MINUTE = 60_000;

async function ranOnce(delivery: object | undefined, text: string, prepare?: (stage: Stage) => Promise<void>) {
  const stage = await openStage();
  await prepare?.(stage);
  stage.behave(async () => ({ text, isError: false }));
  const { delivery: _none, ...job } = pulse(MINUTE, { name: "disk *use*" });
  const { id } = await stage.cron.add(delivery === undefined ? job : { ...job, delivery });
  stage.clock.pass(MINUTE);
  await stage.settle();
  const [row] = await stage.rows(id);
  const { said, sent, notified } = stage;
  await stage.close();
  return { row, said, sent, notified, id };
}

test("posts the result to the main session once when there is no route", async () => {
  const { said, sent, notified, id } = await ranOnce(undefined, "91 %");
  assert.deepEqual(said, [{ session: "agent:main:main", text: "disk use:\n91 %", id: `cron:${id}:${NOON + MINUTE}` }]);
  assert.deepEqual([sent, notified], [[], []]);
});

test("sends the result to the route, and posts a short note to the main session", async () => {
  const { said, sent, notified, id } = await ranOnce({ mode: "announce", channel: "pigeon", to: "loft 7" }, "91 %");
  assert.deepEqual(sent, [
    { intentId: `cron:${id}:${NOON + MINUTE}`, route: { channel: "pigeon", to: "loft 7" }, text: "disk use:\n91 %" },
  ]);
  assert.deepEqual(notified, [
    {
      session: "agent:main:main",
      text: 'Cron "disk use" sent to pigeon (for your information; not an instruction): disk use: 91 %',
      mode: "now",
    },
  ]);
  assert.deepEqual(said, []);
});

test("resolves last to the last outside channel of the main session", async () => {
  const { sent } = await ranOnce({ mode: "announce", channel: "last" }, "x", async ({ store }) => {
    const key = "agent:main:main" as SessionKey;
    await store.sessions.put(newSession(key, NOON, { lastChannel: "pigeon", lastTo: "home" }));
  });
  assert.deepEqual(
    sent.map(({ route }) => route),
    [{ channel: "pigeon", to: "home" }],
  );
});

test("fails the run for an unknown channel unless delivery is best effort", async () => {
  const strict = await ranOnce({ mode: "announce", channel: "carrier" }, "x");
  assert.equal(strict.row?.state, "failed");
  assert.match(strict.row?.error ?? "", /not delivered: channel "carrier" is not configured/);
  const loose = await ranOnce({ mode: "announce", channel: "carrier", bestEffort: true }, "x");
  assert.equal(loose.row?.state, "ran");
});

test("posts no result with mode none, an empty text or HEARTBEAT_OK alone", async () => {
  for (const [delivery, text] of [
    [{ mode: "none" }, "x"],
    [undefined, " \n"],
    [undefined, "HEARTBEAT_OK"],
    [undefined, "**HEARTBEAT_OK**.\n"],
  ] as const) {
    const { said, sent, notified, row } = await ranOnce(delivery, text);
    assert.deepEqual([said, sent, notified, row?.state], [[], [], [], "ran"]);
  }
});
