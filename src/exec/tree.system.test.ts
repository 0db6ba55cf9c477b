// F17: ends everything that a command starts, however it hides, and never touches other processes.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";

import { newSecret } from "../base/ids.ts";
import { env, livingWith, openTestEngine, rounds, sleep, until, type TestEngine } from "./engine.cases.ts";
import { MARK, ownMark, readProcess, scanProcesses, signalProcess, type Process } from "./proc.ts";
import { membersOf, sweepOrphans } from "./tree.ts";

const onLinux = { skip: process.platform === "linux" ? false : "needs /proc" };
const engine = openTestEngine({ graceMs: 200 });
after(() => engine.close());

/** Ways to escape: forks, sessions, ignored signals, a parent that exits first, a cleared environment, stopped processes. */
const escapes: Record<string, string> = {
  "a daemon by double fork": "(setsid sh -c 'sleep 600 & sleep 601' &) ; echo ready; sleep 602",
  "TERM ignored by the whole tree": "trap '' TERM; sh -c 'sleep 603 & wait' & echo ready; sleep 604; sleep 605",
  "a parent that has already exited":
    "setsid sh -c 'trap \"\" TERM HUP; sleep 606; sleep 607' >/dev/null 2>&1 & echo ready",
  "an environment cleared below a marked session": "setsid sh -c 'env -i sleep 608 & sleep 609' & echo ready; wait",
  "stopped processes": "sleep 610 & kill -STOP $!; echo ready; wait",
  "many short children": "echo ready; while :; do true & sleep 0; done",
  "a child that starts another on TERM":
    "trap 'setsid sleep 611 & exit' TERM; echo ready; while :; do sleep 0.05; done",
  "nested sessions": "setsid setsid sh -c 'setsid sh -c \"setsid sleep 612 & sleep 613\" & wait' & echo ready; wait",
};

test("ends every process that tries to escape", { ...onLinux }, async (t) => {
  const names = Object.keys(escapes);
  for (let round = 0; round < rounds(names.length); round += 1) {
    const name = names[round % names.length] ?? "";
    const word = newSecret(6);
    const run = await startTagged(engine, escapes[name] ?? "", word);
    await until(() => run.output.tail(100).includes("ready"));
    await sleep(round % 20);
    await run.end("killed");
    const left = await taggedAlive(word);
    assert.deepEqual(left, [], `${name}, round ${round}`);
    assert.deepEqual(await zombiesOf(process.pid), [], `${name}, round ${round}: zombies`);
  }
  t.diagnostic(`${rounds(names.length)} rounds`);
});

test("leaves no zombie and no open file after thousands of short commands", { ...onLinux }, async () => {
  const count = Math.min(5000, rounds(40) * 5);
  for (let at = 0; at < count; at += 50) {
    await Promise.all(
      Array.from({ length: 50 }, async () => {
        const run = await engine.sh("(true &) ; true");
        await run.ended;
      }),
    );
  }
  assert.deepEqual(await zombiesOf(process.pid), []);
});

test("a process that is killed outright leaves no orphan: the reaper ends them", { ...onLinux }, async () => {
  for (let round = 0; round < Math.max(1, Math.ceil(rounds(2) / 100)); round += 1) {
    const word = newSecret(6);
    const gateway = startGateway(word);
    await until(async () => (await taggedAlive(word)).length >= 5);
    gateway.kill("SIGKILL");
    await until(async () => (await taggedAlive(word)).length === 0);
  }
});

test("with the reaper killed too, the next start ends the orphans", { ...onLinux }, async () => {
  const word = newSecret(6);
  const gateway = startGateway(word);
  await until(async () => (await taggedAlive(word)).length >= 5);
  const launched = (await scanProcesses()).filter(({ parent }) => parent === gateway.pid);
  const reaper = launched.find(({ pid }) => commandOf(pid).includes("openclaw-reaper"));
  assert.ok(reaper !== undefined);
  signalProcess(reaper, "SIGKILL");
  gateway.kill("SIGKILL");
  await until(() => readProcess(gateway.pid ?? 0)?.isDead ?? true);
  await sleep(100);
  assert.ok((await taggedAlive(word)).length >= 4);
  assert.ok((await sweepOrphans(200)) >= 4);
  assert.deepEqual(await taggedAlive(word), []);
});

test("orphan cleanup ignores processes of a living gateway", { ...onLinux }, async () => {
  const run = await engine.sh("echo ready; exec sleep 614");
  await until(() => run.output.totalLines === 1);
  await sweepOrphans(100);
  assert.ok(existsSync(`/proc/${run.pid}`));
  await run.end("killed");
});

test("close ends commands, their daemons and the reaper", { ...onLinux }, async () => {
  const own = openTestEngine({ graceMs: 100 });
  const word = newSecret(6);
  const daemon = await startTagged(own, "setsid sleep 615 >/dev/null 2>&1 & echo ready", word);
  await daemon.ended;
  const run = await startTagged(own, "trap '' TERM; echo ready; while :; do sleep 616; done", word);
  await until(() => run.output.totalLines === 1);
  assert.equal((await taggedAlive(word)).length, 3);
  await own.close();
  assert.deepEqual(await taggedAlive(word), []);
  assert.equal((await run.ended).reason, "shutdown");
  const children = (await scanProcesses()).filter(({ parent }) => parent === process.pid);
  assert.equal(
    children.filter(({ pid }) => commandOf(pid).includes("openclaw-reaper")).length,
    1,
    "only the other engine's",
  );
});

test("PRC-003: does not signal a reused pid", { ...onLinux }, async () => {
  const bystander = spawn("sleep", ["617"], { stdio: "ignore" });
  const now = readProcess(bystander.pid ?? 0);
  assert.ok(now !== undefined);
  assert.equal(signalProcess({ ...now, start: "1" }, "SIGKILL"), false);
  assert.equal(readProcess(now.pid)?.start, now.start);
  assert.equal(signalProcess(now, "SIGKILL"), true);
  await until(() => bystander.signalCode !== null);
  assert.equal(signalProcess(now, "SIGKILL"), false);
});

test("PRC-003: does not take over a group whose leader's pid was reused", () => {
  const seen = (pid: number, more: Partial<Process> = {}): Process => ({
    pid,
    parent: 1,
    group: pid,
    session: pid,
    start: "5",
    isDead: false,
    mark: undefined,
    isEnvironmentHidden: false,
    ...more,
  });
  const tree = (isReaped: boolean) => ({
    owns: (mark: string) => mark === "m",
    leaders: [{ pid: 50, isReaped: () => isReaped }],
  });
  const pids = (isReaped: boolean, ...processes: Process[]): number[] =>
    membersOf(tree(isReaped), processes).map(({ pid }) => pid);
  const reused = [seen(50), seen(51, { group: 50, session: 50, parent: 50 })];
  assert.deepEqual(pids(true, ...reused), [], "reaped, and the pid was reused: processes of others");
  assert.deepEqual(pids(false, ...reused), [50, 51], "not reaped: ours");
  assert.deepEqual(
    pids(true, seen(51, { group: 50, session: 50 })),
    [51],
    "reaped, and the pid is free: its group is still ours",
  );
  assert.deepEqual(
    pids(true, seen(60, { mark: "m" }), seen(61, { session: 60 }), seen(62, { parent: 61 })),
    [60, 61, 62],
  );
  assert.deepEqual(pids(true, seen(60, { mark: "other" }), seen(process.pid, { mark: "m" })), []);
});

test("a mark identifies its process uniquely", { ...onLinux }, async () => {
  const mark = ownMark();
  const child = spawn("sleep", ["618"], { stdio: "ignore", env: { ...env, [MARK]: mark } });
  await until(() => readProcess(child.pid ?? 0, true)?.mark === mark);
  child.kill("SIGKILL");
});

async function startTagged(target: TestEngine, line: string, word: string) {
  const tagged = line.replaceAll(/sleep (6\d\d)/g, `sleep $1.${digitsOf(word)}`);
  return target.start({
    pipeline: [{ launch: { argv: ["/bin/sh", "-c", tagged], cwd: target.folder, env: { ...env, TAG: word } } }],
  });
}

/** The duration of a sleep identifies its test, even when the environment was cleared. */
const digitsOf = (word: string): string => BigInt(`0x${word}`).toString();

async function taggedAlive(word: string): Promise<readonly string[]> {
  const living = await livingWith(
    ({ pid }) => environOf(pid).includes(`TAG=${word}`) || commandOf(pid).includes(`.${digitsOf(word)}`),
  );
  return living.map(({ pid }) => `${pid} ${commandOf(pid)}`);
}

async function zombiesOf(parent: number): Promise<readonly number[]> {
  // A child that just exited is a zombie until the event loop collects it, so only lasting ones count.
  const look = async (): Promise<number[]> =>
    (await scanProcesses()).filter((one) => one.isDead && one.parent === parent).map(({ pid }) => pid);
  const first = await look();
  if (first.length === 0) return [];
  await sleep(200);
  const second = new Set(await look());
  return first.filter((pid) => second.has(pid));
}

function startGateway(word: string) {
  const script = join(fileURLToPath(new URL(".", import.meta.url)), "killed-gateway.cases.ts");
  return spawn(process.execPath, [script], { stdio: "ignore", env: { ...process.env, WORD: word } });
}

const environOf = (pid: number): string => readOr(`/proc/${pid}/environ`);
const commandOf = (pid: number): string => readOr(`/proc/${pid}/cmdline`);

function readOr(path: string): string {
  try {
    return readFileSync(path, "latin1");
  } catch {
    return ""; // it is gone
  }
}
