import assert from "node:assert/strict";
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { createLauncher, type Launched, type Launcher, type Program } from "./launcher.ts";
import { readProcess } from "./proc.ts";

const skip = process.platform === "linux" ? false : "the launcher process is used on Linux only";
const env = { PATH: "/usr/bin:/bin" };

const program = (...argv: string[]): Program => {
  const [name = "", ...args] = argv;
  return { program: name, args, argv0: name, cwd: "/", env, stdio: ["ignore", "ignore", "ignore"] };
};

/** A launcher whose process runs: from then on programs are its children, not ours. */
async function openLauncher(t: TestContext): Promise<{ launcher: Launcher; pid: number }> {
  const launcher = createLauncher();
  t.after(() => launcher.close());
  for (;;) {
    const launched = await launcher.launch(program("/bin/sleep", "0.05"));
    const parent = readProcess(launched.pid)?.parent;
    await launched.exited;
    if (parent !== undefined && parent !== process.pid) return { launcher, pid: parent };
    await sleep(10);
  }
}

const started = (launched: Launched): Omit<Launched, "pid" | "isReaped"> => ({ exited: launched.exited });

test("reports exit codes and signals of many concurrent programs", { skip }, async (t) => {
  const { launcher } = await openLauncher(t);
  const codes = Array.from({ length: 40 }, (_, at) => at);
  const exits = await Promise.all(
    codes.map(async (code) => (await launcher.launch(program("/bin/sh", "-c", `exit ${code}`))).exited),
  );
  assert.deepEqual(
    exits,
    codes.map((code) => ({ code })),
  );
  const killed = await launcher.launch(program("/bin/sleep", "100"));
  assert.equal(killed.isReaped(), false);
  process.kill(killed.pid, "SIGTERM");
  assert.deepEqual(await killed.exited, { code: null, signal: "SIGTERM" });
  assert.equal(killed.isReaped(), true);
});

test("passes open files, arguments, argv0, folder and environment on exactly", { skip }, async (t) => {
  const { launcher } = await openLauncher(t);
  const folder = mkdtempSync(join(tmpdir(), "launcher-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const [input, output, extra] = ["in", "out", "extra"].map((name) => join(folder, name)) as [string, string, string];
  writeFileSync(input, "from input\n");
  writeFileSync(extra, "from fd 3\n");
  const fds = [openSync(input, "r"), openSync(output, "w"), openSync(extra, "r")] as const;
  const script = 'cat; cat <&3; pwd; echo "$0|$1|$ODD"; echo err >&2';
  const { exited } = started(
    await launcher.launch({
      program: "/bin/sh",
      args: ["-c", script, "zero", "a\nb 'c' \"d\" \u{1f600}"],
      argv0: "renamed",
      cwd: folder,
      env: { ...env, ODD: "x\n=y" },
      stdio: [fds[0], fds[1], fds[1], fds[2]],
    }),
  );
  for (const fd of fds) closeSync(fd);
  assert.deepEqual(await exited, { code: 0 });
  assert.equal(
    readFileSync(output, "utf8"),
    `from input\nfrom fd 3\n${folder}\nzero|a\nb 'c' "d" \u{1f600}|x\n=y\nerr\n`,
  );
});

test("rejects with the system's error for a program that cannot be started", { skip }, async (t) => {
  const { launcher } = await openLauncher(t);
  await assert.rejects(launcher.launch(program("/nowhere/at/all")), { code: "ENOENT" });
  await assert.rejects(launcher.launch(program("/etc/passwd")), { code: "EACCES" });
  await assert.rejects(launcher.launch({ ...program("/bin/true"), cwd: "/nowhere" }), { code: "ENOENT" });
  assert.deepEqual(await (await launcher.launch(program("/bin/true"))).exited, { code: 0 });
});

test("keeps running programs when the launcher is killed, and starts the next ones", { skip }, async (t) => {
  const { launcher, pid } = await openLauncher(t);
  const running = await launcher.launch(program("/bin/sleep", "0.5"));
  process.kill(pid, "SIGKILL");
  while (readProcess(pid)?.isDead === false) await sleep(5);
  assert.equal(readProcess(running.pid)?.isDead, false);
  assert.deepEqual(await running.exited, { code: null });
  assert.deepEqual(await (await launcher.launch(program("/bin/sh", "-c", "exit 3"))).exited, { code: 3 });
});

test("ends with the process it starts programs for", { skip }, async (t) => {
  const { launcher, pid } = await openLauncher(t);
  await launcher.close();
  while (readProcess(pid)?.isDead === false) await sleep(5);
});
