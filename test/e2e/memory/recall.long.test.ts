// A small run of the recall benchmark: hybrid search finds at least what each search finds alone.
import assert from "node:assert/strict";
import { test } from "node:test";

import { measureRecall, readSet } from "../../../bench/recall/measure.ts";
import { findExtra } from "../../../src/memory/embed/extra.ts";

const paths = { home: "/", state: "/nowhere", config: "/nowhere", product: "openclaw", profile: undefined } as const;
const skip = findExtra(paths) === undefined ? "the local model is not installed" : false;

test("hybrid search finds at least as much as each half alone", { skip }, async () => {
  const set = readSet(10);
  assert.ok(set.notes.size > 35 && set.questions.length > 25);
  const scores = await measureRecall(set);
  assert.ok(scores !== undefined);
  const { text, vectors, hybrid } = scores;
  for (const measure of ["recall", "mrr"] as const) {
    assert.ok(hybrid.all[measure] >= text.all[measure], JSON.stringify(scores));
    assert.ok(hybrid.all[measure] >= vectors.all[measure], JSON.stringify(scores));
  }
  assert.ok(hybrid.meaning.mrr > text.meaning.mrr, "meaning finds what words do not");
  assert.ok(hybrid.words.mrr > vectors.words.mrr, "words find what meaning does not");
});
