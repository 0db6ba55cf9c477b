import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "fast-check";

import { ToolError } from "../../core/error.ts";
import { replaceOnce } from "./replace.ts";

const replaced = (before: string, oldText: string, newText: string): string =>
  replaceOnce(Buffer.from(before), oldText, newText).bytes.toString();

function failureOf(work: () => unknown): ToolError {
  try {
    work();
  } catch (error) {
    assert.ok(error instanceof ToolError);
    return error;
  }
  throw new assert.AssertionError({ message: "it did not fail" });
}

test("matches across line-end styles and keeps the style of the file", () => {
  assert.equal(replaced("a\r\nb\r\nc\r\n", "a\nb", "x\ny\nz"), "x\r\ny\r\nz\r\nc\r\n");
  assert.equal(replaced("a\nb\nc\n", "a\r\nb", "x\r\ny"), "x\ny\nc\n");
  assert.equal(replaced("a\r\nb\r\nc", "b", "1\n2"), "a\r\n1\r\n2\r\nc");
  assert.equal(replaced("a\r\nb\nc\r\nd\r\n", "b\n", "x\ny\n"), "a\r\nx\ny\nc\r\nd\r\n");
  assert.equal(replaced("a\r\nb", "\n", ""), "ab");
  assert.equal(replaced("\ufeffa\r\n", "\ufeffa", "b"), "\ufeffb\r\n");
  assert.equal(replaced("one two", " two", ""), "one");
});

test("skips quoted context when it reports the first changed line", () => {
  assert.equal(replaceOnce(Buffer.from("a\nb\nc\nd\n"), "b\nc", "b\nC").firstChangedLine, 3);
  assert.equal(replaceOnce(Buffer.from("a\nb\n"), "a", "A").firstChangedLine, 1);
});

test("says in each failure what to do next", () => {
  const file = "function add(a, b) {\n\treturn a + b;\n}\nadd(1, 2);\nadd(1, 2);\n";
  const cases: readonly [oldText: string, newText: string, code: string, words: RegExp][] = [
    ["", "x", "edit.empty-text", /empty/],
    ["a\r\n", "a\n", "edit.same-text", /same/],
    ["add(1, 2);", "x", "edit.many-matches", /2 times \(at lines 4, 5\)/],
    [
      "  return a + b;",
      "x",
      "edit.no-match",
      /Line 2 matches its first line, but the whitespace around it differs: " {2}return a \+ b;"/,
    ],
    ["function add(x, y) {", "x", "edit.no-match", /The most similar is line 1: "function add\(a, b\) \{"/],
    ["}\nsub(1);", "x", "edit.no-match", /Line 3 matches its first line, but the following lines differ/],
    ["ΩΩΩΩ", "x", "edit.no-match", /No line of the file is similar/],
  ];
  for (const [oldText, newText, code, words] of cases) {
    const error = failureOf(() => replaceOnce(Buffer.from(file), oldText, newText));
    assert.equal(error.code, code, oldText);
    assert.match(error.message, words);
    assert.ok(error.hint !== undefined);
  }
  assert.deepEqual(failureOf(() => replaceOnce(Buffer.from("aaa"), "aa", "b")).details, { count: 2, lines: [1, 1] });
});

test("keeps every byte outside the match, also broken UTF-8", () => {
  const bytes = fc.uint8Array({ maxLength: 60 }).map((array) => Buffer.from(array));
  fc.assert(
    fc.property(bytes, bytes, fc.string({ minLength: 1 }), fc.string(), (head, tail, oldText, newText) => {
      const marked = `<<${oldText.replaceAll(/[\r\n\ufeff]/g, "")}>>`;
      const before = Buffer.concat([head, Buffer.from(marked), tail]);
      fc.pre(before.indexOf(marked) === before.lastIndexOf(marked) && marked !== newText);
      fc.pre(!newText.includes("\n") && !newText.startsWith("\ufeff"));
      const { bytes: after } = replaceOnce(before, marked, newText);
      assert.deepEqual(after, Buffer.concat([head, Buffer.from(newText), tail]));
    }),
    { numRuns: 500 },
  );
});

test("gives the same text for the same edit in either line-end style", () => {
  const line = fc.constantFrom("a", "b", "c", "", "dd");
  fc.assert(
    fc.property(
      fc.array(line, { minLength: 1, maxLength: 12 }),
      fc.nat(),
      fc.nat(),
      fc.array(line, { maxLength: 4 }),
      (lines, from, length, fresh) => {
        const lf = lines.join("\n");
        const start = from % (lf.length + 1);
        const oldText = lf.slice(start, start + 1 + (length % 10));
        const newText = fresh.join("\n");
        const attempt = (text: string): string => {
          try {
            return replaced(text, oldText, newText);
          } catch (error) {
            assert.ok(error instanceof ToolError);
            return error.code;
          }
        };
        const crlf = attempt(lf.replaceAll("\n", "\r\n"));
        assert.equal(crlf.replaceAll("\r\n", "\n"), attempt(lf));
        assert.doesNotMatch(crlf.replaceAll("\r\n", ""), /\r/);
        // Without a line end to copy, the style is free; otherwise it stays.
        if (lf.includes("\n") && /\r\n/.test(crlf)) assert.doesNotMatch(crlf.replaceAll("\r\n", ""), /\n/);
      },
    ),
    { numRuns: 500 },
  );
});
