// PATH on a node: a call can add folders in front but not replace it; on macOS it has no effect.
import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { callEnvironment } from "./environment.ts";

const own = "/usr/local/bin:/usr/bin:/bin";
const refused = { code: "exec.rejected-variable" };

describe("PATH", () => {
  test("accepts folders in front, and the node's own PATH", () => {
    assert.deepEqual(callEnvironment({ A: "b", PATH: `/opt/x:/opt/y:${own}` }, own, "linux"), {
      env: { A: "b" },
      prefix: ["/opt/x", "/opt/y"],
      notes: [],
    });
    assert.deepEqual(callEnvironment({ PATH: own }, own, "linux"), { env: {}, prefix: [], notes: [] });
  });
  for (const [what, value] of [
    ["another PATH", "/evil"],
    ["none", ""],
    ["folders behind", `${own}:/evil`],
    ["a part of the node's PATH", "/opt/x:/usr/bin:/bin"],
    ["a PATH that only ends like it", `/evil${own}`],
    ["a relative folder in front", `bin:${own}`],
    ["an empty folder in front", `:${own}`],
    ["an empty folder between", `/opt/x::${own}`],
  ] as const)
    test(`${what} is refused`, () => {
      assert.throws(() => callEnvironment({ PATH: value }, own, "linux"), refused);
    });
  test("rejects another spelling or several", () => {
    const spellings: readonly Record<string, string>[] = [{ Path: `/opt/x:${own}` }, { PATH: own, path: own }];
    for (const env of spellings) assert.throws(() => callEnvironment(env, own, "linux"), refused);
  });
  test("ignores it on macOS with a note", () => {
    for (const PATH of ["/evil", own, `/opt/x:${own}`])
      assert.deepEqual(callEnvironment({ PATH, A: "b" }, own, "darwin"), {
        env: { A: "b" },
        prefix: [],
        notes: ["env.PATH was ignored: a node on macOS keeps its own PATH."],
      });
  });
});

test("rejects variables that control code", () => {
  for (const platform of ["linux", "darwin"] as const)
    for (const name of ["LD_PRELOAD", "ld_preload", "DYLD_X", "NODE_OPTIONS", "BASH_ENV", "OPENCLAW_X", "a b"])
      assert.throws(() => callEnvironment({ [name]: "x" }, own, platform), refused, name);
});
