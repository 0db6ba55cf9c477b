// A search result shows each passage once, best first, at most as many as requested, with citations where configured.
import assert from "node:assert/strict";
import { test } from "node:test";

import { hitsOf } from "./answer.ts";
import type { EngineAnswer } from "./engine.ts";

type Found = EngineAnswer["hits"][number];
const chunk = (id: number, path: string, startLine: number, text: string, score: number): Found => ({
  id,
  path,
  source: "memory",
  startLine,
  endLine: startLine + text.split("\n").length - 1,
  text,
  score,
});
const places = (found: readonly Found[], more: Partial<Parameters<typeof hitsOf>[1]> = {}): string[] =>
  hitsOf(found, { query: "tea", minScore: 0, maxResults: 6, isCited: false, ...more }).map(
    ({ path, startLine, endLine }) => `${path}:${startLine}-${endLine}`,
  );

test("shows overlapping chunks once and fills the free place", () => {
  const found = [
    chunk(1, "a.md", 1, "x\ntea\ny", 0.9),
    chunk(2, "a.md", 2, "tea\ny", 0.8),
    chunk(3, "b.md", 1, "tea", 0.7),
    chunk(4, "a.md", 3, "y\nz\nmore tea\nend", 0.6),
  ];
  assert.deepEqual(places(found), ["a.md:1-3", "b.md:1-1", "a.md:3-6"]);
  assert.deepEqual(places(found, { maxResults: 2 }), ["a.md:1-3", "b.md:1-1"]);
  assert.deepEqual(places(found, { minScore: 0.75 }), ["a.md:1-3"]);
});

test("treats parts of one long line as different passages, but the same part as one", () => {
  const found = [
    chunk(1, "a.md", 1, "tea one", 0.9),
    chunk(2, "a.md", 1, "tea two", 0.8),
    chunk(3, "a.md", 1, "tea two", 0.7),
  ];
  assert.deepEqual(places(found), ["a.md:1-1", "a.md:1-1"]);
});

test("puts a citation in its own field and at the end of the snippet", () => {
  const [cited] = hitsOf([chunk(1, "a.md", 4, "tea", 0.98765)], {
    query: "tea",
    minScore: 0,
    maxResults: 1,
    isCited: true,
  });
  assert.deepEqual(cited, {
    path: "a.md",
    startLine: 4,
    endLine: 4,
    score: 0.988,
    snippet: "tea\n\nSource: a.md#L4",
    source: "memory",
    citation: "a.md#L4",
  });
});
