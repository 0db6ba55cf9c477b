// A script that runs from the bytes that were allowed notices nothing of it: the same output as when started by its path.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";

import { nodeCopies, nodeStart } from "../../src/exec/policy/hold-node.ts";
import { describePlan } from "../../src/exec/policy/preview.ts";
import { startPinned, startPlan } from "../../src/exec/start-plan.ts";
import { attempt, openFixture, type Fixture } from "./approval-fixture.ts";

const skip = process.platform !== "linux" && "without /proc what was compared cannot be held";
const hasPython = existsSync("/usr/bin/python3");

const self = `echo "$0 $# $*" "$PWD" "$(pwd -P)" "$(dirname "$0")" "\${OLDPWD:-none}"`;
const files: Readonly<Record<string, string>> = {
  "plain.sh": `${self}\necho made > made.txt; . ./lib.sh; cat; exit 3`,
  "lib.sh": "echo from the library",
  "bash.sh": `#!/bin/bash\nset -euo pipefail\nhere="$(cd "$(dirname "\${BASH_SOURCE[0]}")" && pwd)"\n${self}\necho "$here $LINENO"\n[[ "\${BASH_SOURCE[0]}" == "$0" ]] && echo main\n(exit 7)`,
  "heredoc.sh": `cat <<EOF\n$0 $1\nEOF\nif true; then\n  trap 'echo bye' EXIT\nfi\nexit 0\n)( is never read`,
  "failing.sh": "true\nkill -TERM $$\n",
  "tool.py": `#!/usr/bin/env python3\nimport sys, os, beside\nprint(__name__, __file__, sys.argv, sys.path[0], beside.value, os.getcwd(), sorted(globals()), type(__loader__).__name__)\nprint(sys.stdin.read())\nsys.exit(4)`,
  "beside.py": "value = 5",
  "tool.mjs": `import { value } from "./beside.mjs";\nconsole.log(value, import.meta.url, import.meta.dirname, process.argv.slice(1), process.execArgv, process.cwd());\nawait null;\nprocess.exitCode = 5;`,
  "beside.mjs": "export const value = 6;",
  "tool.cjs": `#!/usr/bin/env node\n"use strict";\nconsole.log(require.main === module, module.id, __filename, __dirname, process.argv.slice(1), require("./beside.cjs"));`,
  "beside.cjs": "module.exports = 7;",
  "detected.js": `import { value } from "./beside.mjs";\nconsole.log(value, import.meta.filename);`,
  "undetected.js": `console.log(typeof require, __filename, this === module.exports);`,
  "deep/down.sh": `#!/bin/sh\n${self}\ncd "$(dirname "$0")" && pwd && ls`,
};

const commands = [
  "sh plain.sh a 'b c'",
  "sh -e ./plain.sh",
  "bash bash.sh x",
  "./bash.sh",
  "bash -eu heredoc.sh one",
  "dash failing.sh",
  "./deep/down.sh",
  "deep/down.sh y",
  "sh ../work/deep/down.sh",
  "sh deep/../plain.sh",
  "nice bash bash.sh",
  "timeout 20 sh plain.sh q",
  "echo hello | sh plain.sh",
  "sh linked.sh",
  "node tool.mjs 1 2",
  "node --no-warnings ./tool.mjs",
  "./tool.cjs --flag",
  "node tool.cjs",
  "node detected.js",
  "node undetected.js",
  "node linked.mjs",
  ...(hasPython ? ["python3 tool.py 1 2", "./tool.py", "python3 -u deep/../tool.py", "python3 -I deep/none.py"] : []),
];

async function lay(fixture: Fixture): Promise<string> {
  const work = join(fixture.folder, "work");
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(work, name)), { recursive: true });
    writeFileSync(join(work, name), text);
    chmodSync(join(work, name), 0o755);
  }
  writeFileSync(join(work, "deep", "none.py"), `import sys\nprint(sys.argv, len(sys.path) > 0, __file__)`);
  symlinkSync("deep/down.sh", join(work, "linked.sh"));
  symlinkSync("tool.mjs", join(work, "linked.mjs"));
  return work;
}

for (const form of ["as written", "by its whole path"]) {
  test(`scripts behave the same pinned and not pinned, ${form}`, { skip, timeout: 600_000 }, async (context) => {
    const fixture = await openFixture(context, [dirname(process.execPath)]);
    const work = await lay(fixture);
    const whole = (command: string): string =>
      command.replace(/(?:\.\.\/work\/|\.\/)?((?:deep\/(?:\.\.\/)?)?\w+\.(?:sh|py|[cm]?js))/, `${work}/$1`);
    let compared = 0;
    for (const written of commands) {
      const command = form === "as written" ? written : whole(written);
      const outputs: string[] = [];
      for (const how of ["held", "by path"]) {
        rmSync(join(work, "made.txt"), { force: true });
        rmSync(join(work, "__pycache__"), { recursive: true, force: true });
        const plan = await fixture.plan(command, work);
        const start = how === "held" ? startPinned : startPlan;
        const running = await start(fixture.deps, plan, { tty: false, hasInput: false });
        await running.closeInput();
        const { code, signal } = await running.ended;
        const made = existsSync(join(work, "made.txt")) ? readFileSync(join(work, "made.txt"), "utf8") : "";
        outputs.push(`${running.output.tail(20_000)}[${code} ${signal}] ${made}`);
      }
      const [held, byPath = ""] = outputs;
      // A script started by its own name is told the name that was written, as by a shell; by its path it gets the whole one.
      const isOwn = !/^(?:sh|bash|dash|node|python3|nice|timeout|echo) /.test(command) && form === "as written";
      if (isOwn) assert.equal(held?.split("[").at(-1), byPath.split("[").at(-1), command);
      else assert.equal(held, byPath, command);
      compared += 1;
    }
    context.diagnostic(`${compared} scripts compared`);
    assert.deepEqual(readdirSync(join(fixture.folder, "state", "pins")), []);
  });
}

test("the card names files that are only compared", { skip }, async (context) => {
  const fixture = await openFixture(context, [dirname(process.execPath)]);
  const work = await lay(fixture);
  writeFileSync(join(work, "x.pl"), "print 1");
  const shown = async (command: string): Promise<boolean> => {
    const card = describePlan(await fixture.plan(command, work));
    return card.rows.some(({ value }) => value.endsWith("compared again at the start"));
  };
  const held = ["sh plain.sh", "bash bash.sh", "./bash.sh", "node tool.mjs", "./tool.cjs", `sh ${work}/plain.sh`];
  for (const command of held) assert.equal(await shown(command), false, command);
  // A shell that is asked for the whole path of its script, one line of several commands, an option that reads more, another interpreter.
  const compared = [
    `bash ${work}/bash.sh`,
    "sh plain.sh && sh bash.sh",
    "bash -l plain.sh",
    "perl x.pl",
    "sh plain.sh lib.sh",
  ];
  for (const command of compared) assert.equal(await shown(command), true, command);
});

test("a pinned script runs in a terminal and is ended with its children", { skip }, async (context) => {
  const fixture = await openFixture(context);
  const work = await lay(fixture);
  writeFileSync(join(work, "tty.sh"), `test -t 1 && echo "terminal $0 $PWD"\n`);
  const { output } = await attempt(fixture, await fixture.plan("sh tty.sh", work), true);
  assert.equal(output, `terminal tty.sh ${work}\n[0]`);
  writeFileSync(join(work, "long.sh"), `echo started\nsleep 1000 &\nwait\n`);
  const running = await startPinned(fixture.deps, await fixture.plan("sh long.sh", work), {
    tty: false,
    hasInput: false,
  });
  await running.end("killed");
  assert.deepEqual(readdirSync(join(fixture.folder, "state", "pins")), []);
});

test(
  "Python finds its environment, with a terminal and without",
  { skip: skip || !hasPython || !existsSync("/bin/bash") },
  async (context) => {
    const fixture = await openFixture(context);
    const work = await lay(fixture);
    mkdirSync(join(work, "env", "bin"), { recursive: true });
    symlinkSync("/usr/bin/python3", join(work, "env", "bin", "python3"));
    writeFileSync(join(work, "env", "pyvenv.cfg"), "home = /usr/bin\ninclude-system-site-packages = false\n");
    writeFileSync(join(work, "where.py"), `#!${work}/env/bin/python3\nimport sys\nprint(sys.prefix, sys.argv)\n`);
    chmodSync(join(work, "where.py"), 0o755);
    for (const command of ["./where.py", "env/bin/python3 ./where.py"]) {
      for (const tty of [false, true]) {
        const { output } = await attempt(fixture, await fixture.plan(command, work), tty);
        assert.equal(output, `${work}/env ['./where.py']\n[0]`, `${command} ${tty}`);
      }
    }
  },
);

test("an older Node without current hooks runs the pinned bytes", { skip }, async (context) => {
  const fixture = await openFixture(context);
  const work = await lay(fixture);
  const at = (name: string): string => join(fixture.folder, name);
  writeFileSync(at("older.cjs"), `delete require("node:module").registerHooks;`);
  for (const name of ["tool.mjs", "tool.cjs", "undetected.js"]) {
    const file = { path: join(work, name), real: join(work, name), device: "", inode: "" };
    for (const copy of Object.values(nodeCopies(fixture.folder))) writeFileSync(copy, files[name] ?? "");
    writeFileSync(at("start.cjs"), nodeStart(fixture.folder, { file }));
    const plain = spawnSync(process.execPath, [name, "1"], { cwd: work, encoding: "utf8" });
    writeFileSync(join(work, name), "throw new Error('opened by its path')");
    const options = { cwd: work, encoding: "utf8" } as const;
    const held = spawnSync(process.execPath, ["--require", at("older.cjs"), at("start.cjs"), name, "1"], options);
    // Where the path is long, Node prints the list over several lines.
    const own = /\[\s+'--require',\s+'[^']+older\.cjs'\s+\]/;
    assert.equal(held.stdout.replace(own, "[]") + held.stderr, plain.stdout + plain.stderr, name);
    assert.equal(held.status, plain.status, name);
  }
});
