import assert from "node:assert/strict";
import { test } from "node:test";

import { createMemoryStorage } from "../credential-store.ts";
import { createDrafts } from "./drafts.ts";

test("each session keeps its draft until it is sent, even after a reload", () => {
  const storage = createMemoryStorage();
  const drafts = createDrafts(storage);
  drafts.write("a", "half a thought");
  drafts.write("b", "other");
  drafts.write("b", "");
  const reloaded = createDrafts(storage);
  assert.deepEqual([reloaded.read("a"), reloaded.read("b"), drafts.read("b")], ["half a thought", "", ""]);
});

test("keeps drafts in memory when storage is forbidden or full", () => {
  const refuse = (): never => {
    throw new DOMException("full", "QuotaExceededError");
  };
  const drafts = createDrafts({ getItem: refuse, setItem: refuse, removeItem: refuse });
  assert.equal(drafts.read("a"), "");
  drafts.write("a", "kept");
  assert.equal(drafts.read("a"), "kept");
  drafts.write("a", "");
  assert.equal(drafts.read("a"), "");
});
