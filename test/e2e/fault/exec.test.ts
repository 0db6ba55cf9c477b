// Commands that will not go away (F12, F17, F19): through the front door, and after the gateway itself was killed.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { exec, proc, until } from "../../harness/exec.ts";
import { dispose, startGateway, type TestGateway } from "../../harness/gateway.ts";

const rounds = Number(process.env["OPENCLAW_PROCESS_ROUNDS"] ?? 1);
const noBubblewrap = spawnSync("bwrap", ["--ro-bind", "/", "/", "--unshare-all", "true"]).status !== 0;

/** Every process whose command line holds the mark, however it was started and whoever adopted it. */
function living(mark: string): string[] {
  return globSync("/proc/[0-9]*/cmdline").flatMap((path) => {
    try {
      const line = readFileSync(path, "utf8").replaceAll("\0", " ");
      return line.includes(mark) && !line.includes("node ") ? [line] : [];
    } catch {
      return []; // it ended while we looked
    }
  });
}

const zombies = (parent: number): string[] =>
  spawnSync("ps", ["-o", "pid=,stat=", "--ppid", String(parent)])
    .stdout.toString()
    .split("\n")
    .filter((line) => / Z/.test(line));

/** Started in every way a command can try to outlive its owner. */
const escapes = (mark: string): readonly string[] => [
  `sleep 300.${mark}`,
  `trap '' TERM HUP INT; sleep 301.${mark}; sleep 302.${mark}`,
  `(setsid sleep 303.${mark} >/dev/null 2>&1 &) ; sleep 304.${mark}`,
  `setsid sh -c 'trap "" TERM; (sleep 305.${mark} &) ; sleep 306.${mark}' & disown 2>/dev/null; sleep 307.${mark}`,
  `nohup sh -c 'exec sleep 308.${mark}' >/dev/null 2>&1 & exec sleep 309.${mark}`,
];

test(
  "F17 no process of a command survives process kill, a timeout or the end of the gateway",
  { timeout: 1_200_000 },
  async () => {
    for (let round = 0; round < rounds; round++) {
      const mark = `${process.pid}${Date.now() % 1e6}${round}`;
      const gateway = await startGateway({ config: {} });
      const ids = await Promise.all(
        escapes(mark).map(async (command) => (await exec(gateway, { command, background: true })).details["sessionId"]),
      );
      await until(
        () => living(mark).length,
        (count) => count >= 8,
      );
      await Promise.all(ids.map((sessionId) => proc(gateway, { action: "remove", sessionId })));
      assert.deepEqual(
        await until(
          () => living(mark),
          (left) => left.length === 0,
        ),
        [],
      );
      await Promise.all(escapes(mark).map((command) => exec(gateway, { command, timeout: 0.5 })));
      assert.deepEqual(
        await until(
          () => living(mark),
          (left) => left.length === 0,
        ),
        [],
      );
      await until(
        () => zombies(gateway.pid),
        (left) => left.length === 0,
      );
      await Promise.all(escapes(mark).map((command) => exec(gateway, { command, background: true })));
      await until(
        () => living(mark).length,
        (count) => count >= 8,
      );
      await gateway.stop("SIGTERM");
      assert.deepEqual(
        await until(
          () => living(mark),
          (left) => left.length === 0,
        ),
        [],
      );
      await dispose(gateway);
    }
  },
);

test(
  "F17 no orphan survives kill -9 of the gateway, on the host and in the sandbox",
  { timeout: 1_200_000 },
  async () => {
    const modes = noBubblewrap ? ["off"] : ["off", "all"];
    for (let round = 0; round < rounds; round++)
      for (const mode of modes) {
        const mark = `${process.pid}${Date.now() % 1e6}${round}${mode.length}`;
        const gateway = await startGateway({ config: { agents: { defaults: { sandbox: { mode } } } } });
        for (const command of escapes(mark)) await exec(gateway, { command, background: true });
        await exec(gateway, { command: `cat # ${mark}`, background: true, pty: true });
        await until(
          () => living(mark).length,
          (count) => count >= 8,
        );
        await gateway.stop("SIGKILL");
        assert.deepEqual(
          await until(
            () => living(mark),
            (left) => left.length === 0,
          ),
          [],
          `mode ${mode}`,
        );
        await dispose(gateway);
      }
  },
);

test("F12 ends a command that ignores its time limit before it can write more", { timeout: 600_000 }, async (t) => {
  const gateway = await startGateway({ config: {} });
  t.after(() => dispose(gateway));
  const slot = join(gateway.home, "late");
  const { details, text } = await exec(gateway, {
    command: `trap '' TERM; echo started; sleep 1; sleep 4; touch ${slot}`,
    timeout: 0.5,
  });
  assert.deepEqual([details["status"], details["timedOut"]], ["failed", true]);
  assert.match(text, /its time limit; changes made before that remain/);
  await until(
    () => living(slot),
    (processes) => processes.length === 0,
  );
  assert.equal(existsSync(slot), false);
});

test("F19 broken pipes, closed inputs and a lost terminal are contained", { timeout: 600_000 }, async (t) => {
  const gateway = await startGateway({ config: {} });
  t.after(() => dispose(gateway));
  const { details } = await exec(gateway, { command: "exec 0<&-; sleep 20", background: true });
  const write = (): Promise<{ status: number }> =>
    proc(gateway, { action: "write", sessionId: details["sessionId"], data: "x".repeat(300_000) });
  for (let at = 0; at < 5; at++) assert.ok([200, 400].includes((await write()).status));
  const gone = await exec(gateway, { command: "true", background: true });
  await until(
    () => proc(gateway, { action: "poll", sessionId: gone.details["sessionId"] }),
    (polled) => polled.details["status"] !== "running",
  );
  assert.match(
    (await proc(gateway, { action: "write", sessionId: gone.details["sessionId"], data: "x" })).text,
    /not running/,
  );
  await closeReaders(gateway);
  gateway.process.kill("SIGHUP");
  assert.equal((await exec(gateway, { command: "yes | head -n 3; echo still here" })).details["status"], "completed");
});

/** The terminal that read the gateway's words goes away. */
async function closeReaders(gateway: TestGateway): Promise<void> {
  gateway.process.stdout?.destroy();
  gateway.process.stderr?.destroy();
  await sleep(50);
}
