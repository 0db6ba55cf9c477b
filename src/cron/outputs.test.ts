import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readdirSync, rmSync, utimesSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";

import { openStage, pulse } from "./fixture.cases.ts";
import { createJobOutputs } from "./outputs.ts";

test("pages through the output of a run, and deletes it with the job", async (t) => {
  const stage = await openStage();
  t.after(() => stage.close());
  const lines = Array.from({ length: 500 }, (_, at) => `line ${at}`);
  stage.behave(async () => ({ text: lines.join("\n"), isError: false }));
  const { id } = await stage.cron.add(pulse(60_000));
  const { ended } = await stage.cron.run(id, "force");
  await ended;
  const [entry] = await stage.cron.runs(id, 10);
  const slot = entry?.slot ?? "";
  const page = await stage.cron.output(id, slot, { offset: 498, limit: 10 });
  assert.deepEqual(page, { offset: 498, totalLines: 500, text: "line 498\nline 499" });
  await stage.cron.remove(id);
  await assert.rejects(stage.cron.output(id, slot, { offset: 0, limit: 1 }), { code: "cron.no-output" });
});

test("keeps the end of a long output and the newest 50 of a job, inside the folder of the job", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "outputs-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const outputs = createJobOutputs(join(folder, "output"));
  await outputs.write("../../escape", "..", `first\n${"x".repeat(2_000_000)}\nlast`);
  assert.deepEqual(readdirSync(folder), ["output"]);
  const page = await outputs.page("../../escape", "..", 0, 10);
  assert.match(page?.text ?? "", /^\[\d+ earlier bytes were not stored\]\nlast$/);
  for (let at = 0; at < 60; at += 1) {
    await outputs.write("job", String(at), "x\ny");
    utimesSync(join(folder, "output", "job", `${at}.txt`), at + 1, at + 1);
  }
  await outputs.write("job", "60", "x\ny");
  assert.equal(readdirSync(join(folder, "output", "job")).length, 50);
  await outputs.prune(async (id) => id === "job", Date.now() + 1000);
  assert.deepEqual(readdirSync(join(folder, "output")), ["job"]);
  assert.ok(existsSync(join(folder, "output", "job", "60.txt")));
});
