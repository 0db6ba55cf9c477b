// Which script a plan runs, and with which interpreter.
import assert from "node:assert/strict";
import { chmodSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";

import { analyze } from "./analyze.ts";
import { makePlan, verifyPlan } from "./freeze.ts";
import { heldFiles } from "./hold-script.ts";
import type { Plan } from "./plan.ts";
import { splitRelativePath, scriptUse } from "./script-use.ts";
import { shebangOf } from "./shebang.ts";

const folder = realpathSync(mkdtempSync(join(tmpdir(), "script-use-")));
after(() => rmSync(folder, { recursive: true, force: true }));

const put = (name: string, text: string): string => {
  const path = join(folder, name);
  writeFileSync(path, text);
  chmodSync(path, 0o755);
  return path;
};

async function planOf(command: string): Promise<Plan> {
  const context = { cwd: folder, workspace: folder, home: "/", path: [folder, "/usr/bin", "/bin"] };
  const analysis = await analyze(command, context);
  return makePlan({ analysis, context, env: {}, shell: "/bin/sh", host: "gateway", agent: "main", session: "s" });
}

test("splits relative paths from the working folder", () => {
  const ways: Record<string, ReturnType<typeof splitRelativePath>> = {
    "a.sh": { up: 0, down: "a.sh" },
    "./a.sh": { up: 0, down: "a.sh" },
    "b/./c//a.sh": { up: 0, down: "b/c/a.sh" },
    "../a.sh": { up: 1, down: "a.sh" },
    "./../../b/a.sh": { up: 2, down: "b/a.sh" },
    "b/../a.sh": undefined,
    "../b/../a.sh": undefined,
    "/a.sh": undefined,
    "b/": undefined,
    "..": undefined,
    ".": undefined,
    "": undefined,
  };
  for (const [name, way] of Object.entries(ways)) assert.deepEqual(splitRelativePath(name), way, name);
});

test("reads the interpreter from the first line", () => {
  put("own", "#!/bin/sh\n");
  const fixture = { cwd: folder, path: [folder, "/usr/bin", "/bin"] };
  const named = (line: string): readonly [string, readonly string[]] | undefined => {
    const found = shebangOf(put("script", line), fixture);
    return found === undefined ? undefined : [found.interpreter.path, found.flags];
  };
  const lines: Record<string, ReturnType<typeof named>> = {
    "#!/bin/sh\n": ["/bin/sh", []],
    "#! /bin/sh -e \nx": ["/bin/sh", ["-e"]],
    "#!/usr/bin/env sh\n": ["/usr/bin/sh", []],
    "#!/usr/bin/env own\n": [join(folder, "own"), []],
    "#!/usr/bin/env -S sh -e\n": undefined,
    "#!/usr/bin/env sh -e\n": undefined,
    "#!/usr/bin/env X=1\n": undefined,
    "#!/bin/sh -e -u\n": undefined,
    "#!sh\n": undefined,
    "#!/nowhere/sh\n": undefined,
    "#!/bin/sh": undefined,
    "echo\n": ["/bin/sh", []],
    "\u{7f}ELF\0": undefined,
    "": undefined,
  };
  for (const [line, wanted] of Object.entries(lines)) assert.deepEqual(named(line), wanted, JSON.stringify(line));
});

test(
  "a change of the interpreter invalidates the plan",
  { skip: process.platform !== "linux" && "scripts are held through /proc, which only Linux has" },
  async () => {
    put("runner", '#!/bin/sh\nexec sh "$@"\n');
    put("tool", `#!${join(folder, "runner")}\necho\n`);
    const plan = await planOf("./tool");
    assert.equal(plan.segments[0]?.shebang?.interpreter.path, join(folder, "runner"));
    await verifyPlan(plan);
    put("runner", '#!/bin/sh\nexec sh -x "$@"\n');
    await assert.rejects(verifyPlan(plan), { code: "approval.changed" });
  },
);

test(
  "holds scripts that can run from their bytes",
  { skip: process.platform !== "linux" && "scripts are held through /proc, which only Linux has" },
  async () => {
    for (const name of ["a.sh", "lib.sh"]) put(name, "#!/bin/bash\necho ${BASH_SOURCE[0]}\n");
    put("plain.sh", "echo\n");
    put("binary.sh", "echo\nexit\n\0");
    put("large.sh", `#!/bin/sh\n${"#".repeat(17 * 2 ** 20)}`);
    put("a.py", "#!/usr/bin/env python3\n");
    put("a.mts", "");
    put("a.mjs", "");
    const held: Record<string, string[]> = {
      "bash a.sh lib.sh": ["a.sh"],
      "./a.sh": ["a.sh"],
      "a.sh": [],
      [`bash ${folder}/a.sh`]: [],
      [`sh ${folder}/plain.sh`]: ["plain.sh"],
      [`sh ${folder}/binary.sh`]: [],
      "sh binary.sh": ["binary.sh"],
      "./large.sh": [],
      "bash -c ./a.sh": [],
      "bash -s a.sh": [],
      "bash --init-file lib.sh a.sh": [],
      "sh a.sh; sh plain.sh": [],
      "sh a.sh | sh plain.sh": ["a.sh", "plain.sh"],
      "cat a.sh": [],
    };
    for (const [command, names] of Object.entries(held)) {
      const files = [...heldFiles(await planOf(command))].map(({ path }) => path);
      assert.deepEqual(
        files,
        names.map((name) => join(folder, name)),
        command,
      );
    }
    const plan = await planOf("nice sh -e plain.sh x");
    const [segment] = plan.segments;
    assert.ok(segment !== undefined);
    assert.deepEqual(scriptUse(segment, plan), {
      family: "shell",
      interpreter: segment.inner?.at(-1),
      at: 1,
      flags: ["-e"],
      name: "plain.sh",
      args: ["x"],
      file: plan.files.find(({ path }) => path === join(folder, "plain.sh")),
    });
  },
);
