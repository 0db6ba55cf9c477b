// The local model: the contract cases, and that its process starts with the first request and ends when idle.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { test } from "node:test";

import { embedderCases } from "./embedder.cases.ts";
import { EmbedError } from "./embedder.ts";
import { findExtra, findModelIn } from "./extra.ts";
import { createLocal } from "./local.ts";
import { windowsOf } from "./windows.ts";

const paths = { home: "/", state: "/nowhere", config: "/nowhere", product: "openclaw", profile: undefined } as const;
const model = findExtra(paths);
const absent = { skip: "the local model is not installed here" };

if (model === undefined) test("the local model", absent, () => {});
else {
  const kept = createLocal(model);
  test.after(() => kept.close());
  // One process for all cases: closing it is tested separately below.
  embedderCases("local", async () => ({ embedder: { ...kept, async close() {} }, many: 14 }));

  test("starts the process with the first request, without our keys, and ends it when idle", async () => {
    const pids: number[] = [];
    const embedder = createLocal(model, { idleMs: 100, onStart: (pid) => pids.push(pid) });
    assert.deepEqual(pids, []);
    const coldMs = embedder.waitMs?.() ?? 0;
    await embedder.embed(["one"], "query");
    assert.ok((embedder.waitMs?.() ?? 0) < coldMs, "a question waits longer while the model is loaded");
    await embedder.embed(["two"], "query");
    assert.equal(pids.length, 1);
    const [pid = 0] = pids;
    if (process.platform === "linux") assert.doesNotMatch(readFileSync(`/proc/${pid}/environ`, "utf8"), /PATH=|_KEY=/);
    await gone(pid);
    assert.equal((await embedder.embed(["three"], "query")).length, 1);
    assert.equal(pids.length, 2);
    await embedder.close();
    await gone(pids[1] ?? 0);
  });

  test("fails the pending request when the process dies, and starts it again with the next request", async () => {
    const pids: number[] = [];
    const embedder = createLocal(model, { onStart: (pid) => pids.push(pid) });
    const asked = embedder.embed(["the long story of a lighthouse keeper. ".repeat(60)], "passage");
    process.kill(pids[0] ?? 0, "SIGKILL");
    await assert.rejects(asked, (error: unknown) => error instanceof EmbedError && error.code === "embed.overloaded");
    assert.equal((await embedder.embed(["again"], "query")).length, 1);
    await embedder.close();
  });

  test("a query does not wait for earlier passages", async () => {
    const embedder = createLocal(model);
    await embedder.embed(["warm"], "query");
    const order: string[] = [];
    const long = "the long story of a lighthouse keeper. ".repeat(40);
    const passages = embedder.embed(Array<string>(16).fill(long), "passage").then(() => order.push("passages"));
    await sleep(20);
    await embedder.embed(["who kept the light?"], "query").then(() => order.push("query"));
    await passages;
    assert.deepEqual(order, ["query", "passages"]);
    await embedder.close();
  });

  test("reports invalid weights immediately", async () => {
    const broken = createLocal({ ...model, weights: model.folder });
    await assert.rejects(broken.embed(["one"], "query"), EmbedError);
    await broken.close();
  });

  test("accepts a folder with a custom BERT model and rejects a GGUF file", () => {
    assert.deepEqual(findModelIn(model.folder, model), { ...model, name: "model", maxTokens: 512 });
    assert.deepEqual(findModelIn(model.weights, model)?.weights, model.weights);
    assert.equal(findModelIn("/nowhere/model.gguf", model), undefined);
    assert.equal(findModelIn(import.meta.filename, model), undefined);
  });
}

test("splits long texts at spaces into windows of similar size without losing text", () => {
  const text = Array.from({ length: 700 }, (_, at) => `word${at}`).join(" ");
  const windows = windowsOf(text, 256);
  assert.equal(windows.join(""), text);
  assert.ok(windows.every((part) => part.length <= 256 * 4));
  assert.ok(Math.min(...windows.map(({ length }) => length)) > 300);
  assert.deepEqual(windowsOf("short", 256), ["short"]);
  assert.equal(windowsOf("\u{1F600}".repeat(2000), 64).join(""), "\u{1F600}".repeat(2000));
});

async function gone(pid: number): Promise<void> {
  for (let tries = 0; tries < 2400; tries += 1) {
    try {
      process.kill(pid, 0);
    } catch {
      return;
    }
    await sleep(25);
  }
  assert.fail(`process ${pid} is still there`);
}
