// What a start of the gateway makes of jobs: a scheduler that is switched off, and jobs of an older installation.
import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { addJob, ask, hourly, quiet, runsOf, type WireJob } from "../../harness/cron.ts";
import { until } from "../../harness/exec.ts";
import { dispose, operator, startGateway, tempHome } from "../../harness/gateway.ts";

test("cron.enabled false and OPENCLAW_SKIP_CRON: no job runs by itself; enabling takes effect immediately", async () => {
  const home = tempHome();
  const off = await startGateway({ home, config: { cron: { enabled: false } } });
  const client = await operator(off);
  const { id } = await addJob(client, {
    name: "x",
    schedule: { kind: "every", everyMs: 1000 },
    command: "echo x",
    delivery: quiet,
  });
  assert.deepEqual((await ask<{ enabled: boolean }>(client, "cron.status", {})).enabled, false);
  await sleep(1000);
  assert.deepEqual(await runsOf(client, id), []);
  assert.match(off.output(), /scheduler disabled; jobs will not run automatically/);
  const file = join(off.state, "openclaw.json");
  writeFileSync(file, readFileSync(file, "utf8").replace('"enabled": false', '"enabled": true'));
  await until(
    () => runsOf(client, id),
    (runs) => runs.some(({ state }) => state === "ran"),
  );
  client.end();
  await off.stop();
  const skipped = await startGateway({ home, env: { OPENCLAW_SKIP_CRON: "1" } });
  const again = await operator(skipped);
  const before = (await runsOf(again, id)).length;
  await sleep(1000);
  assert.equal((await runsOf(again, id)).length, before);
  again.end();
  await dispose(skipped);
});

test("imports an older jobs.json at the first start and leaves it unchanged", async () => {
  const home = tempHome();
  const folder = join(home, ".openclaw", "cron");
  mkdirSync(folder, { recursive: true });
  const file = join(folder, "jobs.json");
  const jobs = [
    {
      id: "older-1",
      name: "older",
      enabled: true,
      schedule: hourly,
      payload: { kind: "systemEvent", text: "hi" },
      state: {},
    },
  ];
  writeFileSync(file, JSON.stringify({ version: 1, jobs }));
  const text = readFileSync(file, "utf8");
  const started = await startGateway({ home });
  const client = await operator(started);
  const listed = await until(
    async () => (await ask<{ jobs: WireJob[] }>(client, "cron.list", {})).jobs,
    (found) => found.length === 1,
  );
  assert.deepEqual([listed[0]?.id, listed[0]?.name], ["older-1", "older"]);
  assert.equal(readFileSync(file, "utf8"), text);
  assert.equal(existsSync(`${file}.bak`), false);
  client.end();
  await dispose(started);
});
