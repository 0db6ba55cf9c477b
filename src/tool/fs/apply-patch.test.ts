// apply_patch as a tool: all or nothing for any input, serialized per file, limited to the workspace.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  globSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";

import fc from "fast-check";

import { openFixture, outcomeOf, textOf } from "./fixture.cases.ts";

const fixture = openFixture();
after(() => fixture.close());

const wrap = (...lines: string[]): { input: string } => ({
  input: ["*** Begin Patch", ...lines, "*** End Patch"].join("\n"),
});

function treeOf(root: string): Record<string, string> {
  const paths = globSync("**/{*,.*}", { cwd: root }).filter((path) => statSync(join(root, path)).isFile());
  return Object.fromEntries(paths.toSorted().map((path) => [path, readFileSync(join(root, path), "utf8")]));
}

test("F28 applies all operations of a patch or none, and the summary matches the files", async () => {
  const workspace = join(fixture.home, "fuzz");
  const path = fc.oneof(
    { weight: 4, arbitrary: fc.constantFrom("a", "b", "c", "d/e") },
    { weight: 1, arbitrary: fc.constantFrom("a/f", "../x", ".git/config", "@a", "") },
  );
  const line = fc.constantFrom("one", "two", "three", "", "*** End of File");
  const body = fc.array(fc.tuple(fc.constantFrom(" ", "-", "+", "", "@@ ", "*"), line), { maxLength: 4 });
  const op = fc.oneof(
    fc
      .tuple(path, fc.array(line, { maxLength: 2 }))
      .map(([to, lines]) => [`*** Add File: ${to}`, ...lines.map((text) => `+${text}`)]),
    path.map((to) => [`*** Delete File: ${to}`]),
    fc
      .tuple(path, body)
      .map(([to, lines]) => [`*** Update File: ${to}`, "@@", ...lines.map(([mark, text]) => mark + text)]),
    fc.tuple(path, path).map(([from, to]) => [`*** Update File: ${from}`, `*** Move to: ${to}`]),
  );
  const seen = new Map<string, number>();
  await fc.assert(
    fc.asyncProperty(fc.array(op, { maxLength: 4 }), async (ops) => {
      rmSync(workspace, { recursive: true, force: true });
      mkdirSync(workspace);
      for (const name of ["a", "b"]) writeFileSync(join(workspace, name), "one\ntwo\nthree\n");
      const before = treeOf(workspace);
      const work = fixture.use("apply_patch", wrap(...ops.flat()), { workspace });
      const { code } = await outcomeOf(work);
      seen.set(code, (seen.get(code) ?? 0) + 1);
      const now = treeOf(workspace);
      if (code !== "ok") return assert.deepEqual(now, before);
      const { summary } = (await work).details as { summary: Record<"added" | "modified" | "deleted", string[]> };
      for (const name of summary.added) assert.ok(!(name in before) && name in now, name);
      for (const name of summary.modified) assert.ok(name in now, name);
      for (const name of summary.deleted) assert.ok(name in before && !(name in now), name);
      const named = new Set(Object.values(summary).flat());
      for (const [name, content] of Object.entries(now))
        if (!named.has(name)) assert.equal(content, before[name], name);
    }),
    { numRuns: Number(process.env["OPENCLAW_FUZZ_RUNS"] ?? 300) },
  );
  assert.ok((seen.get("ok") ?? 0) > 5 && seen.size > 5, JSON.stringify([...seen]));
  assert.deepEqual(globSync("unfinished/????????????????", { cwd: fixture.state }), []);
});

test("applies every one of several concurrent patches of one file", async () => {
  writeFileSync(join(fixture.ws, "list.txt"), "start\n");
  writeFileSync(join(fixture.ws, "other.txt"), "start\n");
  const names = Array.from({ length: 12 }, (_, at) => `line ${at}`);
  await Promise.all(
    names.map((name, at) => {
      const files = at % 2 === 0 ? ["list.txt", "other.txt"] : ["other.txt", "list.txt"];
      return fixture.use(
        "apply_patch",
        wrap(...files.flatMap((file) => [`*** Update File: ${file}`, "@@", `+${name}`])),
      );
    }),
  );
  for (const file of ["list.txt", "other.txt"])
    assert.deepEqual(
      readFileSync(join(fixture.ws, file), "utf8").trim().split("\n").toSorted(),
      [...names, "start"].toSorted(),
    );
});

test("names the added, modified and deleted files, for the model and for programs", async () => {
  for (const name of ["m.txt", "d.txt", "r.txt"]) writeFileSync(join(fixture.ws, name), "x\n");
  const result = await fixture.use(
    "apply_patch",
    wrap(
      "*** Add File: n.txt",
      "+x",
      "*** Update File: m.txt",
      "@@",
      "-x",
      "+y",
      "*** Delete File: d.txt",
      "*** Update File: r.txt",
      "*** Move to: sub/r.txt",
    ),
  );
  assert.equal(textOf(result), "Patched 4 files:\nA n.txt\nM m.txt\nM sub/r.txt\nD d.txt");
  assert.deepEqual(result.details, {
    summary: { added: ["n.txt"], modified: ["m.txt", "sub/r.txt"], deleted: ["d.txt"] },
  });
});

test("lets a sandboxed agent use the sandbox name of its workspace, and no other absolute path", async () => {
  await fixture.use("apply_patch", wrap("*** Add File: /workspace/boxed.txt", "+x"), {
    sandboxed: true,
    workspaceOnly: false,
  });
  assert.equal(readFileSync(join(fixture.ws, "boxed.txt"), "utf8"), "x\n");
  const { code } = await outcomeOf(
    fixture.use("apply_patch", wrap("*** Add File: /tmp/boxed.txt", "+x"), { sandboxed: true, workspaceOnly: false }),
  );
  assert.equal(code, "fs.outside");
});

test("keeps permissions, also of a moved file, and leaves no temporary file", async () => {
  writeFileSync(join(fixture.ws, "run.sh"), "echo a\n");
  chmodSync(join(fixture.ws, "run.sh"), 0o755);
  await fixture.use(
    "apply_patch",
    wrap("*** Update File: run.sh", "*** Move to: bin/run.sh", "@@", "-echo a", "+echo b"),
  );
  assert.equal(statSync(join(fixture.ws, "bin/run.sh")).mode & 0o777, 0o755);
  assert.deepEqual(globSync("**/.openclaw-*", { cwd: fixture.ws }), []);
});

test("changes nothing when a patch is aborted", async () => {
  const control = new AbortController();
  control.abort();
  await assert.rejects(fixture.use("apply_patch", wrap("*** Add File: aborted.txt", "+x"), { signal: control.signal }));
  assert.equal(existsSync(join(fixture.ws, "aborted.txt")), false);
});

function mountable(): false | string {
  if (process.platform !== "linux" || process.getuid?.() !== 0) return "needs root on Linux to mount a small disk";
  const place = join(fixture.home, "try-mount");
  mkdirSync(place);
  try {
    execFileSync("mount", ["-t", "tmpfs", "tmpfs", place], { stdio: "ignore" });
    execFileSync("umount", [place]);
    return false;
  } catch (error) {
    return `cannot mount here: ${String(error)}`;
  }
}

test("leaves all files unchanged when the disk is full halfway", { skip: mountable() }, async () => {
  const workspace = join(fixture.home, "disk");
  mkdirSync(workspace);
  execFileSync("mount", ["-t", "tmpfs", "-o", "size=1m", "tmpfs", workspace]);
  try {
    writeFileSync(join(workspace, "small.txt"), "a\n");
    writeFileSync(join(workspace, "big.txt"), `${"x".repeat(700_000)}\n`);
    const before = treeOf(workspace);
    const work = fixture.use(
      "apply_patch",
      wrap(
        "*** Update File: small.txt",
        "@@",
        "-a",
        "+b",
        "*** Update File: big.txt",
        "@@",
        "+more",
        "*** Add File: new/one.txt",
        "+x",
      ),
      { workspace },
    );
    assert.equal((await outcomeOf(work)).code, "fs.full");
    assert.deepEqual(treeOf(workspace), before);
    assert.deepEqual(readdirSync(workspace).toSorted(), ["big.txt", "small.txt"]);
  } finally {
    execFileSync("umount", [workspace]);
  }
});
