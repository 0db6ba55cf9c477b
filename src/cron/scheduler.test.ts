// Slots: one row and at most one start each, over clock changes, load and restarts.
import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "fast-check";

import type { ToolRun } from "./deps.ts";
import { NOON, openStage, pulse, shortRows, type Stage } from "./fixture.cases.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

async function withStage(work: (stage: Stage) => Promise<Stage | void>, plan = {}): Promise<void> {
  const stage = await openStage(plan);
  const last = (await work(stage)) ?? stage;
  await last.close();
}

test("runs a job at its times with one row each", () =>
  withStage(async (stage) => {
    const { id } = await stage.cron.add(pulse(MINUTE));
    for (let minute = 0; minute < 5; minute++) {
      stage.clock.pass(MINUTE);
      await stage.settle();
    }
    assert.deepEqual(shortRows(await stage.rows(id)), ["60 ran", "120 ran", "180 ran", "240 ran", "300 ran"]);
    assert.equal(stage.starts.length, 5);
  }));

test("does not change jobs when they are listed, even when one is due (bug 12440)", () =>
  withStage(
    async (stage) => {
      const { id } = await stage.cron.add(pulse(MINUTE));
      stage.clock.pass(10 * MINUTE);
      for (let look = 0; look < 20; look++) {
        const [job] = await stage.cron.list({ includeDisabled: true });
        assert.equal(job?.state.nextRunAtMs, NOON + MINUTE);
        await stage.cron.status();
        await stage.cron.runs(id, 10);
      }
      assert.deepEqual(await stage.rows(id), []);
    },
    { isSkipped: true },
  ));

test("makes up for the last missed slot once, and records the others", () =>
  withStage(async (stage) => {
    const { id } = await stage.cron.add(pulse(MINUTE));
    stage.clock.pass(5 * MINUTE + 30_000);
    await stage.settle();
    assert.deepEqual(shortRows(await stage.rows(id)), [
      "60 missed",
      "120 missed",
      "180 missed",
      "240 missed",
      "300 ran",
    ]);
    assert.equal(stage.starts.length, 1);
  }));

test("misfire skip drops a missed slot; a window runs it only within the window", () =>
  withStage(async (stage) => {
    const skip = await stage.cron.add(pulse(HOUR, { misfire: "skip" }));
    const wide = await stage.cron.add(pulse(HOUR, { misfire: { windowMs: 20 * MINUTE } }));
    const narrow = await stage.cron.add(pulse(HOUR, { misfire: { windowMs: 10 * MINUTE } }));
    stage.clock.pass(HOUR + 15 * MINUTE);
    await stage.settle();
    assert.deepEqual(shortRows(await stage.rows(skip.id)), ["3600 missed"]);
    assert.deepEqual(shortRows(await stage.rows(wide.id)), ["3600 ran"]);
    assert.deepEqual(shortRows(await stage.rows(narrow.id)), ["3600 missed"]);
    assert.match((await stage.rows(skip.id))[0]?.why ?? "", /900 s late/);
    stage.clock.pass(45 * MINUTE);
    await stage.settle();
    assert.equal((await stage.rows(skip.id)).at(-1)?.state, "ran");
  }));

test("records thousands of missed slots in one row with their count", () =>
  withStage(async (stage) => {
    const { id } = await stage.cron.add(pulse(1000));
    stage.clock.pass(3 * HOUR);
    await stage.settle();
    assert.deepEqual(shortRows(await stage.rows(id)), [`${3 * 3600 - 1} missed x${3 * 3600 - 1}`, `${3 * 3600} ran`]);
  }));

test("skips a slot while the job still runs, with the reason", () =>
  withStage(async (stage) => {
    const { id } = await stage.cron.add(pulse(MINUTE));
    const gate = Promise.withResolvers<void>();
    stage.behave(async () => {
      await gate.promise;
      return { text: "", isError: false };
    });
    stage.clock.pass(MINUTE);
    await stage.settle();
    stage.clock.pass(MINUTE);
    await stage.settle();
    stage.clock.pass(MINUTE);
    assert.deepEqual(await stage.cron.run(id, "force"), { ok: true, ran: false, reason: "already-running" });
    gate.resolve();
    await stage.settle();
    const rows = await stage.rows(id);
    assert.deepEqual(shortRows(rows), ["60 ran", "120 skipped", "180 skipped"]);
    assert.equal(rows[1]?.why, "it was still running");
    assert.equal(stage.starts.length, 1);
  }));

test("names a clock that jumped ahead as the reason for slots that passed while the job ran", () =>
  withStage(async (stage) => {
    const { id } = await stage.cron.add(pulse(10 * MINUTE));
    const gate = Promise.withResolvers<void>();
    stage.behave(async () => {
      await gate.promise;
      return { text: "", isError: false };
    });
    stage.clock.pass(10 * MINUTE);
    await stage.settle();
    stage.clock.pass(10 * MINUTE);
    await stage.settle();
    stage.clock.set(stage.clock.now() + 30 * MINUTE);
    stage.clock.pass(10 * MINUTE);
    gate.resolve();
    await stage.settle();
    assert.deepEqual(
      (await stage.rows(id)).map(({ at, state, why }) => [(at - NOON) / MINUTE, state, why]),
      [
        [10, "ran", "due"],
        [20, "skipped", "it was still running"],
        [30, "missed", "the clock jumped ahead by 1800 s"],
        [40, "missed", "the clock jumped ahead by 1800 s"],
        [50, "missed", "the clock jumped ahead by 1800 s"],
        [60, "skipped", "it was still running"],
      ],
    );
  }));

test("records that other jobs used all slots as the reason for a missed slot", () =>
  withStage(async (stage) => {
    const gate = Promise.withResolvers<void>();
    stage.behave(async ({ args }) => {
      if (args["command"] === "long") await gate.promise;
      return { text: "", isError: false };
    });
    const { id } = await stage.cron.add(pulse(MINUTE));
    stage.clock.pass(2 * MINUTE + 1000);
    const exec = (command: string): Record<string, unknown> => ({ payload: { kind: "exec", command } });
    await stage.cron.add(pulse(30_000, exec("long")));
    stage.clock.pass(30_000);
    await stage.settle();
    assert.deepEqual(shortRows(await stage.rows(id)), ["60 missed", "120 ran"]);
    for (let minute = 0; minute < 3; minute += 1) {
      stage.clock.pass(MINUTE);
      await stage.settle();
    }
    gate.resolve();
    await stage.settle();
    assert.deepEqual(
      (await stage.rows(id)).map(({ state, why }) => [state, why]),
      [
        ["missed", "the gateway was not running"],
        ["ran", "late"],
        ["missed", "other jobs ran (cron.maxConcurrentRuns is 1)"],
        ["missed", "other jobs ran (cron.maxConcurrentRuns is 1)"],
        ["ran", "late"],
      ],
    );
  }));

test("limits concurrent runs and starts the longest waiting job first", () =>
  withStage(
    async (stage) => {
      const ids: string[] = [];
      for (let index = 0; index < 30; index++)
        ids.push((await stage.cron.add(pulse(MINUTE + (30 - index) * 100, { name: `job ${index}` }))).id);
      let [active, most] = [0, 0];
      stage.behave(async () => {
        most = Math.max(most, ++active);
        await new Promise((resolve) => setTimeout(resolve, 1));
        active -= 1;
        return { text: "", isError: false };
      });
      stage.clock.pass(MINUTE + 10_000);
      await stage.settle();
      assert.equal(most, 3);
      const order = stage.starts.map(({ session }) => ids.indexOf(session.split(":")[3] ?? ""));
      assert.deepEqual(
        order,
        Array.from({ length: 30 }, (_, index) => 29 - index),
      );
    },
    { config: { cron: { maxConcurrentRuns: 3 } } },
  ));

test("backs off after errors in a row: 30 s, 1 m, 5 m, 15 m, 60 m; a success resets it", () =>
  withStage(async (stage) => {
    const { id } = await stage.cron.add(pulse(10_000));
    stage.behave(async () => ({ text: "boom", isError: true }));
    const waits: number[] = [];
    for (let round = 0; round < 6; round++) {
      const { state } = await stage.cron.get(id);
      stage.clock.set(state.nextRunAtMs ?? 0);
      await stage.settle();
      waits.push(((await stage.cron.get(id)).state.nextRunAtMs ?? 0) - stage.clock.now());
    }
    assert.deepEqual(
      waits.map((ms) => Math.round(ms / 10_000) * 10),
      [30, 60, 300, 900, 3600, 3600],
    );
    const failed = await stage.cron.get(id);
    assert.equal(failed.state.consecutiveErrors, 6);
    assert.equal(failed.state.lastError, "boom");
    stage.behave(async () => ({ text: "", isError: false }));
    stage.clock.set((failed.state.nextRunAtMs ?? 0) + 1);
    await stage.settle();
    const well = await stage.cron.get(id);
    assert.equal(well.state.consecutiveErrors, undefined);
    assert.equal(well.state.lastError, undefined);
    assert.ok((well.state.nextRunAtMs ?? 0) - stage.clock.now() <= 10_000);
    const rows = await stage.rows(id);
    assert.equal(rows.filter(({ state }) => state === "failed").length, 6);
    assert.match(rows.find(({ state }) => state === "skipped")?.why ?? "", /waiting after 1 error in a row/);
    assertOneRowEach(rows.map(({ slot }) => slot));
  }));

test("removes a one-shot after success, keeps it with deleteAfterRun false, and disables it after an error", () =>
  withStage(async (stage) => {
    const at = new Date(NOON + MINUTE).toISOString();
    const once = { schedule: { kind: "at", at }, payload: { kind: "exec", command: "x" }, delivery: { mode: "none" } };
    const gone = await stage.cron.add({ name: "gone", ...once });
    const kept = await stage.cron.add({ name: "kept", deleteAfterRun: false, ...once });
    stage.clock.pass(MINUTE);
    await stage.settle();
    await assert.rejects(stage.cron.get(gone.id), { code: "cron.unknown-job" });
    assert.equal((await stage.cron.runs(gone.id, 9)).length, 1);
    assert.equal((await stage.cron.get(kept.id)).enabled, false);
    stage.behave(async () => ({ text: "no", isError: true }));
    const bad = await stage.cron.add({ name: "bad", ...once, schedule: { kind: "at", at: "2026-06-01T12:10:00" } });
    stage.clock.set(NOON + 10 * MINUTE);
    await stage.settle();
    const after = await stage.cron.get(bad.id);
    assert.deepEqual([after.enabled, after.state.lastStatus, after.state.nextRunAtMs], [false, "error", undefined]);
  }));

test("runs a job by hand with its own row; mode due only when it is due", () =>
  withStage(async (stage) => {
    const { id } = await stage.cron.add(pulse(HOUR));
    assert.deepEqual(await stage.cron.run(id, "due"), { ok: true, ran: false, reason: "not-due" });
    const { ended, ...answer } = await stage.cron.run(id, "force");
    await ended;
    assert.deepEqual([answer.ok, answer.ran], [true, true]);
    assert.equal((await stage.cron.get(id)).state.nextRunAtMs, NOON + HOUR);
    assert.deepEqual(
      (await stage.cron.runs(id, 9)).map(({ status, why }) => [status, why]),
      [["ok", "by hand"]],
    );
    await assert.rejects(stage.cron.run("nobody", "force"), { code: "cron.unknown-job" });
  }));

test("records the slot of a due job before it is removed, disabled or rescheduled", () =>
  withStage(
    async (stage) => {
      const jobs = await Promise.all([1, 2, 3].map(() => stage.cron.add(pulse(MINUTE))));
      const [removed = "", disabled = "", moved = ""] = jobs.map(({ id }) => id);
      stage.clock.pass(MINUTE);
      await stage.cron.remove(removed);
      await stage.cron.update(disabled, { enabled: false });
      await stage.cron.update(moved, { schedule: { kind: "every", everyMs: HOUR } });
      for (const id of [removed, disabled, moved]) assert.deepEqual(shortRows(await stage.rows(id)), ["60 skipped"]);
      assert.equal((await stage.rows(moved))[0]?.why, "its schedule was changed");
      await stage.cron.update(disabled, { name: "renamed" });
      assert.equal((await stage.cron.get(disabled)).state.nextRunAtMs, undefined);
    },
    { isSkipped: true },
  ));

test("starts no job by schedule when cron is off, and everything else works", () =>
  withStage(
    async (stage) => {
      const { id } = await stage.cron.add(pulse(MINUTE));
      stage.clock.pass(HOUR);
      await stage.settle();
      assert.equal(stage.starts.length, 0);
      assert.deepEqual(await stage.cron.status(), { enabled: false, jobs: 1, nextWakeAtMs: null });
      await (
        await stage.cron.run(id, "force")
      ).ended;
      assert.equal(stage.starts.length, 1);
    },
    { config: { cron: { enabled: false } } },
  ));

test("keeps the newest 2,000 rows of a job", () =>
  withStage(async (stage) => {
    const { id } = await stage.cron.add(pulse(1000));
    await stage.store.jobs.claim(id, (job) => ({
      job,
      rows: Array.from({ length: 2500 }, (_, index) => ({
        jobId: id,
        slot: `old-${index}`,
        at: 1,
        state: "ran" as const,
      })),
    }));
    stage.clock.pass(1000);
    await stage.settle();
    assert.equal((await stage.rows(id)).length, 2000);
  }));

test("makes up once for a clock set forward; after one set back only frequent jobs repeat slots", () =>
  withStage(async (stage) => {
    const frequent = await stage.cron.add(pulse(10 * MINUTE));
    const expression = await stage.cron.add({
      ...pulse(0),
      schedule: { kind: "cron", expr: "*/10 * * * *", tz: "UTC" },
    });
    const daily = await stage.cron.add({ ...pulse(0), schedule: { kind: "cron", expr: "10 12 * * *", tz: "UTC" } });
    const soon = new Date(NOON + 90 * MINUTE).toISOString();
    const once = await stage.cron.add({ ...pulse(0), schedule: { kind: "at", at: soon }, deleteAfterRun: false });
    const ran = async (id: string): Promise<number> =>
      (await stage.rows(id)).filter(({ state }) => state === "ran").length;
    const all = (): Promise<number[]> => Promise.all([frequent, expression, daily, once].map(({ id }) => ran(id)));
    stage.clock.pass(10 * MINUTE);
    await stage.settle();
    assert.deepEqual(await all(), [1, 1, 1, 0]);
    stage.clock.set(stage.clock.now() + HOUR);
    await stage.settle();
    assert.deepEqual(await all(), [2, 2, 1, 0]);
    const whys = (await stage.rows(frequent.id)).filter(({ state }) => state === "missed").map(({ why }) => why);
    assert.deepEqual(
      whys,
      Array.from({ length: 5 }, () => "the clock jumped ahead by 3600 s"),
    );
    stage.clock.set(stage.clock.now() - HOUR);
    await stage.settle();
    for (let step = 1; step <= 6; step++) {
      stage.clock.pass(10 * MINUTE);
      await stage.settle();
      assert.deepEqual(await all(), [2 + step, 2 + step, 1, 0]);
    }
    stage.clock.pass(20 * MINUTE);
    await stage.settle();
    assert.deepEqual(await all(), [9, 9, 1, 1]);
    for (const { id } of [frequent, expression, daily, once])
      assertOneRowEach((await stage.rows(id)).map(({ slot }) => slot));
    assert.equal(stage.starts.length, 20);
    const slots = stage.starts.map(({ session }) => session);
    assertOneRowEach(slots);
  }));

test("runs jobs after the clock was set back while the gateway was stopped", () =>
  withStage(async (stage) => {
    const { id } = await stage.cron.add(pulse(MINUTE));
    for (let minute = 0; minute < 5; minute++) {
      stage.clock.pass(MINUTE);
      await stage.settle();
    }
    stage.clock.set(NOON - HOUR);
    const next = await stage.restart();
    next.clock.pass(MINUTE);
    await next.settle();
    next.clock.pass(MINUTE);
    await next.settle();
    assert.equal((await next.rows(id)).filter(({ state }) => state === "ran").length, 7);
    assertOneRowEach((await next.rows(id)).map(({ slot }) => slot));
    return next;
  }));

test("keeps the length of a back-off when the clock is set back", () =>
  withStage(async (stage) => {
    const { id } = await stage.cron.add(pulse(10_000));
    stage.behave(async () => ({ text: "no", isError: true }));
    stage.clock.pass(10_000);
    await stage.settle();
    stage.behave(async () => ({ text: "done", isError: false }));
    stage.clock.set(NOON - HOUR);
    await stage.settle();
    stage.clock.pass(20_000);
    await stage.settle();
    assert.equal(stage.starts.length, 1);
    stage.clock.pass(20_000);
    await stage.settle();
    assert.equal(stage.starts.length, 2);
    assertOneRowEach((await stage.rows(id)).map(({ slot }) => slot));
  }));

test("F9 runs jobs after the clock went ten years forward and back, also over a restart", () =>
  withStage(async (stage) => {
    const { id } = await stage.cron.add(pulse(HOUR));
    stage.clock.set(NOON + 10 * 366 * 24 * HOUR);
    await stage.settle();
    assert.equal(stage.starts.length, 1);
    stage.clock.set(NOON);
    await stage.settle();
    stage.clock.pass(HOUR + 1);
    await stage.settle();
    assert.equal(stage.starts.length, 2);
    stage.clock.set(NOON + 20 * 366 * 24 * HOUR);
    await stage.settle();
    stage.clock.set(NOON + 3 * HOUR);
    const next = await stage.restart();
    next.clock.pass(HOUR);
    await next.settle();
    assert.equal(next.starts.length, 4);
    assertOneRowEach((await next.rows(id)).map(({ slot }) => slot));
    return next;
  }));

test("F9 waits while the clock is not set", () =>
  withStage(
    async (stage) => {
      await stage.cron.add(pulse(MINUTE));
      stage.clock.pass(HOUR);
      await stage.settle();
      assert.equal(stage.starts.length, 0);
      stage.clock.set(NOON);
      await stage.settle();
      assert.equal(stage.starts.length, 1);
    },
    { now: Date.parse("1970-01-01T00:10:00Z") },
  ));

test("F9 runs once after three hours of sleep, with a row for each missed slot", () =>
  withStage(async (stage) => {
    const { id } = await stage.cron.add({ ...pulse(0), schedule: { kind: "cron", expr: "*/15 * * * *", tz: "UTC" } });
    stage.clock.set(NOON + 3 * HOUR + 1);
    await stage.settle();
    const rows = await stage.rows(id);
    assert.equal(stage.starts.length, 1);
    assert.deepEqual([rows.length, rows.filter(({ state }) => state === "missed").length], [12, 11]);
  }));

test("keeps one row and at most one start per slot for any mix of clock changes, restarts and checks", async () => {
  const step = fc.oneof(
    fc.record({ do: fc.constant("pass" as const), ms: fc.integer({ min: 0, max: 400_000 }) }),
    fc.record({ do: fc.constant("jump" as const), ms: fc.integer({ min: -300_000, max: 900_000 }) }),
    fc.record({ do: fc.constantFrom("restart" as const, "list" as const, "hand" as const), ms: fc.constant(0) }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 12 }), fc.integer({ min: 1, max: 100 }), async (steps, seconds) => {
      let stage = await openStage();
      const { id } = await stage.cron.add(pulse(seconds * 1000));
      const began = NOON;
      for (const { do: what, ms } of steps) {
        if (what === "pass") stage.clock.pass(ms);
        if (what === "jump") stage.clock.set(Math.max(began, stage.clock.now() + ms));
        if (what === "restart") stage = await stage.restart();
        if (what === "list") await stage.cron.list();
        if (what === "hand") await (await stage.cron.run(id, "force")).ended;
        await stage.settle();
      }
      // Whatever the clock did, the job goes on within two of its intervals.
      const before = stage.starts.length;
      stage.clock.pass(2 * seconds * 1000 + 1);
      await stage.settle();
      assert.ok(stage.starts.length > before, "the job is silent");
      const rows = await stage.rows(id);
      assertOneRowEach(rows.map(({ slot }) => slot));
      assertNoHoles(rows, began, seconds * 1000);
      assert.equal(stage.starts.length, rows.filter(({ state }) => state === "ran").length);
      await stage.close();
    }),
    { numRuns: Number(process.env["OPENCLAW_PROPERTY_RUNS"] ?? 25) },
  );
});

function assertOneRowEach(slots: readonly string[]): void {
  assert.equal(new Set(slots).size, slots.length);
}

/** Every time from the first on to the last that has a row has one, alone or in a row for many. */
function assertNoHoles(
  rows: readonly { slot: string; at: number; missed?: number }[],
  began: number,
  everyMs: number,
): void {
  const timed = rows.filter(({ slot }) => !slot.startsWith("run-"));
  // A time that came again after the clock was set back has a row for each time it came.
  const times = new Set(
    timed.flatMap(({ at, missed = 1 }) => Array.from({ length: missed }, (_, back) => at - back * everyMs)),
  );
  const last = Math.max(began, ...times);
  assert.equal(times.size, Math.round((last - began) / everyMs));
}

test("calls a tool with the agent and its own session, without restarts when it is late", () =>
  withStage(async (stage) => {
    const job = await stage.cron.add({
      name: "look",
      schedule: { kind: "every", everyMs: MINUTE },
      payload: { kind: "tool", tool: "sessions_list", args: { limit: 1 } },
      delivery: { mode: "none" },
    });
    stage.clock.pass(MINUTE);
    await stage.settle();
    const [run] = stage.starts as [ToolRun];
    assert.deepEqual([run.tool, run.args, run.agent, run.toolsDeny], ["sessions_list", { limit: 1 }, "main", []]);
    assert.match(run.session, new RegExp(`^agent:main:cron:${job.id}:run:[0-9a-f-]{36}$`));
    stage.clock.pass(MINUTE + 5_000);
    const next = await stage.restart();
    await next.settle();
    stage.clock.pass(MINUTE);
    await next.settle();
    assert.deepEqual(
      next.starts.map(({ toolsDeny }) => toolsDeny),
      [[], ["gateway"], []],
    );
    return next;
  }));
