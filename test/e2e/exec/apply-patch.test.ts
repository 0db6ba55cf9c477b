// apply_patch through the front door: what each part of a patch does to the files, and that a bad one changes nothing.
import assert from "node:assert/strict";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { after, before, beforeEach, describe, test } from "node:test";

import { call, exec, type Called } from "../../harness/exec.ts";
import { dispose, startGateway, type TestGateway } from "../../harness/gateway.ts";
import { noBubblewrap } from "../../harness/sandbox.ts";

let gateway: TestGateway;
before(async () => {
  gateway = await startGateway({
    config: {
      tools: { exec: { applyPatch: { enabled: true, allowModels: ["gpt-5.2"] } } },
      agents: {
        defaults: { model: "openai/gpt-5.2" },
        list: [
          { id: "main", default: true },
          { id: "boxed", sandbox: { mode: "all" } },
        ],
      },
    },
  });
});
after(() => dispose(gateway));
beforeEach(() => {
  rmSync(gateway.workspace, { recursive: true, force: true });
  mkdirSync(gateway.workspace, { recursive: true });
});

type Files = Readonly<Record<string, string>>;
const put = (files: Files): void => {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(gateway.workspace, name)), { recursive: true });
    writeFileSync(join(gateway.workspace, name), text);
  }
};
const found = (): Files =>
  Object.fromEntries(
    readdirSync(gateway.workspace, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
      .map((path) => [path.slice(gateway.workspace.length + 1), readFileSync(path, "utf8")]),
  );
const patch = (...lines: readonly string[]): Promise<Called> =>
  call(gateway, "apply_patch", { input: ["*** Begin Patch", ...lines, "*** End Patch"].join("\n") });

interface Case {
  readonly before?: Files;
  readonly lines: readonly string[];
  readonly after: Files;
  readonly said: string;
}
const cases: Readonly<Record<string, Case>> = {
  "add makes folders and ends with a newline": {
    lines: ["*** Add File: notes/todo.md", "+# Todo", "+", "+- one"],
    after: { "notes/todo.md": "# Todo\n\n- one\n" },
    said: "A notes/todo.md",
  },
  delete: { before: { "old.txt": "x\n" }, lines: ["*** Delete File: old.txt"], after: {}, said: "D old.txt" },
  "update in several hunks, each found by its context": {
    before: { "a.ts": "one() {\n  x\n}\ntwo() {\n  x\n}\nthree() {\n  x\n}\n" },
    lines: ["*** Update File: a.ts", "@@ two() {", "-  x", "+  y", "@@ three() {", "-  x", "+  z"],
    after: { "a.ts": "one() {\n  x\n}\ntwo() {\n  y\n}\nthree() {\n  z\n}\n" },
    said: "M a.ts",
  },
  "update and move": {
    before: { "math.ts": "return a - b;\n" },
    lines: ["*** Update File: math.ts", "*** Move to: src/arith.ts", "-return a - b;", "+return a + b;"],
    after: { "src/arith.ts": "return a + b;\n" },
    said: "M src/arith.ts",
  },
  "a move alone": {
    before: { "a.txt": "a\n" },
    lines: ["*** Update File: a.txt", "*** Move to: b.txt"],
    after: { "b.txt": "a\n" },
    said: "M b.txt",
  },
  "end of file: the last of two that fit": {
    before: { "a.txt": "x\ny\nx\n" },
    lines: ["*** Update File: a.txt", "@@", "-x", "+z", "*** End of File"],
    after: { "a.txt": "x\ny\nz\n" },
    said: "M a.txt",
  },
  "line ends stay what they are": {
    before: { "dos.txt": "a\r\nb\r\n" },
    lines: ["*** Update File: dos.txt", "-b", "+B"],
    after: { "dos.txt": "a\r\nB\r\n" },
    said: "M dos.txt",
  },
  "an empty line in a hunk is an empty line of the file": {
    before: { "a.txt": "a\n\nb\n" },
    lines: ["*** Update File: a.txt", "@@", " a", "", "-b", "+c"],
    after: { "a.txt": "a\n\nc\n" },
    said: "M a.txt",
  },
  "added lines alone go to the end, or behind their context": {
    before: { "a.txt": "a\nb\n", "b.txt": "a\nb\n" },
    lines: ["*** Update File: a.txt", "@@", "+c", "*** Update File: b.txt", "@@ a", "+c"],
    after: { "a.txt": "a\nb\nc\n", "b.txt": "a\nc\nb\n" },
    said: "M a.txt\nM b.txt",
  },
  "typographic quotes and dashes are found by plain ones": {
    before: { "a.txt": "say “hi” – ok\n" },
    lines: ["*** Update File: a.txt", '-say "hi" - ok', "+done"],
    after: { "a.txt": "done\n" },
    said: "M a.txt",
  },
  "two parts about one file, one after the other": {
    lines: ["*** Add File: a.txt", "+one", "*** Update File: a.txt", "-one", "+two"],
    after: { "a.txt": "two\n" },
    said: "A a.txt",
  },
};
for (const [name, { before: files = {}, lines, after: expected, said }] of Object.entries(cases))
  test(name, async () => {
    put(files);
    const { text, error } = await patch(...lines);
    assert.equal(error, undefined, text);
    assert.deepEqual(found(), expected);
    const count = said.split("\n").length;
    assert.equal(text, `Patched ${count} file${count === 1 ? "" : "s"}:\n${said}`);
  });

test("the result lists files by what happened to them; a shell wrapper around the patch is removed", async () => {
  put({ "m.txt": "m\n", "d.txt": "d\n" });
  const lines = ["*** Add File: a.txt", "+a", "*** Update File: m.txt", "-m", "+M", "*** Delete File: d.txt"];
  const input = ["<<'EOF'", "*** Begin Patch", ...lines, "*** End Patch", "EOF", ""].join("\n");
  const { details } = await call(gateway, "apply_patch", { input });
  assert.deepEqual(details, { summary: { added: ["a.txt"], modified: ["m.txt"], deleted: ["d.txt"] } });
  assert.deepEqual(found(), { "a.txt": "a\n", "m.txt": "M\n" });
});

describe("changes no file when a patch is rejected", () => {
  const liveStatus: Files = { "a.txt": "a\n", "b.txt": "b\n", "folder/c.txt": "c\n" };
  const first = ["*** Add File: first.txt", "+first"];
  const bad: Readonly<Record<string, readonly [code: string, ...lines: string[]]>> = {
    "lines that are not there": ["patch.no-match", "*** Update File: a.txt", "-nothing", "+x"],
    "an update without a change": ["patch.no-change", "*** Update File: a.txt"],
    "an added file that exists": ["fs.exists", "*** Add File: a.txt", "+x"],
    "a move onto another file": ["fs.exists", "*** Update File: a.txt", "*** Move to: b.txt"],
    "a file to delete that is not there": ["fs.not-found", "*** Delete File: nothing.txt"],
    "a folder to delete": ["fs.is-directory", "*** Delete File: folder"],
    "an unknown header": ["patch.unknown-header", "*** Rename File: a.txt"],
    "a path out of the workspace": ["fs.outside", "*** Add File: ../out.txt", "+x"],
    "an absolute path elsewhere": ["fs.outside", "*** Add File: /tmp/openclaw-out.txt", "+x"],
    "the config": ["fs.outside", "*** Update File: ../openclaw.json", "-x", "+y"],
    "a link that leads out": ["fs.link", "*** Add File: link/out.txt", "+x"],
  };
  for (const [name, [code, ...lines]] of Object.entries(bad))
    test(name, async () => {
      put(liveStatus);
      const elsewhere = join(gateway.home, "elsewhere");
      mkdirSync(elsewhere, { recursive: true });
      symlinkSync(elsewhere, join(gateway.workspace, "link"));
      const { error } = await patch(...first, ...lines);
      assert.equal(error?.type, code, error?.message);
      assert.match(error?.message ?? "", /^apply_patch, line \d+: /);
      assert.deepEqual(found(), liveStatus);
      assert.deepEqual(readdirSync(elsewhere), []);
      assert.equal(existsSync(join(gateway.state, "out.txt")), false);
    });

  const whole: Readonly<Record<string, readonly [code: string, input: string]>> = {
    "no beginning": ["patch.no-begin", "*** Add File: x\n+x\n*** End Patch"],
    "no end": ["patch.no-end", "*** Begin Patch\n*** Add File: x\n+x\n"],
    "no parts": ["patch.empty", "*** Begin Patch\n*** End Patch"],
    "no input": ["tool.bad-arguments", ""],
  };
  for (const [name, [code, input]] of Object.entries(whole))
    test(name, async () => {
      assert.equal((await call(gateway, "apply_patch", { input })).error?.type, code);
      assert.deepEqual(found(), {});
    });
});

test("in a sandbox the sandbox's files change", { skip: noBubblewrap }, async () => {
  const sandboxed = { body: { sessionKey: "agent:boxed:main" } };
  const input = "*** Begin Patch\n*** Add File: made.txt\n+by a patch\n*** End Patch";
  assert.equal((await call(gateway, "apply_patch", { input }, sandboxed)).error, undefined);
  assert.equal((await exec(gateway, { command: "cat /workspace/made.txt" }, sandboxed)).text, "by a patch\n");
  assert.equal(existsSync(`${gateway.workspace}-boxed/made.txt`), false);
});
