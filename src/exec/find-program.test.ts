import assert from "node:assert/strict";
import { test } from "node:test";

import { findProgram, whyNotRunnable } from "./find-program.ts";

test("programs are found in order, only files that may be run", () => {
  assert.equal(findProgram("sh", ["/nowhere", "/bin"]), "/bin/sh");
  assert.equal(findProgram("passwd", ["/etc"]), undefined);
  assert.equal(findProgram("/bin/sh", []), "/bin/sh");
});

test("what cannot be run says why in the system's word; a folder is no program", () => {
  assert.deepEqual(["/bin/sh", "/etc/passwd", "/etc/passwd/x", "/nowhere/sh", "/bin"].map(whyNotRunnable), [
    undefined,
    "EACCES",
    "ENOTDIR",
    "ENOENT",
    "ENOENT",
  ]);
});
