// Pipes for commands, made by the real mkfifo in a real folder.
import assert from "node:assert/strict";
import { closeSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";

import { createPipePool } from "./pipes.ts";

test("what one end is given comes out at the other, and nothing of it stays in the folder", async (t) => {
  const folder = tempFolder(t);
  const { read, write } = await createPipePool(() => Promise.resolve(folder)).takeLink();
  writeSync(write, "hello");
  closeSync(write);
  assert.equal(readFileSync(read, "utf8"), "hello");
  closeSync(read);
  assert.equal(readdirSync(join(folder, "pipes")).includes("1-63"), false);
});

test("a failure says why and holds for one command only", async (t) => {
  const folder = tempFolder(t);
  let place = join(folder, "file");
  writeFileSync(place, "");
  const pool = createPipePool(() => Promise.resolve(place));
  await assert.rejects(pool.take("us"), { code: "exec.start-failed", message: /could not be made: ENOTDIR/ });
  place = folder;
  const { ours, theirs } = await pool.take("us");
  closeSync(ours);
  closeSync(theirs);
});

test("many at once each get their own", async (t) => {
  const folder = tempFolder(t);
  const pool = createPipePool(() => Promise.resolve(folder));
  const all = await Promise.all(Array.from({ length: 200 }, () => pool.take("child")));
  assert.equal(new Set(all.flatMap(({ ours, theirs }) => [ours, theirs])).size, 400);
  for (const { ours, theirs } of all) for (const fd of [ours, theirs]) closeSync(fd);
});

function tempFolder(t: { after(work: () => void): void }): string {
  const folder = mkdtempSync(join(tmpdir(), "pipes-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
