import assert from "node:assert/strict";
import { linkSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";

import fc from "fast-check";

import { OpenClawError } from "../../core/error.ts";
import { openFixture, outcomeOf, SECRET, textOf } from "./fixture.cases.ts";
import { parsePath, type PathContext, type Reading } from "./path.ts";

const context: PathContext = { workspace: "/ws", home: "/home/u", bound: true, outsideHint: "stay" };
const codeOf = (raw: string, overrides: Partial<PathContext> = {}): string => {
  try {
    parsePath(raw, { ...context, ...overrides });
    return "ok";
  } catch (error) {
    assert.ok(error instanceof OpenClawError);
    return error.code;
  }
};

test("resolves every way to write a path", () => {
  const cases: readonly [raw: string, readings: Reading[]][] = [
    ["a/b.txt", [{ path: "/ws/a/b.txt" }]],
    ["./a/../b", [{ path: "/ws/./a/../b" }]],
    ["/ws/a", [{ path: "/ws/a" }]],
    ["~/x", [{ path: "/home/u/x" }]],
    ["~", [{ path: "/home/u" }]],
    ["~other/x", [{ path: "/ws/~other/x" }]],
    ["@notes.md", [{ path: "/ws/@notes.md", when: "/ws/@notes.md" }, { path: "/ws/notes.md" }]],
    ["@scope/pkg/x.ts", [{ path: "/ws/@scope/pkg/x.ts", when: "/ws/@scope" }, { path: "/ws/scope/pkg/x.ts" }]],
    ["@/etc/x", [{ path: "/ws/@/etc/x", when: "/ws/@" }, { path: "/etc/x" }]],
    [
      "a\u00a0b\u202f.txt",
      [{ path: "/ws/a\u00a0b\u202f.txt", when: "/ws/a\u00a0b\u202f.txt" }, { path: "/ws/a b .txt" }],
    ],
    ["s/\u202egnp.sh", [{ path: "/ws/s/\u202egnp.sh", when: "/ws/s/\u202egnp.sh" }, { path: "/ws/s/gnp.sh" }]],
    ["file:///ws/a%20b", [{ path: "/ws/a b" }]],
    ["file://localhost/ws/x", [{ path: "/ws/x" }]],
    ["100%25/50%.txt", [{ path: "/ws/100%25/50%.txt" }]],
    ["..hidden/file", [{ path: "/ws/..hidden/file" }]],
    ["…/x", [{ path: "/ws/…/x" }]],
    [".../x", [{ path: "/ws/.../x" }]],
    ["a b/ü.txt", [{ path: "/ws/a b/ü.txt" }]],
  ];
  for (const [raw, readings] of cases) assert.deepEqual(parsePath(raw, context), readings, raw);
  assert.deepEqual(parsePath("/workspace/x", { ...context, sandboxed: "/workspace" }), [{ path: "/ws/x" }]);
});

test("rejects spellings that hide an escape when paths are limited to the workspace", () => {
  for (const raw of [
    "sub/..%2f..%2fetc/passwd",
    "%2e%2e/%2e%2e/etc/passwd",
    "..%252f..%252fetc/passwd",
    "%2fetc/passwd",
    "..\\..\\etc\\passwd",
    "sub\\..\\..\\x",
    "\\etc\\passwd",
    "C:\\Windows\\x",
    "c:/windows/x",
    "．．／．．／etc/passwd",
    "‥/x",
    "..\u200b/x",
    ".\u00ad./x",
    ".. \\x",
    "..%5c..%5cx",
    "@..%2f..%2fx",
    "/ws/sub/%2e%2e/%2e%2e/x",
  ]) {
    assert.equal(codeOf(raw), "fs.outside", raw);
    assert.equal(codeOf(raw, { bound: false }), "ok", `${raw} is an ordinary name when paths are not limited`);
  }
});

test("rejects paths to other computers, empty and broken paths in every mode", () => {
  for (const bound of [true, false]) {
    for (const raw of ["\\\\evil\\share\\x", "file://evil/share/x", "@\\\\evil\\x", "FILE://10.0.0.1/x"])
      assert.equal(codeOf(raw, { bound }), "fs.outside", raw);
    for (const raw of ["ok.txt\0.png", "\ud800", " ", "\u200b", "file:///a%2fb"])
      assert.equal(codeOf(raw, { bound }), "fs.bad-path", raw);
    assert.equal(codeOf("a/".repeat(3000), { bound }), "fs.name-too-long");
  }
});

test("never reads or writes outside the workspace, for any generated path", async () => {
  const fixture = openFixture();
  after(() => fixture.close());
  const { ws, out } = fixture;
  mkdirSync(join(ws, "sub", "deep"), { recursive: true });
  for (const name of ["a", "sub/b", "sub/deep/c"]) writeFileSync(join(ws, name), "inside\n");
  const links: readonly [name: string, target: string][] = [
    ["l-in", "sub"],
    ["sub/l-up", ".."],
    ["l-out", out],
    ["sub/l-rel", "../../workspace-evil"],
    ["l-file", join(out, "secret")],
    ["l-root", "/"],
    ["sub/deep/l-far", "../../l-out"],
    ["l-dangling", join(out, "new")],
  ];
  for (const [name, target] of links) symlinkSync(target, join(ws, name));
  linkSync(join(out, "secret"), join(ws, "l-hard"));
  const names = [
    "a",
    "b",
    "c",
    "sub",
    "deep",
    "secret",
    "workspace-evil",
    "..",
    ".",
    "",
    "~",
    "@",
    ws,
    out,
    "/etc/passwd",
    "%2e%2e",
    "..%2f",
    "..\\",
    "．．",
    "\u202e",
    "\u200b",
    " ",
    "l-hard",
    ...links.map(([name]) => name),
  ];
  const path = fc
    .array(
      fc.oneof({ weight: 9, arbitrary: fc.constantFrom(...names) }, fc.string({ unit: "grapheme", maxLength: 4 })),
      { minLength: 1, maxLength: 7 },
    )
    .chain((parts) => fc.constantFrom("/", "//", "\\").map((slash) => parts.join(slash)));
  await fc.assert(
    fc.asyncProperty(path, async (raw) => {
      const read = await outcomeOf(fixture.use("read", { path: raw }));
      assert.ok(!read.output.includes(SECRET), raw);
      const wrote = await outcomeOf(fixture.use("write", { path: `${raw}/new`, content: "x" }));
      assert.ok(!wrote.output.includes(SECRET), raw);
      assert.deepEqual(readdirSync(out), ["secret"], raw);
      assert.deepEqual(
        readdirSync(fixture.state)
          .filter((name) => name !== "unfinished") // ours, made by the first write
          .toSorted(),
        ["credentials", "exec-approvals.json", "openclaw.json", "skills", "workspace", "workspace-evil"],
        raw,
      );
      assert.deepEqual(readdirSync(fixture.home).toSorted(), [".bashrc", ".openclaw"], raw);
    }),
    { numRuns: Number(process.env["OPENCLAW_PATH_RUNS"] ?? 400) },
  );
});

test("reaches existing files with odd names and gives new files plain names", async () => {
  const fixture = openFixture();
  after(() => fixture.close());
  mkdirSync(join(fixture.ws, "@scope"));
  writeFileSync(join(fixture.ws, "Screen\u202fshot.txt"), "narrow\n");
  writeFileSync(join(fixture.ws, "plain name.txt"), "plain\n");
  assert.equal(textOf(await fixture.use("read", { path: "Screen\u202fshot.txt" })), "narrow\n");
  assert.equal(textOf(await fixture.use("read", { path: "plain\u00a0name.txt" })), "plain\n");
  await fixture.use("write", { path: "@scope/x", content: "1" });
  await fixture.use("write", { path: "@other/x", content: "1" });
  const written = await fixture.use("write", { path: "sub/\u202egnp.sh", content: "1" });
  assert.deepEqual(written, {
    content: [{ type: "text", text: `Created ${fixture.ws}/sub/gnp.sh (1 bytes)` }],
    details: { path: join(fixture.ws, "sub/gnp.sh"), bytes: 1, created: true },
  });
  assert.deepEqual(readdirSync(fixture.ws).toSorted(), [
    "@scope",
    "Screen\u202fshot.txt",
    "other",
    "plain name.txt",
    "sub",
  ]);
});
