import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { setTimeout as wait } from "node:timers/promises";

import { OpenClawError } from "../core/error.ts";
import { openRoot } from "./rooted-fs.ts";

const home = realpathSync(mkdtempSync(join(tmpdir(), "rooted-crash-")));
after(() => rmSync(home, { recursive: true, force: true }));

/** Another process that works on the folder; `body` can use `root`. */
function child(folder: string, body: string) {
  const code = `import { openRoot } from ${JSON.stringify(import.meta.resolve("./rooted-fs.ts"))};
    const root = await openRoot({ root: ${JSON.stringify(folder)} });
    const die = () => process.kill(process.pid, "SIGKILL");
    ${body}`;
  return spawn(process.execPath, ["--input-type=module", "-e", code], { stdio: ["ignore", "pipe", "inherit"] });
}

async function killed(folder: string, body: string): Promise<void> {
  const [, signal] = (await once(child(folder, body), "exit")) as [number | null, string | null];
  assert.equal(signal, "SIGKILL");
}

const temps = (folder: string): string[] => readdirSync(folder).filter((name) => name.endsWith(".tmp"));

test("killed at each step, the file is the old or the new one, and the next writer deletes the temp file", async () => {
  const folder = join(home, "steps");
  mkdirSync(folder);
  writeFileSync(join(folder, "x"), "old");
  await killed(folder, `await root.stage("x", Buffer.from("new")); die();`);
  assert.deepEqual([readFileSync(join(folder, "x"), "utf8"), temps(folder).length], ["old", 1]);
  await killed(folder, `const staged = await root.stage("x", Buffer.from("new")); void staged.commit(); die();`);
  assert.ok(["old", "new"].includes(readFileSync(join(folder, "x"), "utf8")));
  await killed(folder, `await root.write("x", Buffer.from("newer")); die();`);
  assert.deepEqual([readFileSync(join(folder, "x"), "utf8"), temps(folder)], ["newer", []]);
});

test("killed at any moment of many writes, no file is ever partial", { timeout: 900_000 }, async () => {
  const folder = join(home, "many");
  mkdirSync(folder);
  const size = 300_000;
  const whole = new Set("abcdefgh".split("").map((entry) => entry.repeat(size)));
  writeFileSync(join(folder, "x"), "a".repeat(size));
  for (let round = 0; round < 15; round += 1) {
    const writer = child(
      folder,
      `for (let at = 0; ; at += 1) { await root.write("x", Buffer.alloc(${size}, 97 + (at % 8))); if (at === 0) process.stdout.write("go"); }`,
    );
    await once(writer.stdout, "data");
    await wait(round * 3);
    writer.kill("SIGKILL");
    await once(writer, "exit");
    assert.ok(whole.has(readFileSync(join(folder, "x"), "utf8")), `round ${round}`);
    assert.ok(temps(folder).length <= 1, "each writer swept what the one before it left");
  }
  await killed(folder, `await root.write("y", Buffer.from("1")); die();`);
  assert.deepEqual(readdirSync(folder).toSorted(), ["x", "y"]);
});

function mountable(): false | string {
  if (process.platform !== "linux" || process.getuid?.() !== 0) return "needs root on Linux to mount a small disk";
  const place = mkdtempSync(join(tmpdir(), "mount-"));
  try {
    execFileSync("mount", ["-t", "tmpfs", "tmpfs", place], { stdio: "ignore" });
    execFileSync("umount", [place]);
    return false;
  } catch (error) {
    return `cannot mount here: ${String(error)}`;
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
}

test("reports a full disk and a read-only disk and leaves no partial file", { skip: mountable() }, async () => {
  const disk = join(home, "disk");
  mkdirSync(disk);
  execFileSync("mount", ["-t", "tmpfs", "-o", "size=1m", "tmpfs", disk]);
  try {
    const root = await openRoot({ root: disk });
    const codeOf = (work: Promise<unknown>): Promise<string> =>
      work.then(
        () => "ok",
        (error: unknown) => (error instanceof OpenClawError ? error.code : String(error)),
      );
    const old = Buffer.alloc(600_000, 111);
    assert.equal(await codeOf(root.write("x", old)), "ok");
    const snapshot = (): unknown => [readFileSync(join(disk, "x")).equals(old), readdirSync(disk).toSorted()];
    assert.equal(await codeOf(root.write("x", Buffer.alloc(700_000, 110))), "fs.full");
    assert.equal(await codeOf(root.write("new/deep/y", Buffer.alloc(700_000, 110))), "fs.full");
    assert.deepEqual(snapshot(), [true, ["x"]]);
    execFileSync("mount", ["-o", "remount,ro", disk]);
    assert.equal(await codeOf(root.write("x", Buffer.from("n"))), "fs.read-only");
    assert.equal(await codeOf(root.write("new/y", Buffer.from("n"))), "fs.read-only");
    assert.equal(await codeOf(root.remove("x")), "fs.read-only");
    assert.equal(await codeOf(root.rename("x", "z")), "fs.read-only");
    assert.equal(await codeOf(root.makeFolder("d")), "fs.read-only");
    assert.deepEqual(snapshot(), [true, ["x"]]);
    root.close();
  } finally {
    execFileSync("umount", [disk]);
  }
});

test(
  "reports files that the user may not access",
  { skip: process.getuid?.() !== 0 && "needs root to become somebody else" },
  async () => {
    const folder = join(home, "owned");
    mkdirSync(join(folder, "theirs"), { recursive: true });
    for (const [name, mode] of [
      ["locked", 0o444],
      ["hidden", 0o600],
      ["theirs/x", 0o644],
    ] as const)
      writeFileSync(join(folder, name), "old", { mode });
    for (const path of [home, folder]) execFileSync("chmod", ["755", path]);
    execFileSync("chmod", ["777", folder]);
    const body = `process.setgid(65534); process.setuid(65534);
    const said = [];
    for (const work of [() => root.write("locked", Buffer.from("n")), () => root.read("hidden", { maxBytes: 9 }), () => root.write("theirs/x", Buffer.from("n")), () => root.write("theirs/new/y", Buffer.from("n")), () => root.write("mine", Buffer.from("n"))]) {
      said.push(await work().then(() => "ok", (error) => error.code));
    }
    process.stdout.write(said.join(" "));`;
    const writer = child(folder, body);
    const chunks: Buffer[] = [];
    writer.stdout.on("data", (chunk: Buffer) => chunks.push(chunk));
    await once(writer, "close");
    assert.equal(Buffer.concat(chunks).toString(), "fs.read-only fs.no-permission fs.read-only fs.read-only ok");
    assert.deepEqual(
      [readFileSync(join(folder, "locked"), "utf8"), readdirSync(folder).toSorted()],
      ["old", ["hidden", "locked", "mine", "theirs"]],
    );
  },
);
