// Starting a held Python script runs only that script, whatever modules lie beside it.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";

import { pythonStart } from "./hold-python.ts";

const folder = realpathSync(mkdtempSync(join(tmpdir(), "hold-python-")));
after(() => rmSync(folder, { recursive: true, force: true }));

/** Newer versions of Python have frozen modules. The tests turn them off, so that all versions search the same paths. */
const python = ["/usr/bin/python3", "/usr/local/bin/python3"].find((path) => spawnSync(path, ["-V"]).status === 0);
const skip = python === undefined ? "no python3 here" : false;

test("does not import modules beside the script or in the working folder as its own", { skip }, () => {
  const [work, context] = [join(folder, "work"), join(folder, "context")];
  for (const at of [work, context]) {
    mkdirSync(join(at, "importlib"), { recursive: true });
    for (const name of ["os.py", "sys.py", "importlib/__init__.py", "importlib/machinery.py", "posixpath.py"])
      writeFileSync(join(at, name), 'print("not allowed")\n');
  }
  const script = join(context, "x.py");
  writeFileSync(script, "import sys\nprint(sys.path[0], sys.argv, __file__)\n");
  const file = { path: script, real: script, device: "", inode: "" };
  const use = { family: "python", interpreter: file, at: 0, flags: [], name: script, args: ["a"], file } as const;
  for (const flags of [[], ["-S"], ["-X", "frozen_modules=off"], ["-S", "-X", "frozen_modules=off"]]) {
    const argv = [...flags, "-c", pythonStart(script, use), script, "a"];
    const { stdout, stderr } = spawnSync(python ?? "", argv, { cwd: work, encoding: "utf8", env: {} });
    assert.deepEqual({ stdout, stderr }, { stdout: `${context} ['${script}', 'a'] ${script}\n`, stderr: "" });
  }
});
