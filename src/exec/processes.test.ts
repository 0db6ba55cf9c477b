// The table of background commands: owners, names and how long entries stay.
import assert from "node:assert/strict";
import { test } from "node:test";

import type { AgentId, SessionKey } from "../core/names.ts";
import { silentLog } from "./engine.cases.ts";
import { labelOf, newProcessId } from "./process-name.ts";
import { createProcessTable } from "./processes.ts";
import type { Exit, Running } from "./running.ts";

const [alice, bob] = ["alice" as AgentId, "bob" as AgentId];
const owner = (agent: AgentId, command = "npm run build") => ({
  agent,
  session: `agent:${agent}:main` as SessionKey,
  command,
  cwd: "/",
});

/** A command whose end the test decides; the engine itself has its own tests. */
function scripted(): { running: Running; end(exit: Exit): Promise<void>; discarded(): boolean } {
  const { promise: ended, resolve } = Promise.withResolvers<Exit>();
  let isDiscarded = false;
  const output = {
    totalChars: 0,
    totalLines: 0,
    tail: () => "",
    drain: () => ({ text: "", dropped: 0 }),
    lines: async () => [],
    discard: async () => {
      isDiscarded = true;
    },
  };
  const running: Running = {
    pid: 1,
    startedAt: 0,
    tty: false,
    output,
    write: async () => {},
    closeInput: async () => {},
    interrupt: async () => {},
    end: () => ended,
    ended,
    screen: async () => undefined,
  };
  return {
    running,
    async end(exit) {
      resolve(exit);
      await ended;
      await new Promise((done) => setImmediate(done));
    },
    discarded: () => isDiscarded,
  };
}

test("shows an agent only its own commands, also by id", () => {
  const table = createProcessTable({
    clock: { now: () => 0, ticks: () => 0 },
    log: silentLog,
    cleanupMs: () => undefined,
  });
  const one = table.add(scripted().running, owner(alice));
  const two = table.add(scripted().running, owner(alice));
  table.add(scripted().running, owner(bob));
  assert.deepEqual(
    table.list(alice).map(({ id }) => id),
    [one.id, two.id],
  );
  assert.equal(table.get(alice, one.id), one);
  assert.equal(table.get(alice, one.id.toUpperCase()), one);
  assert.equal(table.get(bob, one.id), undefined);
  assert.equal(table.get(alice, "no-such"), undefined);
});

test("derives the state from the exit", async () => {
  const table = createProcessTable({
    clock: { now: () => 0, ticks: () => 0 },
    log: silentLog,
    cleanupMs: () => undefined,
  });
  const exits: [Partial<Exit>, string][] = [
    [{ code: 0 }, "completed"],
    [{ code: 1 }, "failed"],
    [{ code: null, signal: "SIGSEGV" }, "failed"],
    [{ code: null, signal: "SIGTERM", reason: "killed" }, "killed"],
    [{ code: 0, reason: "timeout" }, "failed"],
  ];
  const states: string[] = [];
  const stop = table.onExit((entry) => states.push(entry.state()));
  for (const [exit, state] of exits) {
    const command = scripted();
    const entry = table.add(command.running, owner(alice));
    assert.equal(entry.state(), "running");
    await command.end({ code: null, endedAt: 0, ...exit });
    assert.equal(entry.state(), state);
  }
  assert.deepEqual(
    states,
    exits.map(([, state]) => state),
  );
  stop();
});

test("removes a finished command after cleanupMs, which is clamped", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout", "Date"] });
  const clock = { now: () => Date.now(), ticks: () => 0 };
  for (const [asked, lives] of [
    [1000, 60_000],
    [undefined, 1_800_000],
    [99_999_999, 10_800_000],
    [120_000, 120_000],
  ] as const) {
    const table = createProcessTable({ clock, log: silentLog, cleanupMs: () => asked });
    const [done, running] = [scripted(), scripted()];
    const entry = table.add(done.running, owner(alice));
    const other = table.add(running.running, owner(alice));
    await done.end({ code: 0, endedAt: clock.now() });
    t.mock.timers.tick(lives - 1);
    assert.equal(table.get(alice, entry.id), entry);
    t.mock.timers.tick(1001);
    assert.equal(table.get(alice, entry.id), undefined, String(asked));
    assert.equal(done.discarded(), true);
    assert.equal(table.get(alice, other.id), other, "running ones stay");
    await table.close();
  }
});

test("keeps at most 500 finished commands and removes the oldest first", async () => {
  const table = createProcessTable({
    clock: { now: () => 1000, ticks: () => 0 },
    log: silentLog,
    cleanupMs: () => undefined,
  });
  const entries = [];
  for (let at = 0; at < 510; at += 1) {
    const command = scripted();
    entries.push(table.add(command.running, owner(alice)));
    await command.end({ code: 0, endedAt: at });
  }
  assert.deepEqual(table.list(alice), entries.slice(10));
  assert.equal(new Set(entries.map(({ id }) => id)).size, 510);
  await table.close();
});

test("creates ids of two words that are never taken", () => {
  assert.match(
    newProcessId(() => false),
    /^[a-z]+-[a-z]+$/,
  );
  assert.match(
    newProcessId((id) => id.split("-").length === 2),
    /^[a-z]+-[a-z]+-\d{4}$/,
  );
});

test("derives a label from the command", () => {
  const labels: Record<string, string> = {
    "npm run build": "npm build",
    "cd web && npm run dev -- --port 1": "npm dev",
    "FOO=1 /usr/bin/python3 -u server.py --x": "python3 server.py",
    "sudo nohup make -j4 all": "make all",
    htop: "htop",
    "tail -f log | grep x": "tail log",
    [`echo ${"x".repeat(100)}`]: `echo ${"x".repeat(34)}…`,
  };
  for (const [command, label] of Object.entries(labels)) assert.equal(labelOf(command), label);
});
