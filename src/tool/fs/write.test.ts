import assert from "node:assert/strict";
import {
  chmodSync,
  existsSync,
  linkSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";

import { ToolError } from "../../core/error.ts";
import { openFixture, outcomeOf } from "./fixture.cases.ts";

const fixture = openFixture();
after(() => fixture.close());
const { ws, out } = fixture;
const codeOf = async (args: Record<string, unknown>, overrides = {}): Promise<string> =>
  (await outcomeOf(fixture.use("write", args, overrides))).code;

test("creates folders, replaces files, keeps permissions and accepts empty content", async () => {
  const path = join(ws, "a/b/c.sh");
  assert.deepEqual(await fixture.use("write", { file_path: "a/b/c.sh", content: "ü\n" }), {
    content: [{ type: "text", text: `Created ${path} (3 bytes)` }],
    details: { path, bytes: 3, created: true },
  });
  chmodSync(path, 0o750);
  assert.deepEqual(await fixture.use("write", { path, content: "" }), {
    content: [{ type: "text", text: `Replaced ${path} (0 bytes)` }],
    details: { path, bytes: 0, created: false },
  });
  assert.deepEqual(
    [readFileSync(path, "utf8"), statSync(path).mode & 0o777, readdirSync(join(ws, "a/b"))],
    ["", 0o750, ["c.sh"]],
  );
});

test("names a missing parameter", async () => {
  for (const [args, name] of [
    [{ content: "x" }, "path"],
    [{ path: "x" }, "content"],
  ] as const) {
    const { code, output } = await outcomeOf(fixture.use("write", args));
    assert.deepEqual([code, output.includes(`"${name}"`)], ["tool.bad-arguments", true], JSON.stringify(args));
  }
  assert.ok(!existsSync(join(ws, "x")));
});

test("rejects content over the limit before it touches anything, and names the limit", async () => {
  for (const content of ["x".repeat(10_000_001), "ü".repeat(5_000_001), "x".repeat(400_000_000)]) {
    const { code, output } = await outcomeOf(fixture.use("write", { path: "huge/er.txt", content }));
    assert.deepEqual([code, output.includes("10000000")], ["fs.too-large", true]);
  }
  assert.ok(!existsSync(join(ws, "huge")));
  assert.equal(await codeOf({ path: "fits.txt", content: "x".repeat(10_000_000) }), "ok");
});

test("rejects links and hard links that lead out, and changes nothing outside", async () => {
  symlinkSync(join(out, "secret"), join(ws, "link"));
  symlinkSync(out, join(ws, "linkdir"));
  symlinkSync(join(out, "new"), join(ws, "dangling"));
  linkSync(join(out, "secret"), join(ws, "hard"));
  for (const path of ["link", "linkdir/secret", "linkdir/new", "linkdir/deep/new", "dangling", "hard"]) {
    assert.equal(await codeOf({ path, content: "x" }), "fs.link", path);
  }
  assert.deepEqual([readdirSync(out), readFileSync(join(out, "secret"), "utf8")], [["secret"], "S3CRET-CANARY\n"]);
});

test("rejects names and places that cannot be written", async () => {
  writeFileSync(join(ws, "file"), "");
  assert.equal(await codeOf({ path: "a".repeat(400), content: "x" }), "fs.name-too-long");
  assert.equal(await codeOf({ path: "sub", content: "x" }), "fs.is-directory");
  assert.equal(await codeOf({ path: "sub/", content: "x" }), "fs.is-directory");
  assert.equal(await codeOf({ path: "file/x", content: "x" }), "fs.not-directory");
  assert.equal(await codeOf({ path: ".", content: "x" }), "fs.is-directory");
  assert.equal(
    (await outcomeOf(fixture.use("read", { path: "x" }, { workspace: join(ws, "later") }))).code,
    "fs.not-found",
  );
  assert.equal(await codeOf({ path: "x", content: "x" }, { workspace: join(ws, "later") }), "ok");
});

test("serializes concurrent writes and edits of one file", async () => {
  await fixture.use("write", { path: "shared.txt", content: "0\n".repeat(20) });
  const marks = Array.from({ length: 20 }, (_, at) => `mark-${at}`);
  await fixture.use("write", { path: "shared.txt", content: marks.map((mark) => `${mark}: no\n`).join("") });
  await Promise.all(
    marks.map((mark) => fixture.use("edit", { path: "shared.txt", oldText: `${mark}: no`, newText: `${mark}: yes` })),
  );
  assert.equal(readFileSync(join(ws, "shared.txt"), "utf8"), marks.map((mark) => `${mark}: yes\n`).join(""));
  const contents = Array.from({ length: 20 }, (_, at) => `${at}`.repeat(100_000));
  await Promise.all(contents.map((content) => fixture.use("write", { path: "shared.txt", content })));
  assert.ok(contents.includes(readFileSync(join(ws, "shared.txt"), "utf8")));
  assert.deepEqual(
    readdirSync(ws).filter((name) => name.includes(".tmp")),
    [],
  );
  assert.equal(fixture.deps.lanes.size, 0);
});

test("changes nothing and leaves nothing behind when a write is aborted", async () => {
  await fixture.use("write", { path: "kept.txt", content: "old" });
  const signal = AbortSignal.abort(new ToolError("tool.aborted", "stopped"));
  assert.equal(await codeOf({ path: "kept.txt", content: "new" }, { signal }), "tool.aborted");
  assert.equal(await codeOf({ path: "fresh/x.txt", content: "new" }, { signal }), "tool.aborted");
  assert.deepEqual([readFileSync(join(ws, "kept.txt"), "utf8"), existsSync(join(ws, "fresh"))], ["old", false]);
});
