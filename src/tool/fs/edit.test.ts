import assert from "node:assert/strict";
import { chmodSync, linkSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";

import { openFixture, outcomeOf } from "./fixture.cases.ts";
import type { EditDetails } from "./edit.ts";

const fixture = openFixture();
after(() => fixture.close());
const { ws } = fixture;

test("replaces one passage and returns the diff and the first changed line", async () => {
  const path = join(ws, "math.ts");
  writeFileSync(path, "export function add(a, b) {\n  return a - b;\n}\n");
  chmodSync(path, 0o640);
  assert.deepEqual(await fixture.use("edit", { file_path: "math.ts", old_string: "a - b", new_string: "a + b" }), {
    content: [{ type: "text", text: `Edited ${path} from line 2` }],
    details: {
      path,
      diff: "--- a/math.ts\n+++ b/math.ts\n@@ -1,3 +1,3 @@\n export function add(a, b) {\n-  return a - b;\n+  return a + b;\n }",
      firstChangedLine: 2,
    },
  });
  assert.deepEqual(
    [readFileSync(path, "utf8"), statSync(path).mode & 0o777],
    ["export function add(a, b) {\n  return a + b;\n}\n", 0o640],
  );
});

test("shows only the changed lines of a long file in the diff", async () => {
  const lines = Array.from({ length: 50_000 }, (_, at) => `line ${at + 1}`);
  writeFileSync(join(ws, "long.txt"), lines.join("\r\n"));
  const { details } = await fixture.use("edit", {
    path: "long.txt",
    oldText: "line 40000\nline 40001",
    newText: "here",
  });
  const { diff, firstChangedLine } = details as EditDetails;
  assert.equal(firstChangedLine, 40_000);
  assert.equal(
    diff,
    "--- a/long.txt\n+++ b/long.txt\n@@ -39997,8 +39997,7 @@\n line 39997\n line 39998\n line 39999\n-line 40000\n-line 40001\n+here\n line 40002\n line 40003\n line 40004",
  );
  writeFileSync(join(ws, "wide.txt"), "x");
  const wide = (await fixture.use("edit", { path: "wide.txt", oldText: "x", newText: "y\n".repeat(300_000) }))
    .details as EditDetails;
  assert.match(wide.diff, /1 bytes became 600000, too many to show/);
});

test("leaves the file unchanged on every failure", async () => {
  const path = join(ws, "same.txt");
  writeFileSync(path, "one\ntwo\ntwo\n");
  const { ino } = statSync(path);
  const cases: readonly [args: Record<string, unknown>, code: string][] = [
    [{ oldText: "three", newText: "x" }, "edit.no-match"],
    [{ oldText: "two", newText: "x" }, "edit.many-matches"],
    [{ oldText: "one", newText: "one" }, "edit.same-text"],
    [{ oldText: "", newText: "x" }, "edit.empty-text"],
    [{ newText: "x" }, "tool.bad-arguments"],
    [{ oldText: "one" }, "tool.bad-arguments"],
    [{ oldText: "one", newText: "x".repeat(10_000_001) }, "fs.too-large"],
  ];
  for (const [args, code] of cases)
    assert.equal(
      (await outcomeOf(fixture.use("edit", { path: "same.txt", ...args }))).code,
      code,
      JSON.stringify(args).slice(0, 60),
    );
  assert.deepEqual([readFileSync(path, "utf8"), statSync(path).ino], ["one\ntwo\ntwo\n", ino]);
  assert.equal(
    (await outcomeOf(fixture.use("edit", { path: "missing.txt", oldText: "a", newText: "b" }))).code,
    "fs.not-found",
  );
});

test("rejects links that lead out and hard links without showing their content", async () => {
  symlinkSync(join(fixture.out, "secret"), join(ws, "link-to-secret"));
  linkSync(join(fixture.out, "secret"), join(ws, "hard"));
  for (const path of ["link-to-secret", "hard"]) {
    const { code, refused, output } = await outcomeOf(fixture.use("edit", { path, oldText: "S3CRET", newText: "b" }));
    assert.deepEqual([code, refused, output.includes("CANARY")], ["fs.link", true, false], path);
  }
});
