// Pipes for commands, made by the real mkfifo in a real folder.
import assert from "node:assert/strict";
import {
  closeSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";

import { createLauncher } from "./launcher.ts";
import { createPipePool, type PipePool } from "./pipes.ts";
import { readProcess } from "./proc.ts";

const notLinux = process.platform === "linux" ? false : "the launcher process is used on Linux only";

test("passes bytes from one end to the other and leaves no file in the folder", async (t) => {
  const folder = tempFolder(t);
  const { read, write } = await openPool(t, () => folder).takeLink();
  writeSync(write, "hello");
  closeSync(write);
  assert.equal(readFileSync(read, "utf8"), "hello");
  closeSync(read);
  assert.equal(readdirSync(join(folder, "pipes")).includes("1-63"), false);
});

test("reports a failure to one command only", async (t) => {
  const folder = tempFolder(t);
  let place = join(folder, "file");
  writeFileSync(place, "");
  const pool = openPool(t, () => place);
  await assert.rejects(pool.take("us"), {
    code: "exec.start-failed",
    message: /could not create pipes for commands: ENOTDIR/,
  });
  place = folder;
  const { ours, theirs } = await pool.take("us");
  closeSync(ours);
  closeSync(theirs);
});

test("gives each of many commands its own pipes", async (t) => {
  const folder = tempFolder(t);
  const pool = openPool(t, () => folder);
  const all = await Promise.all(Array.from({ length: 200 }, () => pool.take("child")));
  assert.equal(new Set(all.flatMap(({ ours, theirs }) => [ours, theirs])).size, 400);
  for (const { ours, theirs } of all) for (const fd of [ours, theirs]) closeSync(fd);
});

test("reports the error of mkfifo", async (t) => {
  const folder = tempFolder(t);
  mkdirSync(join(folder, "pipes"));
  // A name that is taken.
  writeFileSync(join(folder, "pipes", "1-5"), "");
  await assert.rejects(openPool(t, () => folder).take("us"), {
    code: "exec.start-failed",
    message: /could not create pipes for commands: mkfifo: .*1-5.*exists/,
  });
});

test("creates pipes through the launcher once it is used", { skip: notLinux }, async (t) => {
  const launcher = createLauncher();
  t.after(() => launcher.close());
  const made: number[] = [];
  const folder = tempFolder(t);
  const pool = createPipePool(() => Promise.resolve(folder), {
    ...launcher,
    async launch(program) {
      const launched = await launcher.launch(program);
      if (program.program === "mkfifo") made.push(readProcess(launched.pid)?.parent ?? 0);
      return launched;
    },
  });
  for (let round = 0; round < 200 && !made.some((parent) => parent !== process.pid && parent !== 0); round++) {
    const all = await Promise.all(Array.from({ length: 60 }, () => pool.take("us")));
    for (const { ours, theirs } of all) for (const fd of [ours, theirs]) closeSync(fd);
  }
  assert.ok(
    made.some((parent) => parent !== process.pid && parent !== 0),
    `started by ${made.join(", ")}`,
  );
});

function openPool(t: { after(work: () => Promise<void>): void }, folder: () => string): PipePool {
  const launcher = createLauncher();
  t.after(() => launcher.close());
  return createPipePool(() => Promise.resolve(folder()), launcher);
}

function tempFolder(t: { after(work: () => void): void }): string {
  const folder = mkdtempSync(join(tmpdir(), "pipes-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
