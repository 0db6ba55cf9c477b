// A query is words only: no operator, quote or length reaches the full-text table.
import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import fc from "fast-check";

import { spaced, termsOf } from "./terms.ts";

const matches = (query: string): string[] => termsOf(query).map(({ match }) => match);

test("treats operators as words and punctuation as gaps, and drops stop words when others remain", () => {
  assert.deepEqual(matches('tea AND (green* OR "black"): NEAR/2 -cold ^hot'), [
    '"tea"',
    '"green"',
    '"black"',
    '"NEAR"',
    '"2"',
    '"cold"',
    '"hot"',
  ]);
  assert.deepEqual(matches("what is the"), ['"what"', '"is"', '"the"']);
  assert.deepEqual(matches("?!"), []);
});

test("splits scripts without spaces into pairs of characters", () => {
  assert.deepEqual(matches("会议时间 room7"), ['"会 议"', '"议 时"', '"时 间"', '"room7"']);
  assert.equal(spaced("a会议b"), "a 会  议 b");
});

test("keeps the first words of a long query and rejects a query with too many characters", () => {
  assert.equal(termsOf(Array.from({ length: 900 }, (_each, at) => `w${at}`).join(" ")).length, 32);
  assert.throws(() => termsOf("x".repeat(1_000_000)), { code: "memory.query-too-long" });
});

test("produces terms that the full-text table accepts for any query", () => {
  const database = new DatabaseSync(":memory:");
  database.exec("CREATE VIRTUAL TABLE words USING fts5 (text, tokenize = 'porter unicode61 remove_diacritics 2')");
  const find = database.prepare("SELECT count(*) FROM words WHERE words MATCH ?");
  const odd = fc.constantFrom(
    '"',
    "'",
    "*",
    "^",
    ":",
    "(",
    ")",
    "NOT",
    "AND",
    "NEAR(",
    "{",
    "}",
    "-",
    "+",
    "\0",
    "会",
    "é",
  );
  fc.assert(
    fc.property(fc.array(fc.oneof(odd, fc.string()), { maxLength: 20 }), (parts) => {
      const terms = matches(parts.join(" "));
      if (terms.length > 0) find.get(terms.join(" OR "));
    }),
  );
  database.close();
});
