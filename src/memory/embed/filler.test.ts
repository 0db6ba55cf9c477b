// Computing vectors in the background: batches, failures, a rejected text, stop and resume.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";

import { openIndexFile } from "../index-file.ts";
import { EmbedError, type Embedder, type FillPort, type OpenedEmbedder } from "./embedder.ts";
import { createFiller } from "./filler.ts";
import { toVector } from "./vector.ts";
import { createVectors } from "./vectors.ts";

const folder = mkdtempSync(join(tmpdir(), "filler-"));
after(() => rmSync(folder, { recursive: true, force: true }));
const quiet = { error() {}, warn() {}, info() {}, debug() {}, child: () => quiet };
let count = 0;

function index(texts: readonly string[], file = join(folder, `${(count += 1)}.sqlite`)) {
  const opened = openIndexFile(file);
  const { database } = opened;
  database.prepare("INSERT OR IGNORE INTO files VALUES (1, 'MEMORY.md', 'memory', '', 0, 0, '')").run();
  for (const text of texts)
    database
      .prepare("INSERT INTO chunks (file, start_line, end_line, text, hash) VALUES (1, 1, 1, ?, ?)")
      .run(text, `#${text}`);
  const tableOf = (fingerprint: string) => createVectors(database, { fingerprint, useExtension: true, maxCached: 10 });
  const port: FillPort = {
    pending: async (fingerprint, limit) => tableOf(fingerprint).pending(limit),
    put: async (fingerprint, rows) => tableOf(fingerprint).put(rows),
  };
  return {
    file,
    port,
    close: () => opened.close(),
    status: (fingerprint = "local|fake|") => tableOf(fingerprint).status(),
  };
}

function fake(embed: Embedder["embed"], name = "fake"): Embedder {
  return { provider: "local", model: name, fingerprint: `local|${name}|`, stride: 4, embed, async close() {} };
}

const works: Embedder["embed"] = async (texts) => texts.map((text) => toVector([text.length, 1]));
const names = (many: number): string[] => Array.from({ length: many }, (_, at) => `text number ${at}`);

test("computes all vectors after a poke, one batch at a time", async () => {
  const { port, status, close } = index(names(10));
  const sizes: number[] = [];
  const embedder = fake(async (texts, kind, signal) => {
    sizes.push(texts.length);
    return works(texts, kind, signal);
  });
  const filler = createFiller({ open: async () => ({ embedder }), port, log: quiet, breatheMs: 0 });
  filler.poke();
  assert.equal(filler.isBusy(), true);
  await filler.settled();
  assert.deepEqual(sizes, [4, 4, 2]);
  assert.deepEqual([status().ready, status().missing, filler.problem()], [10, 0, undefined]);
  await filler.close();
  close();
});

test("keeps finished work after a stop; another filler continues", async () => {
  const first = index(names(10));
  let calls = 0;
  const slow = fake(async (texts, kind, signal) => {
    calls += 1;
    if (calls === 2) closing = stopped.close();
    return works(texts, kind, signal);
  });
  let closing: Promise<void> | undefined;
  const stopped = createFiller({ open: async () => ({ embedder: slow }), port: first.port, log: quiet, breatheMs: 0 });
  stopped.poke();
  await stopped.settled();
  await closing;
  const { missing } = first.status();
  assert.ok(missing > 0 && missing < 10, `${missing} missing`);
  first.close();
  const second = index([], first.file);
  const asked: string[] = [];
  const embedder = fake(async (texts, kind, signal) => {
    asked.push(...texts);
    return works(texts, kind, signal);
  });
  const filler = createFiller({ open: async () => ({ embedder }), port: second.port, log: quiet, breatheMs: 0 });
  filler.poke();
  await filler.settled();
  assert.equal(asked.length, missing);
  assert.equal(second.status().missing, 0);
  await filler.close();
  second.close();
});

test("reports a failure, waits, and tries again", async () => {
  const { port, status, close } = index(names(3));
  let isDown = true;
  const embedder = fake(async (texts, kind, signal) => {
    if (isDown) throw new EmbedError("network", "nobody there");
    return works(texts, kind, signal);
  });
  const filler = createFiller({ open: async () => ({ embedder }), port, log: quiet, breatheMs: 0, restMs: 30 });
  filler.poke();
  await filler.settled();
  assert.equal(filler.problem(), "nobody there");
  filler.poke();
  assert.equal(filler.isBusy(), false);
  isDown = false;
  while (status().missing > 0) await new Promise((resolve) => setTimeout(resolve, 10));
  await filler.settled();
  assert.equal(filler.problem(), undefined);
  await filler.close();
  close();
});

test("continues immediately with another embedder, in its own space", async () => {
  const { port, status, close } = index(names(3));
  const broken = fake(async () => {
    throw new EmbedError("auth", "the key was not accepted");
  }, "broken");
  let now: OpenedEmbedder = { embedder: broken };
  const filler = createFiller({
    open: async () => {
      const opened = now;
      now = { embedder: fake(works) };
      return opened;
    },
    port,
    log: quiet,
    breatheMs: 0,
  });
  filler.poke();
  await filler.settled();
  assert.deepEqual([status().missing, status("local|broken|").missing], [0, 3]);
  await filler.close();
  close();
});

test("a rejected text does not block the others and is not sent again", async () => {
  const { port, status, close } = index(["good one", "bad", "good two"]);
  let calls = 0;
  const embedder = fake(async (texts, kind, signal) => {
    calls += 1;
    if (texts.includes("bad")) throw new EmbedError("invalid", "no such text, please");
    return works(texts, kind, signal);
  });
  const filler = createFiller({ open: async () => ({ embedder }), port, log: quiet, breatheMs: 0 });
  filler.poke();
  await filler.settled();
  assert.equal(status().missing, 0);
  const before = calls;
  filler.poke();
  await filler.settled();
  assert.equal(calls, before);
  await filler.close();
  close();
});

test("a server that rejects every text is reported as a problem", async () => {
  const { port, status, close } = index(names(3));
  const embedder = fake(async () => {
    throw new EmbedError("invalid", "no such model");
  });
  const filler = createFiller({ open: async () => ({ embedder }), port, log: quiet, breatheMs: 0 });
  filler.poke();
  await filler.settled();
  assert.deepEqual([status().missing, filler.problem()], [3, "no such model"]);
  await filler.close();
  close();
});

test("without an embedder there is no work, and the reason is kept", async () => {
  const { port, close } = index(names(3));
  const filler = createFiller({ open: async () => ({ reason: "no key" }), port, log: quiet });
  filler.poke();
  await filler.settled();
  assert.equal(filler.problem(), "no key");
  await filler.close();
  close();
});
