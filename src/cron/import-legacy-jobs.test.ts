// Jobs of an older file are imported once with their missed times; the file stays unchanged.
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";

import { NOON, openStage, shortRows } from "./fixture.cases.ts";

const folder = mkdtempSync(join(tmpdir(), "older-"));
after(() => rmSync(folder, { recursive: true, force: true }));
const HOUR = 3_600_000;

const older = {
  version: 1,
  jobs: [
    {
      id: "11111111-2222-3333-4444-555555555555",
      name: "brief",
      enabled: true,
      createdAtMs: NOON - 100 * HOUR,
      updatedAtMs: NOON - 50 * HOUR,
      schedule: { kind: "cron", expr: "0 7 * * *", tz: "UTC" },
      sessionTarget: "isolated",
      wakeMode: "now",
      payload: { kind: "exec", command: "true", deliver: false },
      state: { nextRunAtMs: NOON - 5 * HOUR, lastRunAtMs: NOON - 29 * HOUR, lastStatus: "ok", lastDurationMs: 7 },
    },
    {
      id: "pulse",
      name: "pulse",
      createdAtMs: NOON - 90_000,
      schedule: { kind: "every", everyMs: HOUR },
      payload: { kind: "systemEvent", text: "tick" },
      state: {},
    },
    { id: "Odd Id", name: "once", schedule: { kind: "at", atMs: NOON - HOUR }, payload: { text: "over" }, state: {} },
    {
      id: "orphan",
      name: "orphan",
      agentId: "Ghost",
      schedule: { kind: "every", everyMs: HOUR },
      payload: { text: "x" },
    },
    { id: "bad", name: "bad", schedule: { kind: "cron", expr: "nonsense" }, payload: { text: "x" } },
    "not a job",
  ],
};

test("imports an older jobs.json once with ids, states and missed times, and leaves the file unchanged", async () => {
  const file = join(folder, "jobs.json");
  writeFileSync(file, JSON.stringify(older));
  const before = { text: readFileSync(file, "utf8"), at: statSync(file).mtimeMs };
  let stage = await openStage({ olderFile: file });
  await stage.settle();
  const jobs = await stage.cron.list({ includeDisabled: true });
  assert.deepEqual(Object.fromEntries(jobs.map(({ name, enabled }) => [name, enabled])), {
    brief: true,
    once: false,
    orphan: true,
    pulse: true,
  });
  assert.equal(jobs.find(({ name }) => name === "orphan")?.agentId, "ghost");
  const brief = jobs.find(({ name }) => name === "brief");
  assert.equal(brief?.id, "11111111-2222-3333-4444-555555555555");
  assert.deepEqual(shortRows(await stage.rows(brief?.id ?? "")), [`${-5 * 3600} ran`]);
  assert.deepEqual(brief?.delivery, { mode: "none" });
  const pulse = jobs.find(({ name }) => name === "pulse");
  assert.equal(pulse?.state.nextRunAtMs, NOON - 90_000 + HOUR);
  await stage.cron.remove("pulse");
  stage = await stage.restart();
  assert.equal((await stage.cron.list({ includeDisabled: true })).length, 3);
  assert.deepEqual({ text: readFileSync(file, "utf8"), at: statSync(file).mtimeMs }, before);
  await stage.close();
});

test("ignores a file that is not a list of jobs", async () => {
  for (const text of ["{", "[1,2]", '{"jobs":7}', "null"]) {
    const file = join(folder, "broken.json");
    writeFileSync(file, text);
    const stage = await openStage({ olderFile: file });
    assert.deepEqual(await stage.cron.list({ includeDisabled: true }), []);
    assert.equal(readFileSync(file, "utf8"), text);
    await stage.close();
  }
});
