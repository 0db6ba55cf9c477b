// Vectors in an index file: the same cases with the extension and without it.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";

import fc from "fast-check";

import { openIndexFile, type IndexFile } from "../index-file.ts";
import type { VectorOptions, Vectors } from "./embedder.ts";
import { dot, toVector } from "./vector.ts";
import { createVectors } from "./vectors.ts";

const folder = mkdtempSync(join(tmpdir(), "vectors-"));
after(() => rmSync(folder, { recursive: true, force: true }));
let count = 0;
const newFile = (): string => join(folder, `${(count += 1)}.sqlite`);

function open(file: string, more: Partial<VectorOptions> = {}): { index: IndexFile; vectors: Vectors } {
  const index = openIndexFile(file);
  return {
    index,
    vectors: createVectors(index.database, { fingerprint: "a|m", useExtension: true, maxCached: 10, ...more }),
  };
}

function write(index: IndexFile, texts: readonly string[]): void {
  index.database.prepare("INSERT OR IGNORE INTO files VALUES (1, 'MEMORY.md', 'memory', '', 0, 0, '')").run();
  const add = index.database.prepare(
    "INSERT INTO chunks (file, start_line, end_line, text, hash) VALUES (1, 1, 1, ?, ?)",
  );
  for (const text of texts) add.run(text, `#${text}`);
}

function fill(vectors: Vectors, vectorOf: (text: string) => number[]): string[] {
  const done: string[] = [];
  for (;;) {
    const rows = vectors.pending(3);
    if (rows.length === 0) return done;
    done.push(...rows.map(({ text }) => text));
    vectors.put(rows.map(({ hash, text }) => ({ hash, vector: toVector(vectorOf(text)) })));
  }
}

const byLetter = (text: string): number[] => [text.startsWith("a") ? 1 : 0, text.startsWith("b") ? 1 : 0, 0.1];
const textsOf = (index: IndexFile, ids: readonly { id: number }[]): string[] =>
  ids.map(({ id }) => String(index.database.prepare("SELECT text FROM chunks WHERE id = ?").get(id)?.["text"]));

for (const useExtension of [true, false])
  describe(useExtension ? "with sqlite-vec" : "without an extension", () => {
    test("requests every text once, finds it by similarity, and counts it", () => {
      const { index, vectors } = open(newFile(), { useExtension });
      write(index, ["a one", "b two", "a three", "a one", "c four"]);
      assert.deepEqual(vectors.status(), { enabled: true, engine: useExtension ? "vec0" : "js", ready: 0, missing: 5 });
      assert.deepEqual(fill(vectors, byLetter).toSorted(), ["a one", "a three", "b two", "c four"]);
      assert.deepEqual(vectors.status(), {
        enabled: true,
        engine: useExtension ? "vec0" : "js",
        dimensions: 3,
        ready: 5,
        missing: 0,
      });
      const found = vectors.search(toVector([1, 0, 0.1]), 3);
      assert.deepEqual(textsOf(index, found).toSorted(), ["a one", "a one", "a three"]);
      assert.ok(found.every(({ score }) => score > 0.999 && score < 1.001));
      assert.deepEqual(textsOf(index, vectors.search(toVector([0, 1, 0.1]), 1)), ["b two"]);
      const [far, near] = vectors.nearness(toVector([0, 1, 0.1]), [1, 2, 99]);
      assert.ok((far?.score ?? 1) < 0.1 && (near?.score ?? 0) > 0.99);
      index.close();
    });

    test("does not find removed texts, and reuses the vector of a text that returns", () => {
      const file = newFile();
      const { index, vectors } = open(file, { useExtension });
      write(index, ["a one", "b two"]);
      fill(vectors, byLetter);
      index.database.exec("DELETE FROM chunks WHERE text = 'a one'");
      assert.deepEqual(textsOf(index, vectors.search(toVector([1, 0, 0]), 5)), ["b two"]);
      vectors.sweep();
      assert.deepEqual(textsOf(index, vectors.search(toVector([1, 0, 0]), 5)), ["b two"]);
      write(index, ["a one"]);
      assert.deepEqual(vectors.pending(5), []);
      assert.deepEqual(textsOf(index, vectors.search(toVector([1, 0, 0]), 1)), ["a one"]);
      index.close();
    });

    test("the cache keeps the most recently used vectors, up to its size", () => {
      const { index, vectors } = open(newFile(), { useExtension, maxCached: 2 });
      write(index, ["a1", "a2", "a3", "b1"]);
      fill(vectors, byLetter);
      index.database.exec("DELETE FROM chunks WHERE text LIKE 'a%'");
      vectors.sweep();
      write(index, ["a1", "a2", "a3"]);
      assert.equal(fill(vectors, byLetter).length, 1);
      index.close();
    });

    test("another embedder starts with no vectors; the old ones stay until the new ones are complete", () => {
      const file = newFile();
      const first = open(file, { useExtension });
      write(first.index, ["a one", "b two"]);
      fill(first.vectors, byLetter);
      first.index.close();
      const second = open(file, { useExtension, fingerprint: "other|m" });
      assert.deepEqual(second.vectors.search(toVector([1, 0, 0.1]), 5), []);
      assert.equal(second.vectors.status().missing, 2);
      second.vectors.sweep();
      second.index.close();
      const back = open(file, { useExtension });
      assert.equal(back.vectors.status().missing, 0);
      assert.deepEqual(textsOf(back.index, back.vectors.search(toVector([1, 0, 0.1]), 1)), ["a one"]);
      back.index.close();
      const again = open(file, { useExtension, fingerprint: "other|m", maxCached: 0 });
      assert.equal(fill(again.vectors, (text) => [...byLetter(text), 1]).length, 2);
      again.vectors.sweep();
      assert.equal(again.vectors.status().dimensions, 4);
      again.index.close();
      const gone = open(file, { useExtension });
      assert.equal(gone.vectors.status().missing, 2);
      gone.index.close();
    });

    test("vectors of another size under the same name replace the old ones", () => {
      const { index, vectors } = open(newFile(), { useExtension });
      write(index, ["a one"]);
      fill(vectors, byLetter);
      write(index, ["b two"]);
      assert.deepEqual(fill(vectors, (text) => [...byLetter(text), 1]).toSorted(), ["a one", "b two"]);
      assert.deepEqual(textsOf(index, vectors.search(toVector([1, 0, 0, 1]), 1)), ["a one"]);
      assert.deepEqual(vectors.search(toVector([1, 0, 0]), 1), []);
      index.close();
    });

    test("a text without meaning is not requested again and never found; a query without meaning finds nothing", () => {
      const { index, vectors } = open(newFile(), { useExtension });
      write(index, ["a one", "???"]);
      assert.equal(fill(vectors, (text) => (text === "???" ? [0, 0, 0] : byLetter(text))).length, 2);
      assert.deepEqual(textsOf(index, vectors.search(toVector([1, 0, 0]), 5)), ["a one"]);
      vectors.sweep();
      assert.deepEqual(vectors.pending(5), []);
      assert.deepEqual(vectors.search(toVector([0, 0, 0]), 5), []);
      assert.equal(vectors.status().missing, 0);
      index.close();
    });

    test("a rebuilt index reuses the vectors of the old file", () => {
      const old = newFile();
      const first = open(old, { useExtension });
      write(first.index, ["a one", "b two"]);
      fill(first.vectors, byLetter);
      first.index.close();
      const fresh = newFile();
      const made = openIndexFile(fresh);
      write(made, ["b two", "c three"]);
      made.close();
      const { index, vectors } = open(fresh, { useExtension, adopt: old, maxCached: 0 });
      vectors.sweep();
      assert.deepEqual(fill(vectors, byLetter), ["c three"]);
      assert.deepEqual(textsOf(index, vectors.search(toVector([0, 1, 0.1]), 1)), ["b two"]);
      index.close();
    });

    test("reuses the vectors of an index with thousands of chunks", () => {
      const texts = Array.from({ length: 4500 }, (_, at) => `a ${at}`);
      const old = newFile();
      const first = open(old, { useExtension });
      first.index.database.exec("BEGIN");
      write(first.index, texts);
      first.vectors.put(
        first.vectors.pending(10_000).map(({ hash, text }) => ({ hash, vector: toVector(byLetter(text)) })),
      );
      first.index.database.exec("COMMIT");
      first.index.close();
      const { index, vectors } = open(newFile(), { useExtension });
      index.database.exec("BEGIN");
      write(index, texts);
      index.database.exec("COMMIT");
      const again = createVectors(index.database, { fingerprint: "a|m", useExtension, maxCached: 0, adopt: old });
      assert.deepEqual(again.pending(10), []);
      assert.deepEqual([again.status().ready, again.status().missing], [4500, 0]);
      assert.equal(again.search(toVector([1, 0, 0]), 4000).length, 4000);
      assert.equal(vectors.status().missing, 0);
      index.close();
    });

    test("ranks any set of vectors by cosine", () => {
      const numbers = fc.array(fc.integer({ min: -5, max: 5 }), { minLength: 4, maxLength: 4 });
      fc.assert(
        fc.property(fc.array(numbers, { minLength: 1, maxLength: 20 }), numbers, (rows, query) => {
          fc.pre(query.some((value) => value !== 0));
          const { index, vectors } = open(newFile(), { useExtension });
          write(
            index,
            rows.map((_, at) => `t${at}`),
          );
          fill(vectors, (text) => rows[Number(text.slice(1))] ?? []);
          const found = vectors.search(toVector(query), 5).map(({ score }) => score);
          const expected = rows
            .filter((row) => row.some((value) => value !== 0))
            .map((row) => Math.max(0, dot(toVector(row), toVector(query))))
            .toSorted((left, right) => right - left)
            .slice(0, 5);
          index.close();
          assert.equal(found.length, expected.length);
          for (const [at, score] of found.entries()) assert.ok(Math.abs(score - (expected[at] ?? 0)) < 1e-5);
        }),
        { numRuns: 20 },
      );
    });
  });

test("works without an extension that cannot be loaded", () => {
  const { index, vectors } = open(newFile(), { extensionPath: join(folder, "nothing.so") });
  assert.equal(vectors.status().engine, "js");
  index.close();
});

test("repairs a file that was used without the extension", () => {
  const file = newFile();
  const first = open(file);
  write(first.index, ["a one"]);
  fill(first.vectors, byLetter);
  first.index.close();
  const second = open(file, { useExtension: false });
  write(second.index, ["b two"]);
  fill(second.vectors, byLetter);
  second.index.close();
  const third = open(file);
  assert.equal(third.vectors.status().engine, "vec0");
  assert.deepEqual(textsOf(third.index, third.vectors.search(toVector([0, 1, 0]), 1)), ["b two"]);
  third.index.close();
});
