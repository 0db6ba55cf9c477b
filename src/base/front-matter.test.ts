// Front matter as people write it, and that a construct which is not fully understood is rejected.
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";

import { OpenClawError } from "../core/error.ts";
import { parseFrontMatter } from "./front-matter.ts";

const head = (text: string): string => `---\n${text}\n---\n# Body\n`;
const read = (text: string): unknown => parseFrontMatter(head(text)).fields;

const good: readonly (readonly [string, unknown])[] = [
  ["", {}],
  ["name: x", { name: "x" }],
  ["name: x # why\n\n# a remark\nother: 'it''s'", { name: "x", other: "it's" }],
  ['say: "a: b # c\\n"', { say: "a: b # c\n" }],
  ["n: 7\nm: -1.5\nv: 01\nyes: true\nno: null\nnone:", { n: 7, m: -1.5, v: "01", yes: true, no: null, none: null }],
  ["url: https://x.org/a#b", { url: "https://x.org/a#b" }],
  ["list: [a, 'b', 3,]\nmap: { k: v, \"q\": [1], }", { list: ["a", "b", 3], map: { k: "v", q: [1] } }],
  ["list:\n  - a\n  - b: 1\n    c: 2\n  - [x]\nlast: 1", { list: ["a", { b: 1, c: 2 }, ["x"]], last: 1 }],
  ["list:\n- a\n- b\nlast: 1", { list: ["a", "b"], last: 1 }],
  ["a:\n  b:\n    c: deep\n  d: 1", { a: { b: { c: "deep" }, d: 1 } }],
  ["text: |\n  one\n   two\n\n  three\nnext: 1", { text: "one\n two\n\nthree\n", next: 1 }],
  ["text: >-\n  one\n  two\n\n  three", { text: "one two\nthree" }],
  [
    'metadata:\n  { "openclaw": { "emoji": "💾", "events": ["command:new"],\n      "requires": { "config": ["workspace.dir"] }, }, }\nafter: 1',
    {
      metadata: { openclaw: { emoji: "💾", events: ["command:new"], requires: { config: ["workspace.dir"] } } },
      after: 1,
    },
  ],
  [
    "metadata: {openclaw: {events: [command:new, gateway:startup]}}",
    { metadata: { openclaw: { events: ["command:new", "gateway:startup"] } } },
  ],
  ["constructor: 1", { constructor: 1 }],
];

test("reads keys, lists, brackets, quotes and multi-line text", () => {
  for (const [text, fields] of good) assert.deepEqual(read(text), fields, text);
});

test("returns the text after the front matter, and no fields without front matter", () => {
  assert.deepEqual(parseFrontMatter("---\r\na: 1\r\n---\r\nrest\r\nmore"), { fields: { a: 1 }, body: "rest\nmore" });
  assert.deepEqual(parseFrontMatter("# No head"), { fields: {}, body: "# No head" });
});

const wrong: readonly (readonly [string, RegExp])[] = [
  ["a: 1\na: 2", /line 3: .*unique/],
  ["a: {b: 1, b: 2}", /unique/],
  ["a: &x 1", /not supported/],
  ["a: *x", /not supported/],
  ["a: !!js/function x", /line 2: .*tag/],
  ["a: !!str 1", /tags are not supported/],
  ["? [a]\n: b", /keys must be strings/],
  ["__proto__: 1", /__proto__/],
  ["a: {__proto__: 1}", /__proto__/],
  ["\ta: 1", /Tabs/],
  ["a: b: c", /Nested mappings/],
  ["a: [1, 2", /end with a \]/],
  ['a: "open', /quote/],
  ["a: {b}", /colon/],
  ["  a: 1\nb: 2", /line 3/],
  ["just words", /keys and values/],
  ["- a\n- b", /keys and values/],
  [`a: ${"[".repeat(50)}${"]".repeat(50)}`, /nested deeper/],
  [`a: ${"[".repeat(30_000)}${"]".repeat(30_000)}`, /nested deeper/],
  ["? ".repeat(20_000), /nested deeper/],
];

test("rejects an unsupported construct and names its line", () => {
  for (const [text, words] of wrong)
    assert.throws(
      () => read(text),
      (error) => error instanceof OpenClawError && error.code === "front-matter.bad" && words.test(error.message),
      text,
    );
  assert.throws(() => parseFrontMatter("---\na: 1\n"), /not closed/);
});

test("reads any JSON value as JSON", () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 4 }), (value) => {
      const text = JSON.stringify({ value });
      if (text.includes("__proto__")) return;
      assert.deepEqual(read(`k: ${text}`), { k: JSON.parse(text) as unknown });
    }),
    { numRuns: 500 },
  );
});

test("reads or rejects any text, without any other exception", () => {
  const piece = fc.constantFrom(
    "a",
    ":",
    " ",
    "\n",
    "-",
    "{",
    "}",
    "[",
    "]",
    '"',
    "'",
    "#",
    "|",
    ">",
    "  ",
    ",",
    "b: 1",
    "\n  ",
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
      try {
        const fields = read(pieces.join(""));
        assert.equal(typeof fields, "object");
      } catch (error) {
        assert.ok(error instanceof OpenClawError, String(error));
      }
    }),
    { numRuns: 5000 },
  );
});
