// Merging text and semantic results.
import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "fast-check";

import type { Ranked } from "./embedder.ts";
import { rank } from "./rank.ts";

const usual = { text: 0.3, vector: 0.7 };
const close = (list: readonly Ranked[]) => list.map(({ id, score }) => [id, Math.round(score * 1000) / 1000]);

test("adds both weighted scores over the union of both lists, best first", () => {
  const found = rank(
    [
      { id: 1, score: 1 },
      { id: 2, score: 0.5 },
    ],
    [
      { id: 2, score: 0.8 },
      { id: 3, score: 0.6 },
    ],
    usual,
  );
  assert.deepEqual(close(found), [
    [2, 0.71],
    [3, 0.42],
    [1, 0.3],
  ]);
});

test("normalizes the weights to a sum of one", () => {
  const text = [{ id: 1, score: 1 }];
  const vector = [{ id: 2, score: 1 }];
  assert.deepEqual(close(rank(text, vector, { text: 6, vector: 2 })), [
    [1, 0.75],
    [2, 0.25],
  ]);
  assert.deepEqual(close(rank(text, vector, { text: 0, vector: 0 })), close(rank(text, vector, usual)));
});

test("returns text results unchanged without vectors", () => {
  const text = [{ id: 7, score: 0.4 }];
  assert.deepEqual(rank(text, [], usual), text);
  assert.deepEqual(rank([], [], usual), []);
});

test("a text-only match is not outranked by a model that rates everything as similar", () => {
  const text = [{ id: 1, score: 1 }];
  const vector = [
    { id: 2, score: 0.62 },
    { id: 3, score: 0.61 },
  ];
  assert.equal(rank(text, vector, usual)[0]?.id, 2);
  const known = {
    text: [],
    vector: [
      { id: 1, score: 0.55 },
      { id: 9, score: 0.5 },
    ],
  };
  assert.deepEqual(
    rank(text, vector, usual, known).map(({ id }) => id),
    [1, 2, 3],
  );
});

test("returns every chunk once, sorted, with scores from 0 to 1, for any two lists", () => {
  const list = fc.uniqueArray(
    fc.record({ id: fc.integer({ min: 1, max: 30 }), score: fc.double({ min: 0, max: 1, noNaN: true }) }),
    {
      selector: ({ id }) => id,
    },
  );
  const weight = fc.double({ min: 0, max: 1, noNaN: true });
  fc.assert(
    fc.property(list, list, weight, weight, (text, vector, left, right) => {
      const found = rank(text, vector, { text: left, vector: right });
      const ids = new Set([...text, ...vector].map(({ id }) => id));
      assert.equal(found.length, ids.size);
      assert.deepEqual(new Set(found.map(({ id }) => id)), ids);
      if (vector.length > 0)
        for (const [at, { score }] of found.entries())
          assert.ok(score <= (found[at - 1]?.score ?? 1) + 1e-12 && score >= 0);
    }),
  );
});
