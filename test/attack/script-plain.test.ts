// An approved script without a `#!` line: /bin/sh runs it, from the bytes that were allowed, and the card says so.
import assert from "node:assert/strict";
import { chmodSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { describePlan } from "../../src/exec/policy/preview.ts";
import { attempt, openFixture } from "./approval-fixture.ts";

const skip = process.platform !== "linux" && "without /proc what was compared cannot be held";

test("a script without a shebang line runs as it was allowed", { skip }, async (context) => {
  const fixture = await openFixture(context);
  const work = join(fixture.folder, "work");
  mkdirSync(work);
  const lay = (name: string, text: string | Buffer): void => {
    writeFileSync(join(work, name), text);
    chmodSync(join(work, name), 0o755);
  };
  lay("plain", `echo "allowed $0 $1"\n`);
  lay("marked", Buffer.from("\uFEFF#!/bin/sh\necho allowed\n"));
  for (const [command, said] of [
    ["./plain one", "allowed ./plain one\n[0]"],
    ["nice ./plain one", `allowed ${work}/plain one\n[0]`],
    [`${work}/plain one`, `allowed ${work}/plain one\n[0]`],
  ] as const) {
    const plan = await fixture.plan(command, work);
    assert.equal((await attempt(fixture, plan)).output, said, command);
    const shell = describePlan(plan).rows.filter(({ value }) => /^\/(?:usr\/)?bin\/sh\b/.test(value));
    assert.equal(shell.length, 1, command);
  }
  // Its first line is no command, as for any shell; the next one is.
  assert.match((await attempt(fixture, await fixture.plan("./marked", work))).output, /not found\nallowed\n\[0\]$/);
  const plan = await fixture.plan("./plain", work);
  lay("plain", "echo other\n");
  assert.equal((await attempt(fixture, plan)).code, "approval.changed");
  assert.deepEqual(readdirSync(join(fixture.folder, "state", "pins")), []);
});
