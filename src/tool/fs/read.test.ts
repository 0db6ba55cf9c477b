import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import {
  closeSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { after, test } from "node:test";

import { ToolError } from "../../core/error.ts";
import { openFixture, outcomeOf, textOf } from "./fixture.cases.ts";
import { createReadTool, type TextDetails } from "./read.ts";

const fixture = openFixture();
after(() => fixture.close());
const { ws } = fixture;
const put = (name: string, content: string | Buffer): void => writeFileSync(join(ws, name), content);
const png = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);

test("returns a small file byte for byte, with its facts", async () => {
  put("a.txt", "\ufeffone\r\ntwo\r\n");
  assert.deepEqual(await fixture.use("read", { path: "a.txt" }), {
    content: [{ type: "text", text: "one\r\ntwo\r\n" }],
    details: {
      path: join(ws, "a.txt"),
      lines: { from: 1, to: 2, total: 2 },
      bytes: 10,
      truncated: false,
      bom: true,
      eol: "crlf",
    },
  });
  put("empty", "");
  assert.deepEqual(await fixture.use("read", { path: "empty" }), {
    content: [{ type: "text", text: "[the file is empty]" }],
    details: {
      path: join(ws, "empty"),
      lines: { from: 0, to: 0, total: 0 },
      bytes: 0,
      truncated: false,
      bom: false,
      eol: "none",
    },
  });
});

test("limits the result by lines, bytes and request, and the notice names the next offset", async () => {
  put("lines.txt", Array.from({ length: 5000 }, (_, at) => `line ${at + 1}\n`).join(""));
  const first = await fixture.use("read", { path: "lines.txt" });
  assert.match(textOf(first), /line 2000\n\n\[lines 1 to 2000 of 5000; continue with offset 2001\]$/);
  assert.deepEqual((first.details as TextDetails).lines, { from: 1, to: 2000, total: 5000 });
  assert.equal((first.details as TextDetails).nextOffset, 2001);
  assert.equal(textOf(await fixture.use("read", { path: "lines.txt", offset: 4999 })), "line 4999\nline 5000\n");
  assert.equal(
    textOf(await fixture.use("read", { path: "lines.txt", offset: 10, limit: 2 })),
    "line 10\nline 11\n\n[lines 10 to 11 of 5000; continue with offset 12]",
  );
  put("wide.txt", `${"x".repeat(999)}\n`.repeat(100));
  const wide = (await fixture.use("read", { path: "wide.txt" })).details as TextDetails;
  assert.deepEqual([wide.lines.to, wide.bytes, wide.nextOffset], [51, 51_000, 52]);
  put("one-line.txt", "y".repeat(200_000));
  const long = await fixture.use("read", { path: "one-line.txt" });
  assert.match(textOf(long), /y\n\n\[line 1 of 1 is longer than 50 KB and truncated\]$/);
  assert.deepEqual([(long.details as TextDetails).bytes, (long.details as TextDetails).truncated], [51_200, true]);
});

test("returns the whole file when the offsets are followed", async () => {
  const whole = Array.from({ length: 7000 }, (_, at) => `${at} ${"ü".repeat(at % 40)}\n`).join("");
  put("paged.txt", whole);
  let seen = "";
  for (let offset: number | undefined = 1; offset !== undefined;) {
    const page = await fixture.use("read", { path: "paged.txt", offset });
    const details = page.details as TextDetails;
    seen += Buffer.from(textOf(page)).subarray(0, details.bytes).toString();
    offset = details.nextOffset;
  }
  assert.equal(seen, whole);
});

test("rejects impossible ranges", async () => {
  put("three.txt", "1\n2\n3\n");
  const past = await outcomeOf(fixture.use("read", { path: "three.txt", offset: 4 }));
  assert.deepEqual([past.code, /no line 4; the file has 3 lines/.test(past.output)], ["fs.past-end", true]);
  assert.equal((await outcomeOf(fixture.use("read", { path: "three.txt", offset: -1 }))).code, "tool.bad-arguments");
  assert.equal((await outcomeOf(fixture.use("read", { path: "three.txt", limit: 0 }))).code, "tool.bad-arguments");
  assert.equal(textOf(await fixture.use("read", { path: "three.txt", offset: 0 })), "1\n2\n3\n");
});

test("accepts aliases and text blocks, and names a missing parameter", async () => {
  put("a.md", "hello\n");
  for (const args of [
    { file_path: "a.md" },
    { path: "a.md", file_path: "other" },
    { path: "", file_path: "a.md" },
    { path: [{ type: "text", text: "a.md" }] },
    { path: "a.md", offset: null },
  ]) {
    assert.equal(textOf(await fixture.use("read", args)), "hello\n");
  }
  for (const args of [{}, { path: " " }]) {
    const { code, output } = await outcomeOf(fixture.use("read", args));
    assert.deepEqual([code, output.includes('"path"')], ["tool.bad-arguments", true]);
  }
});

test("returns images as images by their bytes, with any file name", async () => {
  put("picture.txt", png);
  assert.deepEqual(await fixture.use("read", { path: "picture.txt" }), {
    content: [
      { type: "text", text: `[image ${ws}/picture.txt: image/png, ${png.length} bytes]` },
      { type: "image", data: png.toString("base64"), mimeType: "image/png" },
    ],
    details: { path: join(ws, "picture.txt"), bytes: png.length, type: "image/png" },
  });
  put("page.png", "<html></html>");
  assert.equal(textOf(await fixture.use("read", { path: "page.png" })), "<html></html>");
  put("huge.png", png);
  truncateSync(join(ws, "huge.png"), 6_000_000);
  const shown = await fixture.use("read", { path: "huge.png" });
  assert.match(textOf(shown), /image\/png, 6000000 bytes, scaled down to \d+ bytes\]/);
  put("broken.png", png.subarray(0, 20));
  truncateSync(join(ws, "broken.png"), 6_000_000);
  assert.equal((await outcomeOf(fixture.use("read", { path: "broken.png" }))).code, "media.unreadable");
});

test("names other binary files instead of showing them", async () => {
  put("x.pdf", "%PDF-1.7\n\u0000\u0001secret bytes");
  assert.deepEqual(await fixture.use("read", { path: "x.pdf" }), {
    content: [
      {
        type: "text",
        text: `[${ws}/x.pdf: PDF document, 23 bytes; its content is not shown. Use a program for this type, through exec.]`,
      },
    ],
    details: { path: join(ws, "x.pdf"), bytes: 23, type: "PDF document" },
  });
});

test("replaces broken UTF-8", async () => {
  put("latin1.txt", Buffer.from("caf\u00e9\n", "latin1"));
  const result = textOf(await fixture.use("read", { path: "latin1.txt" }));
  assert.equal(result, "caf\ufffd\n");
});

test("lists a folder in the error, and rejects pipes, sockets and missing files", { timeout: 300_000 }, async () => {
  mkdirSync(join(ws, "dir", "inner"), { recursive: true });
  put("dir/x\u202ey.txt", "");
  const folder = await outcomeOf(fixture.use("read", { path: "dir" }));
  assert.equal(folder.code, "fs.is-directory");
  assert.match(folder.output, /it contains inner\/, x\\u\{202e\}y\.txt/);
  execFileSync("mkfifo", [join(ws, "pipe")]);
  const server = createServer().listen(join(ws, "socket"));
  after(() => server.close());
  for (const path of ["pipe", "socket"])
    assert.equal((await outcomeOf(fixture.use("read", { path }))).code, "fs.special-file", path);
  assert.equal((await outcomeOf(fixture.use("read", { path: "nothing" }))).code, "fs.not-found");
  assert.equal((await outcomeOf(fixture.use("read", { path: "a.txt/x" }))).code, "fs.not-directory");
});

test("reads skills although paths are limited, but no other file there and no link out of them", async () => {
  const skills = join(fixture.state, "skills");
  symlinkSync("../../openclaw.json", join(skills, "x", "out"));
  const read = createReadTool({ ...fixture.deps, readRoots: [skills] });
  assert.equal(textOf(await read.run({ path: join(skills, "x", "SKILL.md") }, fixture.call())), "# x\n");
  assert.equal((await outcomeOf(read.run({ path: join(skills, "x", "out") }, fixture.call()))).code, "fs.link");
  assert.equal(
    (await outcomeOf(read.run({ path: join(skills, "..", "openclaw.json") }, fixture.call()))).code,
    "fs.outside",
  );
  assert.equal((await outcomeOf(read.run({ path: `${skills}/../openclaw.json` }, fixture.call()))).code, "fs.outside");
});

test("lets a sandboxed call use the sandbox name of the workspace, and keeps it inside", async () => {
  put("boxed.txt", "in the box\n");
  const sandboxed = { sandboxed: true, workspaceOnly: false };
  assert.equal(textOf(await fixture.use("read", { path: "/workspace/boxed.txt" }, sandboxed)), "in the box\n");
  assert.equal((await outcomeOf(fixture.use("read", { path: "/etc/passwd" }, sandboxed))).code, "fs.outside");
  assert.equal((await outcomeOf(fixture.use("read", { path: "/workspace/../x" }, sandboxed))).code, "fs.outside");
});

test("follows absolute paths and links when paths are not limited", async () => {
  const open = { workspaceOnly: false };
  writeFileSync(join(fixture.home, "notes.txt"), "home\n");
  symlinkSync(join(fixture.home, "notes.txt"), join(ws, "to-notes"));
  for (const path of [
    "~/notes.txt",
    join(fixture.home, "notes.txt"),
    "../../notes.txt",
    "to-notes",
    `file://${fixture.home}/notes.txt`,
  ]) {
    assert.equal(textOf(await fixture.use("read", { path }, open)), "home\n", path);
  }
  const refusal = await outcomeOf(fixture.use("read", { path: "~/notes.txt" }));
  assert.deepEqual(
    [refusal.code, refusal.refused, refusal.output.includes("tools.fs.workspaceOnly")],
    ["fs.outside", true, true],
  );
});

test("reads far into 100 MB and a 2 GB hole with little memory, and stops on abort", async () => {
  const line = Buffer.from(`${"z".repeat(99)}\n`.repeat(10_000));
  const fd = openSync(join(ws, "big.txt"), "w");
  for (let mb = 0; mb < 100; mb += 1) writeSync(fd, line);
  closeSync(fd);
  const hole = openSync(join(ws, "big.bin"), "w");
  ftruncateSync(hole, 2 ** 31);
  closeSync(hole);
  global.gc?.();
  const before = process.memoryUsage().rss;
  let peak = before;
  const watch = setInterval(() => (peak = Math.max(peak, process.memoryUsage().rss)), 5);
  const deep = (await fixture.use("read", { path: "big.txt", offset: 999_999 })).details as TextDetails;
  const head = (await fixture.use("read", { path: "big.txt" })).details as TextDetails;
  const sparse = await outcomeOf(fixture.use("read", { path: "big.bin" }));
  clearInterval(watch);
  assert.deepEqual(deep.lines, { from: 999_999, to: 1_000_000, total: 1_000_000 });
  assert.deepEqual([head.lines, head.nextOffset], [{ from: 1, to: 512 }, 513]);
  assert.equal(sparse.code, "fs.too-large");
  assert.ok(peak - before < 64 * 2 ** 20, `grew by ${Math.round((peak - before) / 2 ** 20)} MB`);
  const control = new AbortController();
  const stopped = outcomeOf(fixture.use("read", { path: "big.txt", offset: 10_000_000 }, { signal: control.signal }));
  setTimeout(() => control.abort(new ToolError("tool.aborted", "stopped")), 5);
  assert.equal((await stopped).code, "tool.aborted");
});
