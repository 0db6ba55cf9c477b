// Contract cases of every embedder.
import assert from "node:assert/strict";
import { test } from "node:test";

import { EmbedError, type Embedder } from "./embedder.ts";
import { dot } from "./vector.ts";

export interface EmbedderUnderTest {
  readonly embedder: Embedder;
  /** Number of texts of a large run; fewer where each is expensive. */
  readonly many: number;
}

export function embedderCases(name: string, make: () => Promise<EmbedderUnderTest>): void {
  const withOne = async (act: (made: EmbedderUnderTest) => Promise<void>): Promise<void> => {
    const made = await make();
    try {
      await act(made);
    } finally {
      await made.embedder.close();
    }
  };

  test(`${name}: returns one unit vector per text, in order, all of one size`, () =>
    withOne(async ({ embedder }) => {
      const texts = ["the harbour froze in January", "a recipe for lentil soup", "the harbour froze in January"];
      const vectors = await embedder.embed(texts, "passage");
      assert.equal(vectors.length, 3);
      const [first, second, third] = vectors as [Float32Array, Float32Array, Float32Array];
      assert.deepEqual([first.length, second.length], [third.length, third.length]);
      for (const vector of vectors) assert.ok(Math.abs(dot(vector, vector) - 1) < 1e-4);
      assert.ok(dot(first, third) > 0.9999);
      assert.ok(dot(first, second) < 0.9);
    }));

  test(`${name}: ranks the answer of a question nearer than an unrelated text`, () =>
    withOne(async ({ embedder }) => {
      const [soup, harbour] = await embedder.embed(
        ["a recipe for lentil soup", "the harbour froze in January"],
        "passage",
      );
      const [question] = await embedder.embed(["lentil soup recipe"], "query");
      assert.ok(soup !== undefined && harbour !== undefined && question !== undefined);
      assert.ok(dot(question, soup) > dot(question, harbour));
    }));

  test(`${name}: returns no vectors for no texts`, () =>
    withOne(async ({ embedder }) => assert.deepEqual(await embedder.embed([], "passage"), [])));

  test(`${name}: returns many vectors in the order of the texts`, () =>
    withOne(async ({ embedder, many }) => {
      const words = ["amber", "basalt", "copper", "dolomite", "emerald", "feldspar", "granite"];
      const texts = Array.from(
        { length: many },
        (_, at) => `${words[at % words.length]} lies in drawer ${at % words.length}`,
      );
      const vectors = await embedder.embed(texts, "passage");
      assert.equal(vectors.length, many);
      for (const [at, vector] of vectors.entries())
        assert.ok(dot(vector, vectors[at % words.length] ?? new Float32Array()) > 0.999, `text ${at}`);
    }));

  test(`${name}: embeds a text that is longer than the model accepts`, () =>
    withOne(async ({ embedder }) => {
      const [vector] = await embedder.embed(["the long story of a lighthouse keeper. ".repeat(60)], "passage");
      assert.ok(vector !== undefined && Math.abs(dot(vector, vector) - 1) < 1e-4);
    }));

  test(`${name}: rejects an aborted request with embed.aborted and still works afterwards`, () =>
    withOne(async ({ embedder }) => {
      const early = AbortSignal.abort();
      await assert.rejects(embedder.embed(["one"], "query", early), isAborted);
      const slot = new AbortController();
      const asked = embedder.embed(["two"], "passage", slot.signal);
      slot.abort();
      await assert.rejects(asked, isAborted);
      assert.equal((await embedder.embed(["three"], "query")).length, 1);
    }));

  test(`${name}: can be closed twice`, () =>
    withOne(async ({ embedder }) => {
      await embedder.close();
    }));

  test(`${name}: the fingerprint names provider and model and contains no secret`, () =>
    withOne(async ({ embedder }) => {
      assert.ok(embedder.fingerprint.startsWith(`${embedder.provider}|${embedder.model}|`));
      assert.doesNotMatch(embedder.fingerprint, /sk-/);
      assert.ok(embedder.stride > 0);
    }));
}

const isAborted = (error: unknown): boolean => error instanceof EmbedError && error.code === "embed.aborted";
