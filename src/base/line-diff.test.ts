import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "fast-check";

import { unifiedDiff } from "./line-diff.ts";

test("shows a change with its context and line numbers", () => {
  const before = "a\nb\nc\nd\ne\nf\ng\nh\n";
  assert.equal(
    unifiedDiff(before, before.replace("e", "E\nEE"), { name: "x.txt", context: 2 }),
    "--- a/x.txt\n+++ b/x.txt\n@@ -3,5 +3,6 @@\n c\n d\n-e\n+E\n+EE\n f\n g",
  );
  assert.equal(unifiedDiff("a\n", "a\n", { name: "x" }), "");
  assert.equal(
    unifiedDiff("", "a", { name: "x" }),
    "--- a/x\n+++ b/x\n@@ -0,0 +1,1 @@\n+a\n\\ No newline at end of file",
  );
  assert.equal(unifiedDiff("a\r\n", "a\n", { name: "x" }), "--- a/x\n+++ b/x\n@@ -1,1 +1,1 @@\n-a␍\n+a");
});

test("separates distant changes into hunks and cuts a long diff with a remark", () => {
  const lines = Array.from({ length: 40 }, (_, at) => `line ${at}`);
  const after = lines.with(2, "two").with(30, "thirty");
  const diff = unifiedDiff(lines.join("\n"), after.join("\n"), { name: "x" });
  assert.deepEqual(diff.match(/^@@.*@@$/gm), ["@@ -1,6 +1,6 @@", "@@ -28,7 +28,7 @@"]);
  const cut = unifiedDiff("", lines.join("\n"), { name: "x", maxChars: 100 });
  assert.match(cut, /… \(\d+ more characters\)$/);
  assert.ok(cut.length < 140);
});

test("produces a diff that turns the old text into the new one", () => {
  const text = fc
    .array(fc.constantFrom("a", "b", "c", "", "dd"), { maxLength: 30 })
    .chain((lines) => fc.constantFrom(lines.join("\n"), `${lines.join("\n")}\n`));
  fc.assert(
    fc.property(text, text, fc.nat(4), (before, after, context) => {
      assert.equal(applied(before, unifiedDiff(before, after, { name: "x", context, maxChars: 1e9 })), after);
    }),
    { numRuns: 500 },
  );
});

test("bounds the work for texts that have nothing in common", () => {
  const text = (word: string): string =>
    `same\n${Array.from({ length: 20_000 }, (_, at) => `${word} ${at}`).join("\n")}`;
  const startedAt = performance.now();
  const diff = unifiedDiff(text("old"), text("new"), { name: "x", maxChars: 1e9 });
  assert.ok(performance.now() - startedAt < 5000);
  assert.equal(applied(text("old"), diff), text("new"));
});

/** A patch program in a dozen lines: independent of how the diff is made. */
function applied(before: string, diff: string): string {
  const marked = (text: string): string[] =>
    text === ""
      ? []
      : text
          .replace(/[^\n]$/, "$&\u0000")
          .replace(/\n$/, "")
          .split("\n");
  const old = marked(before);
  const fresh: string[] = [];
  let at = 0;
  const lines = diff.replaceAll("\n\\ No newline at end of file", "\u0000").split("\n").slice(2);
  for (const line of diff === "" ? [] : lines) {
    const header = /^@@ -(\d+),(\d+)/.exec(line);
    if (header !== null) {
      const start = Number(header[1]) - (header[2] === "0" ? 0 : 1);
      while (at < start) fresh.push(old[at++] ?? "");
      continue;
    }
    if (line[0] !== "+") assert.equal(old[at++], line.slice(1));
    if (line[0] !== "-") fresh.push(line.slice(1));
  }
  const all = [...fresh, ...old.slice(at)];
  return all.length === 0 ? "" : `${all.join("\n")}\n`.replace("\u0000\n", "");
}
