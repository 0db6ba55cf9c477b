// Lines for the main session over kill -9: a wake that a sender repeats, and a job's line, are told once and not lost.
// The full rounds: OPENCLAW_LINE_ROUNDS=100 node --test test/e2e/fault/system-events.test.ts
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { openSqliteStore } from "../../../src/store/sqlite.ts";
import { addJob, runsOf } from "../../harness/cron.ts";
import { until } from "../../harness/exec.ts";
import { say } from "../../fakes/openai.ts";
import { hook, openHookGateway, type HookGateway } from "../../harness/hook.ts";
import { operator, startGateway } from "../../harness/gateway.ts";
import { chat } from "../../harness/model.ts";

const rounds = Number(process.env["OPENCLAW_LINE_ROUNDS"] ?? 2);
const AT_ONCE = 4;
/** No turn begins by itself: lines wait for a message, and are counted in what the model then reads. */
const noBeat = { agents: { defaults: { model: { primary: "fake/fake-1" }, heartbeat: { every: "0m" } } } };

async function open(): Promise<HookGateway> {
  const runtime = await openHookGateway({}, noBeat);
  runtime.script = () => say("read");
  return runtime;
}

test(
  `${rounds} kills around repeated wakes: each line is delivered once`,
  { timeout: 300_000 + rounds * 60_000 },
  async (t) => {
    const runtime = await open();
    t.after(() => runtime.close());
    for (let round = 0; round < rounds; round++) {
      const names = Array.from({ length: AT_ONCE }, (_, index) => `wake-${round}-${index}.`);
      const sent = names.map((name) => wake(runtime, name));
      await sleep(Math.random() * 80);
      await kill(runtime);
      await Promise.all(sent);
      // As a sender does: what was not answered, and what was, comes again.
      for (const name of names) assert.equal(await wake(runtime, name), 200);
      const told = await readLines(runtime, `round ${round}`);
      assert.deepEqual(
        names.map((name) => told.split(name).length - 1),
        names.map(() => 1),
        told,
      );
    }
  },
);

test("a job's line that a killed gateway claimed is delivered once by the next one, and its row says ran", async (t) => {
  const runtime = await open();
  t.after(() => runtime.close());
  const hourly = { kind: "every", everyMs: 3_600_000 };
  const job = (text: string) => ({ name: text, schedule: hourly, wakeMode: "next-heartbeat", payload: { text } });
  const untold = await addJob(runtime.wire, job("claimed and not told."));
  const told = await addJob(runtime.wire, job("claimed and told."));
  await runtime.gateway.stop("SIGKILL");
  const store = await openSqliteStore({ file: join(runtime.gateway.state, "openclaw.sqlite") });
  const at = Date.now();
  for (const { id } of [untold, told])
    await store.jobs.claim(id, (current) => ({
      job: current,
      rows: [{ jobId: id, slot: String(at), at, state: "running", startedAt: at, runId: `cron:${id}` }],
    }));
  const key = "agent:main:main";
  const value = [{ id: "line-1", at, text: "claimed and told." }];
  await store.slots.note({ jobId: told.id, slot: String(at) }, "told", { space: "system-events", key, value });
  await store.close();
  runtime.gateway = await startGateway({ home: runtime.gateway.home });
  runtime.wire = await operator(runtime.gateway);
  for (const { id } of [untold, told]) {
    const runs = await until(
      () => runsOf(runtime.wire, id),
      (rows) => rows.length > 0,
    );
    assert.deepEqual(
      runs.map(({ state }) => state),
      ["ran"],
    );
  }
  const words = await readLines(runtime, "what is new?");
  assert.equal(words.split("claimed and not told.").length - 1, 1, words);
  assert.equal(words.split("claimed and told.").length - 1, 1, words);
});

test(
  `${rounds} kills around lines of jobs: one row each, none unknown, each delivered once`,
  { timeout: 300_000 + rounds * 60_000 },
  async (t) => {
    const runtime = await open();
    t.after(() => runtime.close());
    for (let round = 0; round < rounds; round++) {
      const at = Date.now() + 1500;
      const texts = Array.from({ length: AT_ONCE }, (_, index) => `line-${round}-${index}.`);
      const ids: string[] = [];
      for (const text of texts) {
        const schedule = { kind: "at", at: new Date(at).toISOString() };
        const plan = { name: text, schedule, wakeMode: "next-heartbeat", deleteAfterRun: false, payload: { text } };
        ids.push((await addJob(runtime.wire, plan)).id);
      }
      await sleep(Math.max(0, at - Date.now()) + Math.random() * 60);
      await kill(runtime);
      for (const id of ids) {
        const runs = await until(
          () => runsOf(runtime.wire, id),
          (rows) => rows.length > 0,
          120_000,
        );
        assert.deepEqual(
          runs.map(({ state }) => state),
          ["ran"],
        );
      }
      const told = await readLines(runtime, `round ${round}`);
      assert.deepEqual(
        texts.map((text) => told.split(text).length - 1),
        texts.map(() => 1),
        told,
      );
    }
  },
);

/** The status, or 0 when the gateway ended before it answered. */
async function wake({ gateway }: HookGateway, name: string): Promise<number> {
  const body = { text: `news ${name}`, mode: "next-heartbeat" };
  return hook(gateway, "/wake", body, { "x-openclaw-delivery": name }).then(
    ({ status }) => status,
    () => 0,
  );
}

async function kill(runtime: HookGateway): Promise<void> {
  runtime.wire.end();
  await runtime.gateway.stop("SIGKILL");
  runtime.gateway = await startGateway({ home: runtime.gateway.home });
  runtime.wire = await operator(runtime.gateway);
}

/** What the model reads with the next message: the System lines that waited, then the message. */
async function readLines(runtime: HookGateway, message: string): Promise<string> {
  const before = runtime.received().length;
  await chat(runtime.wire, "main", message, `read-${message}-${before}`);
  return runtime.received().slice(before).join("\n");
}
