// F35: file tools killed at every step. After the next start all files of a patch are there or none, and no temp is left.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { globSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";

import { recoverFiles } from "../../../src/tool/fs/access.ts";
import { dispose, startGateway } from "../../harness/gateway.ts";
import { missingProgram } from "../../harness/program.ts";

const fixture = join(import.meta.dirname, "..", "..", "fixtures", "file-tool.ts");
// Every system call that changes names or makes them last; every push takes a part of them.
const asked = process.env["OPENCLAW_FAULT_ROUNDS"];
const stride = asked === undefined ? 9 : asked === "all" ? 1 : 2;

const patch = `*** Begin Patch
*** Add File: new/deep/one.txt
+one
*** Update File: a.txt
@@
-a
+A
*** Update File: run.sh
*** Move to: bin/run.sh
@@
-echo old
+echo new
*** Delete File: sub/gone.txt
*** Update File: b.txt
@@
+more
*** End Patch`;

const before = {
  "a.txt": "a\n",
  "b.txt": "b\n",
  "run.sh": "echo old\n",
  "sub/gone.txt": "x\n",
  "sub/stays.txt": "y\n",
};
const patched = {
  "a.txt": "A\n",
  "b.txt": "b\nmore\n",
  bin: "/",
  "bin/run.sh": "echo new\n",
  new: "/",
  "new/deep": "/",
  "new/deep/one.txt": "one\n",
  sub: "/",
  "sub/stays.txt": "y\n",
};

interface Trial {
  readonly tool: string;
  readonly args: object;
  readonly after: Record<string, string>;
}

const trials: Record<string, Trial> = {
  "a patch of five files": { tool: "apply_patch", args: { input: patch }, after: patched },
  "a write": {
    tool: "write",
    args: { path: "a.txt", content: "new\n" },
    after: { ...before, sub: "/", "a.txt": "new\n" },
  },
  "an edit": {
    tool: "edit",
    args: { path: "b.txt", oldText: "b", newText: "B" },
    after: { ...before, sub: "/", "b.txt": "B\n" },
  },
};

test(
  "F35 a patch killed at each step is complete or absent after the next start",
  { timeout: 1_200_000 },
  async (t) => {
    const trial = trialOf("a patch of five files");
    const steps = stepsOf(trial);
    assert.deepEqual(
      steps.filter((step) => !/^(?:stage|change)/.test(step)),
      ["record", "begin", "finish", "tidy", "done"],
    );
    const seen = { none: 0, all: 0 };
    for (let at = 1; at < steps.length; at += 1) {
      const home = newHome();
      const { signal } = runTool(home, trial, [String(at)]);
      assert.equal(signal, "SIGKILL", steps[at - 1]);
      seen[await afterRestart(home, trial, steps[at - 1] ?? "")] += 1;
    }
    t.diagnostic(`${steps.length - 1} steps: ${seen.none} times none of it, ${seen.all} times all of it, never a part`);
  },
);

const strace = missingProgram("strace");
const calls = ["rename", "unlink", "mkdir", "rmdir", "fsync"];

for (const [name, trial] of Object.entries(trials)) {
  test(
    `F35 ${name}, killed at each system call that renames or syncs, is complete or absent`,
    { skip: strace, timeout: 1_200_000 },
    async (t) => {
      const seen = { none: 0, all: 0 };
      for (const call of calls) {
        for (let at = 1; ; at += stride) {
          const home = newHome();
          const { signal, status } = runTool(home, trial, [], tracing(call, at));
          const outcome = await afterRestart(home, trial, `${call} ${at}`);
          if (signal === null && status === 0) break;
          seen[outcome] += 1;
        }
      }
      assert.ok(seen.none > 0, "some ended before the change");
      t.diagnostic(
        `${seen.none + seen.all} kills: ${seen.none} times none of it, ${seen.all} times all of it, never a part`,
      );
    },
  );
}

test(
  "F35 a recovery that is killed itself is completed by the next start",
  { skip: strace, timeout: 1_200_000 },
  async () => {
    const trial = trialOf("a patch of five files");
    const middle = stepsOf(trial).findIndex((step) => step === "change 4") + 1;
    for (const [call, at] of [
      ["rename", 1],
      ["rename", 2],
      ["unlink", 1],
      ["unlink", 3],
      ["fsync", 2],
    ] as const) {
      const home = newHome();
      runTool(home, trial, [String(middle)]);
      // Any use of a file tool puts things right first.
      runTool(
        home,
        { tool: "write", args: { path: "sub/stays.txt", content: "y\n" }, after: {} },
        [],
        tracing(call, at),
      );
      assert.equal(await afterRestart(home, trial, `${call} ${at}`), "none");
    }
  },
);

test("the next start recovers before any tool is used", async () => {
  const trial = trialOf("a patch of five files");
  const home = newHome();
  runTool(home, trial, [String(stepsOf(trial).indexOf("finish") + 1)]);
  const workspace = join(home, ".openclaw", "workspace");
  assert.equal(readFileSync(join(workspace, "a.txt"), "utf8"), "A\n");
  const gateway = await startGateway({ home });
  assert.deepEqual(treeOf(workspace), { ...before, sub: "/" });
  await dispose(gateway);
});

test("recovery does not undo later changes by others", async () => {
  const trial = trialOf("a patch of five files");
  const steps = stepsOf(trial);
  const home = newHome();
  const workspace = join(home, ".openclaw", "workspace");
  runTool(home, trial, [String(steps.indexOf("finish") + 1)]);
  assert.equal(readFileSync(join(workspace, "a.txt"), "utf8"), "A\n");
  writeFileSync(join(workspace, "a.txt"), "theirs\n");
  writeFileSync(join(workspace, "sub", "gone.txt"), "theirs too\n");
  await recoverFiles({ stateDir: join(home, ".openclaw") });
  const tree = treeOf(workspace);
  const kept = Object.keys(tree).find((path) => path.startsWith("sub/gone.txt.before-patch-")) ?? "";
  assert.deepEqual(tree, {
    ...before,
    sub: "/",
    "a.txt": "theirs\n",
    "sub/gone.txt": "theirs too\n",
    [kept]: "x\n",
  });
  rmSync(home, { recursive: true });
});

function trialOf(name: string): Trial {
  const trial = trials[name];
  assert.ok(trial !== undefined);
  return trial;
}

function stepsOf(trial: Trial): string[] {
  const home = newHome();
  const { stdout } = runTool(home, trial, []);
  assert.deepEqual(treeOf(join(home, ".openclaw", "workspace")), trial.after);
  rmSync(home, { recursive: true });
  return stdout.trim().split("\n");
}

function newHome(): string {
  const home = realpathSync(mkdtempSync(join(tmpdir(), "fault-files-")));
  for (const [path, content] of Object.entries(before)) {
    mkdirSync(join(home, ".openclaw", "workspace", path, ".."), { recursive: true });
    writeFileSync(join(home, ".openclaw", "workspace", path), content, { mode: path.endsWith(".sh") ? 0o755 : 0o644 });
  }
  return home;
}

function runTool(home: string, { tool, args }: Trial, more: readonly string[], wrapper: readonly string[] = []) {
  const [program = "", ...rest] = [...wrapper, process.execPath, fixture, home, tool, JSON.stringify(args), ...more];
  // One thread for file work, so that the count of system calls is the same each time.
  return spawnSync(program, rest, { encoding: "utf8", env: { ...process.env, UV_THREADPOOL_SIZE: "1" } });
}

function tracing(call: string, at: number): string[] {
  return [
    "strace",
    "-f",
    "-qq",
    "-o",
    "/dev/null",
    "-e",
    `trace=/^${call}`,
    "-e",
    `inject=/^${call}:signal=SIGKILL:when=${at}`,
  ];
}

/** Puts things right as the next gateway does, then looks at every file and folder. */
async function afterRestart(home: string, { after }: Trial, at: string): Promise<"none" | "all"> {
  await recoverFiles({ stateDir: join(home, ".openclaw") });
  const tree = treeOf(join(home, ".openclaw", "workspace"));
  const isAll =
    Object.keys(after).length === Object.keys(tree).length &&
    after["a.txt"] === tree["a.txt"] &&
    after["b.txt"] === tree["b.txt"];
  assert.deepEqual(tree, isAll ? after : { ...before, sub: "/" }, `killed at: ${at}`);
  assert.deepEqual(globSync("unfinished/????????????????", { cwd: join(home, ".openclaw") }), [], at);
  const script = join(home, ".openclaw", "workspace", "bin" in tree ? "bin/run.sh" : "run.sh");
  assert.equal(statSync(script).mode & 0o777, 0o755, at);
  rmSync(home, { recursive: true });
  return isAll ? "all" : "none";
}

function treeOf(root: string): Record<string, string> {
  const paths = globSync("**/{*,.*}", { cwd: root });
  return Object.fromEntries(
    paths
      .toSorted()
      .map((path) => [path, statSync(join(root, path)).isFile() ? readFileSync(join(root, path), "utf8") : "/"]),
  );
}
