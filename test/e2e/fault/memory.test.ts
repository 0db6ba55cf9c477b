// Memory under faults (F34): killed while reading in, embeddings gone, very many notes, a storm of edits. Search answers.
// All rounds: OPENCLAW_MEMORY_ROUNDS=200 OPENCLAW_MEMORY_MB=1024 node --test test/e2e/fault/memory.test.ts
import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout as wait } from "node:timers/promises";

import { until } from "../../harness/exec.ts";
import { startFakeEmbeddings } from "../../fakes/embeddings.ts";
import { say, startFakeOpenAI } from "../../fakes/openai.ts";
import type { Performance } from "../../fakes/server.ts";
import { json } from "../../fakes/server.ts";
import { dispose, invoke, operator, startGateway, tempHome, type TestGateway } from "../../harness/gateway.ts";
import { chat, startWithModel } from "../../harness/model.ts";

const rounds = Number(process.env["OPENCLAW_MEMORY_ROUNDS"] ?? 2);
const megabytes = Number(process.env["OPENCLAW_MEMORY_MB"] ?? 40);

interface Answer {
  readonly results: readonly { readonly path: string }[];
  readonly provider: string;
  readonly notes?: readonly string[];
  readonly indexing?: true;
  readonly disabled?: true;
}

async function search(gateway: TestGateway, query: string): Promise<Answer> {
  const { status, body } = await invoke(gateway, "memory_search", { query });
  assert.equal(status, 200, JSON.stringify(body));
  const { details } = (body as { result: { details: Answer } }).result;
  assert.equal(details.disabled, undefined, JSON.stringify(details));
  return details;
}

/** Asked again while notes are still being indexed. */
const searchAtRest = (gateway: TestGateway, query: string): Promise<Answer> =>
  until(
    () => search(gateway, query),
    ({ indexing }) => indexing !== true,
  );

const filler = (bytes: number): string =>
  "filler words of a long day ".repeat(Math.ceil(bytes / 27)).replaceAll(/(.{80}) /g, "$1\n");

function fill(workspace: string, count: number, bytes: number): void {
  for (let at = 0; at < count; at += 1) {
    const folder = join(workspace, "memory", String(at % 20));
    if (at < 20) mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, `${at}.md`), `note${at}end\n${filler(bytes)}\n`);
  }
}

test(
  `after ${rounds} kills during indexing the next gateway answers immediately and completes the index`,
  { timeout: 300_000 + rounds * 60_000 },
  async () => {
    const home = tempHome();
    const count = 600;
    const config = { agents: { defaults: { memorySearch: { provider: "none" } } } };
    fill(join(home, ".openclaw", "workspace"), count, 12_000);
    for (let round = 0; round < rounds; round += 1) {
      const gateway = await startGateway({ home, config });
      const wire = await operator(gateway);
      void wire.request("memory.index", { force: round % 2 === 0 }).catch(() => undefined);
      void invoke(gateway, "memory_search", { query: "filler" }).catch(() => undefined);
      await wait(30 + ((round * 137) % 900));
      await gateway.stop("SIGKILL");
    }
    const gateway = await startGateway({ home, config });
    const wire = await operator(gateway);
    try {
      await search(gateway, "filler words");
      await wire.request("memory.index", {});
      assert.deepEqual(
        (await search(gateway, `note${count - 1}end`)).results.map(({ path }) => path),
        [`memory/${(count - 1) % 20}/${count - 1}.md`],
      );
      const { files, chunks, deep } = await wire.call("memory.status", { deep: true });
      const rebuilt = await wire.call("memory.index", { force: true });
      assert.deepEqual({ files, chunks, sound: deep?.sound }, { files: count, chunks: rebuilt.chunks, sound: true });
    } finally {
      wire.end();
      await dispose(gateway);
    }
  },
);

test(
  "search answers by text with the reason when embeddings fail, hang, answer nonsense or are missing",
  { timeout: 600_000 },
  async () => {
    let mode: "well" | "error" | "hang" | "drop" | "nonsense" = "well";
    const instead = (): Performance | "hang" | "drop" | undefined => {
      if (mode === "error") return json(500, { error: { message: "it burns" } });
      if (mode === "nonsense") return json(200, { data: [{ index: 0, embedding: ["x"] }] });
      return mode === "well" ? undefined : mode;
    };
    const server = await startFakeEmbeddings("openai", { instead, synonyms: { vehicle: "car" } });
    const remote = { baseUrl: server.url, apiKey: "sk-fake-0123456789abcdef" };
    const gateway = await startGateway({
      config: { agents: { defaults: { memorySearch: { provider: "openai", remote, query: { minScore: 0 } } } } },
    });
    try {
      mkdirSync(join(gateway.workspace, "memory"), { recursive: true });
      writeFileSync(join(gateway.workspace, "memory", "a.md"), "the red car stands in the yard\n");
      writeFileSync(join(gateway.workspace, "memory", "b.md"), "soup with lentils for supper\n");
      const first = await searchAtRest(gateway, "car");
      assert.equal(first.results[0]?.path, "memory/a.md");
      const byMeaning = await until(
        () => search(gateway, "vehicle"),
        ({ provider }) => provider === "openai",
      );
      assert.equal(byMeaning.results[0]?.path, "memory/a.md");
      for (const broken of ["error", "nonsense", "hang", "drop"] as const) {
        mode = broken;
        const { results, provider, notes = [] } = await search(gateway, "red car");
        assert.deepEqual([results[0]?.path, provider], ["memory/a.md", "none"], broken);
        assert.ok(
          notes.some((note) => note.startsWith("text search only, without semantic search: ")),
          `${broken}: ${notes.join()}`,
        );
      }
      await server.close();
      const gone = await search(gateway, "red car");
      assert.deepEqual([gone.results[0]?.path, gone.provider], ["memory/a.md", "none"]);
      // Notes written meanwhile are found by their words.
      writeFileSync(join(gateway.workspace, "memory", "c.md"), "the yellow tram is late\n");
      assert.equal((await searchAtRest(gateway, "tram")).results[0]?.path, "memory/c.md");
    } finally {
      await dispose(gateway);
    }
  },
);

test(
  `${megabytes} MB of notes: chat and search answer while they are indexed`,
  { timeout: 600_000 + megabytes * 5000 },
  async () => {
    const server = await startFakeOpenAI(() => say("hello"));
    const gateway = await startWithModel(server, {
      more: { agents: { defaults: { model: { primary: "fake/fake-1" }, memorySearch: { provider: "none" } } } },
    });
    const wire = await operator(gateway);
    try {
      const size = 100_000;
      const count = megabytes * 10;
      fill(gateway.workspace, count, size);
      writeFileSync(join(gateway.workspace, "memory", "huge.md"), "x".repeat(20_000_000));
      const done = wire.request("memory.index", {});
      let isDone = false;
      void done.then(() => {
        isDone = true;
      });
      const during: boolean[] = [];
      for (let round = 0; !isDone || round < 3; round += 1) {
        const { state } = await chat(wire, "main", "hello", `run-${round}`);
        assert.equal(state, "final");
        const { indexing } = await search(gateway, "filler note0end");
        during.push(indexing === true);
      }
      assert.ok(during.includes(true), "some of it happened while notes were read in");
      const { files, deep } = await wire.call("memory.status", { deep: true });
      assert.deepEqual({ files, sound: deep?.sound }, { files: count, sound: true });
      assert.equal((await search(gateway, `note${count - 1}end`)).results.length, 1);
    } finally {
      wire.end();
      await dispose(gateway);
      await server.close();
    }
  },
);

test("searches answer during many edits, and the last text is found", { timeout: 600_000 }, async () => {
  const gateway = await startGateway({
    config: { agents: { defaults: { memorySearch: { provider: "none", sync: { watchDebounceMs: 100 } } } } },
  });
  const wire = await operator(gateway);
  try {
    fill(gateway.workspace, 100, 2000);
    await search(gateway, "filler");
    for (let round = 0; round < 40; round += 1) {
      for (let at = 0; at < 100; at += 1)
        writeFileSync(
          join(gateway.workspace, "memory", String(at % 20), `s${at}.md`),
          `storm round${round} number${at}\n`,
        );
      await search(gateway, "storm");
    }
    writeFileSync(join(gateway.workspace, "memory", "0", "s0.md"), "the eye of the hurricane\n");
    assert.equal((await searchAtRest(gateway, "hurricane")).results[0]?.path, "memory/0/s0.md");
    for (let tries = 0; ; tries += 1) {
      const { dirty, indexing, files } = await wire.call("memory.status", {});
      if (!dirty && !indexing && files === 200) break;
      assert.ok(tries < 1200, "the index comes to rest");
      await wait(100);
    }
    assert.deepEqual((await searchAtRest(gateway, "round38")).results, []);
  } finally {
    wire.end();
    await dispose(gateway);
  }
});
