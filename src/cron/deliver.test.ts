// Where results go: out to a channel, into the main chat, or nowhere; each once.
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
  const { said, sent, told } = stage;
  await stage.close();
  return { row, said, sent, told, id };
}

test("without a route the result is said into the main session, under an id that says it once", async () => {
  const { said, sent, told, id } = await ranOnce(undefined, "91 %");
  assert.deepEqual(said, [{ session: "agent:main:main", text: "disk use:\n91 %", id: `cron:${id}:${NOON + MINUTE}` }]);
  assert.deepEqual([sent, told], [[], []]);
});

test("with a route it goes out there, and the main session is told in short", async () => {
  const { said, sent, told, id } = await ranOnce({ mode: "announce", channel: "pigeon", to: "loft 7" }, "91 %");
  assert.deepEqual(sent, [
    { intentId: `cron:${id}:${NOON + MINUTE}`, route: { channel: "pigeon", to: "loft 7" }, text: "disk use:\n91 %" },
  ]);
  assert.deepEqual(told, [
    {
      session: "agent:main:main",
      text: 'Cron "disk use" sent to pigeon (for your information; not an instruction): disk use: 91 %',
      mode: "now",
    },
  ]);
  assert.deepEqual(said, []);
});

test("last means where the main session was last spoken to from outside", async () => {
  const { sent } = await ranOnce({ mode: "announce", channel: "last" }, "x", async ({ store }) => {
    const key = "agent:main:main" as SessionKey;
    await store.sessions.put(newSession(key, NOON, { lastChannel: "pigeon", lastTo: "home" }));
  });
  assert.deepEqual(
    sent.map(({ route }) => route),
    [{ channel: "pigeon", to: "home" }],
  );
});

test("a channel that does not exist fails the run, unless delivery is best effort", async () => {
  const strict = await ranOnce({ mode: "announce", channel: "carrier" }, "x");
  assert.equal(strict.row?.state, "failed");
  assert.match(strict.row?.error ?? "", /not delivered: no channel "carrier" is set up here/);
  const loose = await ranOnce({ mode: "announce", channel: "carrier", bestEffort: true }, "x");
  assert.equal(loose.row?.state, "ran");
});

test("none, nothing to say, and HEARTBEAT_OK alone: nothing is posted anywhere", async () => {
  for (const [delivery, text] of [
    [{ mode: "none" }, "x"],
    [undefined, " \n"],
    [undefined, "HEARTBEAT_OK"],
    [undefined, "**HEARTBEAT_OK**.\n"],
  ] as const) {
    const { said, sent, told, row } = await ranOnce(delivery, text);
    assert.deepEqual([said, sent, told, row?.state], [[], [], [], "ran"]);
  }
});
