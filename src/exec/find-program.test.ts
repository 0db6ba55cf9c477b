import assert from "node:assert/strict";
import { test } from "node:test";

import { findProgram, whyNotRunnable } from "./find-program.ts";

test("finds programs in order, only executable files", () => {
  assert.equal(findProgram("sh", ["/nowhere", "/bin"]), "/bin/sh");
  assert.equal(findProgram("passwd", ["/etc"]), undefined);
  assert.equal(findProgram("/bin/sh", []), "/bin/sh");
});

test("reports the system's error code; a folder is not a program", () => {
  assert.deepEqual(["/bin/sh", "/etc/passwd", "/etc/passwd/x", "/nowhere/sh", "/bin"].map(whyNotRunnable), [
    undefined,
    "EACCES",
    "ENOTDIR",
    "ENOENT",
    "ENOENT",
  ]);
});
