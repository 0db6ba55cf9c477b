import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, mock, test } from "node:test";

import type { Log } from "../../base/log.ts";
import { openStore } from "../../store/builtin.ts";
import { startHeartbeatTimer, type Beating, type HeartbeatTimer } from "./timer.ts";

const folder = mkdtempSync(join(tmpdir(), "heartbeat-timer-"));
const store = await openStore({ file: join(folder, "store.db") });
after(async () => {
  await store.close();
  rmSync(folder, { recursive: true });
});
const silent: Log = { error() {}, warn() {}, info() {}, debug() {}, child: () => silent };

interface CommandRun {
  readonly beats: [agentId: string, dueAt: number, at: number][];
  /** Both clocks go on; timers fire. */
  readonly pass: (ms: number) => Promise<void>;
  /** The machine sleeps: only the wall clock goes on. */
  readonly sleep: (ms: number) => void;
  readonly timer: HeartbeatTimer;
  plan: Beating[];
  answer: "over" | "busy";
  now: number;
  readonly restart: () => void;
  readonly close: () => Promise<void>;
}

async function scene(agentId: string, everyMs: number): Promise<CommandRun> {
  mock.timers.enable({ apis: ["setTimeout"] });
  const me: { -readonly [Name in keyof CommandRun]?: CommandRun[Name] } = {};
  let ticks = 0;
  const start = (): HeartbeatTimer =>
    startHeartbeatTimer({
      plan: () => me.plan ?? [],
      async beat(id, dueAt) {
        me.beats?.push([id, dueAt, me.now ?? 0]);
        return me.answer ?? "over";
      },
      begin: async () => {},
      kv: store.kv,
      clock: { now: () => me.now ?? 0, ticks: () => ticks },
      log: silent,
    });
  Object.assign(me, {
    beats: [],
    plan: [{ agentId, everyMs }],
    answer: "over",
    now: 1_000_000,
    async pass(ms: number) {
      for (let left = ms; left > 0; left -= 500) {
        me.now = (me.now ?? 0) + 500;
        ticks += 500;
        mock.timers.tick(500);
        // Writes to the store are real and take a moment.
        await store.settle();
        for (let turn = 0; turn < 6; turn++) await new Promise((resolve) => setImmediate(resolve));
      }
    },
    sleep: (ms: number) => (me.now = (me.now ?? 0) + ms),
    restart() {
      me.timer?.close();
      me.timer = start();
    },
    async close() {
      me.timer?.close();
      mock.timers.reset();
      await store.settle();
    },
  });
  me.timer = start();
  return me as CommandRun;
}

test("beats one interval after the start, and then one interval after each due time", async () => {
  const { beats, pass, close } = await scene("row", 60_000);
  await pass(200_000);
  const dues = beats.map(([, dueAt]) => dueAt);
  assert.equal(dues.length, 3);
  assert.deepEqual([(dues[1] ?? 0) - (dues[0] ?? 0), (dues[2] ?? 0) - (dues[1] ?? 0)], [60_000, 60_000]);
  await close();
});

test("makes up for missed beats with one beat after the machine slept", async () => {
  const { beats, pass, sleep, close } = await scene("slept", 60_000);
  await pass(61_000);
  assert.equal(beats.length, 1);
  sleep(10 * 3_600_000);
  await pass(16_000);
  assert.equal(beats.length, 2);
  await pass(120_000);
  assert.equal(beats.length, 4);
  assert.equal(((beats[3]?.[1] ?? 0) - (beats[0]?.[1] ?? 0)) % 60_000, 0);
  await close();
});

test("beats also when restarts are more frequent than the interval", async () => {
  const runtime = await scene("restarted", 60_000);
  for (let round = 0; round < 10; round++) {
    await runtime.pass(20_000);
    runtime.restart();
  }
  assert.equal(runtime.beats.length, 3);
  assert.equal(new Set(runtime.beats.map(([, dueAt]) => dueAt)).size, 3);
  await runtime.close();
});

test("retries a busy session every second for the same due time", async () => {
  const runtime = await scene("busy", 60_000);
  runtime.answer = "busy";
  await runtime.pass(66_000);
  const tries = runtime.beats.length;
  assert.ok(tries >= 3 && tries <= 7, `${tries} tries`);
  runtime.answer = "over";
  await runtime.pass(2000);
  assert.equal(new Set(runtime.beats.map(([, dueAt]) => dueAt)).size, 1);
  const done = runtime.beats.length;
  await runtime.pass(40_000);
  assert.equal(runtime.beats.length, done);
  await runtime.close();
});

test("does not wait for the repeated time after a clock was set back, and applies a changed interval immediately", async () => {
  const runtime = await scene("clock", 60_000);
  await runtime.pass(30_000);
  runtime.now -= 24 * 3_600_000;
  await runtime.pass(80_000);
  assert.equal(runtime.beats.length, 1);
  runtime.plan = [{ agentId: "clock", everyMs: 10_000 }];
  runtime.timer.check();
  await runtime.pass(11_000);
  assert.ok(runtime.beats.length >= 2);
  runtime.plan = [];
  const count = runtime.beats.length;
  await runtime.pass(60_000);
  assert.equal(runtime.beats.length, count);
  await runtime.close();
});
