// Undo under kill -9: a turn, or the undo of one, ended at system call after system call; undo then restores every byte.
// All of them: OPENCLAW_FAULT_ROUNDS=all node --test test/e2e/fault/undo.test.ts
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import {
  chmodSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";

import { missingProgram } from "../../harness/program.ts";

const fixture = join(import.meta.dirname, "..", "..", "fixtures", "undo-turn.ts");
const asked = process.env["OPENCLAW_FAULT_ROUNDS"];
const stride = asked === undefined ? 41 : asked === "all" ? 1 : 7;
const skip = missingProgram("strace");
const calls = ["rename", "unlink", "mkdir", "rmdir", "fsync", "fdatasync"];

const before = {
  "a.txt": "644 a\n",
  "bytes.bin": "604 \0\u00ff\u00fe",
  "run.sh": "750 echo old\n",
  sub: "/",
  "sub/gone.txt": "644 x\n",
};

function newHome(): string {
  const home = realpathSync(mkdtempSync(join(tmpdir(), "openclaw-undo-")));
  const workspace = join(home, ".openclaw", "workspace");
  mkdirSync(join(workspace, "sub"), { recursive: true, mode: 0o700 });
  for (const [name, shown] of Object.entries(before)) {
    if (shown === "/") continue;
    const [mode = "", ...content] = shown.split(" ");
    writeFileSync(join(workspace, name), Buffer.from(content.join(" "), "latin1"));
    chmodSync(join(workspace, name), Number.parseInt(mode, 8));
  }
  return home;
}

function picture(home: string): Record<string, string> {
  const workspace = join(home, ".openclaw", "workspace");
  return Object.fromEntries(
    globSync("{*,.*,**/*,**/.*}", { cwd: workspace })
      .toSorted()
      .map((name) => {
        const facts = statSync(join(workspace, name));
        const mode = (facts.mode & 0o7777).toString(8);
        return [name, facts.isDirectory() ? "/" : `${mode} ${readFileSync(join(workspace, name), "latin1")}`];
      }),
  );
}

function run(home: string, what: string, killAt?: readonly [call: string, at: number]) {
  const line = [process.execPath, fixture, home, what];
  const [call, at] = killAt ?? [];
  const trace =
    call === undefined
      ? []
      : [
          "strace",
          "-f",
          "-qq",
          "-o",
          "/dev/null",
          "-e",
          `trace=${call}`,
          "-e",
          `inject=${call}:signal=KILL:when=${at}`,
        ];
  const [program = "", ...words] = [...trace, ...line];
  const { stdout, stderr, signal, status } = spawnSync(program, words, { encoding: "utf8" });
  return { said: stdout.trim(), stderr, killed: signal !== null || status === 137, status };
}

function mustEnd(home: string, what: string, allowed: RegExp): string {
  const { said, stderr, status } = run(home, what);
  assert.equal(status, 0, stderr);
  assert.match(said, allowed);
  return said;
}

test("a turn killed at any moment can be undone to the byte", { skip, timeout: 1_200_000 }, async (t) => {
  const seen = { kills: 0, nothing: 0 };
  for (const call of calls) {
    for (let at = 1 + (calls.indexOf(call) % 3); ; at += stride) {
      const home = newHome();
      const { killed, status, stderr } = run(home, "work", [call, at]);
      if (!killed) {
        assert.equal(status, 0, stderr);
        rmSync(home, { recursive: true });
        break;
      }
      seen.kills += 1;
      const said = mustEnd(home, "undo", /^done$|^undo\.nothing/);
      if (said !== "done") seen.nothing += 1;
      assert.deepEqual(picture(home), before, `${call} ${at}`);
      rmSync(home, { recursive: true });
    }
  }
  assert.ok(seen.kills >= 3);
  t.diagnostic(`${seen.kills} kills, ${seen.nothing} before anything had changed; all undone to the byte`);
});

test(
  "an undo killed at any moment is complete or absent, and can be repeated",
  { skip, timeout: 1_200_000 },
  async (t) => {
    let kills = 0;
    for (const call of calls) {
      for (let at = 1 + (calls.indexOf(call) % 3); ; at += stride) {
        const home = newHome();
        mustEnd(home, "work", /^done$/);
        const worked = picture(home);
        const { killed } = run(home, "undo", [call, at]);
        if (killed) {
          kills += 1;
          mustEnd(home, "undo", /^done$|^undo\.nothing/);
        }
        assert.deepEqual(picture(home), before, `${call} ${at}`);
        mustEnd(home, "redo", /^done$|^undo\.nothing/);
        if (!killed) assert.deepEqual(picture(home), worked);
        rmSync(home, { recursive: true });
        if (!killed) break;
      }
    }
    assert.ok(kills >= 3);
    t.diagnostic(`${kills} kills of an undo`);
  },
);
