// Which files of the previous build remain after a build.
import assert from "node:assert/strict";
import { cpSync, globSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";

import { keepChunks } from "./keep-chunks.ts";

const place = mkdtempSync(join(tmpdir(), "openclaw-chunks-"));
after(() => rmSync(place, { recursive: true, force: true }));
const [dist, next] = [join(place, "dist"), join(place, "dist.next")];

/** The same steps as in scripts/build.ts. */
function build(files: readonly string[], isPacking = false): string[] {
  mkdirSync(join(next, "ui", "assets"), { recursive: true });
  for (const file of files) writeFileSync(join(next, file), file);
  keepChunks(dist, next, isPacking);
  rmSync(dist, { recursive: true, force: true });
  cpSync(next, dist, { recursive: true });
  rmSync(next, { recursive: true, force: true });
  return globSync("**/*.js", { cwd: dist })
    .map((file) => file.replaceAll("\\", "/"))
    .toSorted();
}

test("keeps the chunks of the previous build, drops older ones, and packages only the current build", () => {
  const first = ["bin.js", "beat-AAAAAAAA.js", "same-00000000.js", "ui/assets/cron-AAAAAAAA.js"];
  const second = ["bin.js", "beat-BBBBBBBB.js", "same-00000000.js", "ui/assets/cron-BBBBBBBB.js"];
  const third = ["bin.js", "beat-CCCCCCCC.js", "ui/assets/cron-CCCCCCCC.js"];
  assert.deepEqual(build(first), first.toSorted());
  assert.deepEqual(build(second), [...new Set([...first, ...second])].toSorted());
  assert.deepEqual(build(third), [...new Set([...second, ...third])].toSorted());
  assert.deepEqual(build(third), third.toSorted());
  assert.deepEqual(build(second, true), second.toSorted());
});
