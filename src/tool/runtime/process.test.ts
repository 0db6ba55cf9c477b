// The process tool with the real engine: every action, its text for the model and its details for programs.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";

import type { AgentId, SessionKey } from "../../core/names.ts";
import type { Static } from "../../core/schema.ts";
import { systemClock } from "../../base/clock.ts";
import { openTestEngine, silentLog, until } from "../../exec/engine.cases.ts";
import { createProcessTable, type ProcessSession } from "../../exec/processes.ts";
import type { RunOptions } from "../../exec/running.ts";
import type { ToolCall } from "../tool.ts";
import { createProcessTool } from "./process.ts";

const engine = openTestEngine({ graceMs: 300 });
const processes = createProcessTable({ clock: systemClock, log: silentLog, cleanupMs: () => undefined });
const tool = createProcessTool({ processes, clock: systemClock });
after(async () => {
  await engine.close();
  await processes.close();
});
const alice = "alice" as AgentId;
const tty = { columns: 120, rows: 30 };

type Arguments = Static<typeof tool.params>;

async function background(line: string, options: Partial<RunOptions> = {}): Promise<ProcessSession> {
  const running = await engine.sh(line, options);
  return processes.add(running, {
    agent: alice,
    session: "agent:alice:main" as SessionKey,
    command: line,
    cwd: engine.folder,
  });
}

async function call(args: Arguments, agent = alice) {
  const result = await tool.run(args, { agent, signal: new AbortController().signal } as ToolCall);
  const [block] = result.content;
  return { text: block?.type === "text" ? block.text : "", details: result.details };
}

test("lists running and finished commands, oldest first", async () => {
  assert.equal((await call({ action: "list" })).text, "No background commands.");
  const done = await background("echo hello; exit 3");
  await done.running.ended;
  const open = await background("sleep 900");
  const { text, details } = await call({ action: "list" });
  const rows = text.split("\n");
  assert.match(rows[0] ?? "", new RegExp(`^${done.id}  failed  \\d+s  echo hello :: echo hello; exit 3$`));
  assert.match(rows[1] ?? "", new RegExp(`^${open.id}  running  \\d+s  sleep 900 :: sleep 900$`));
  assert.ok(details !== undefined && "sessions" in details);
  const { startedAt, endedAt, runtimeMs, ...row } = details.sessions[0] ?? { startedAt: 0, runtimeMs: 0 };
  assert.equal((endedAt ?? 0) - startedAt, runtimeMs);
  assert.deepEqual(row, {
    sessionId: done.id,
    status: "failed",
    pid: done.running.pid,
    cwd: engine.folder,
    command: "echo hello; exit 3",
    name: "echo hello",
    tail: "hello",
    truncated: false,
    exitCode: 3,
  });
  assert.deepEqual((await call({ action: "list" }, "bob" as AgentId)).details, { status: "completed", sessions: [] });
  await call({ action: "remove", sessionId: open.id });
  await call({ action: "clear", sessionId: done.id });
});

test("poll returns each output once and the exit until it is forgotten, and never waits", async () => {
  const entry = await background("echo one; read -r x; echo two; exit 0");
  const head = { sessionId: entry.id, name: entry.name };
  await until(() => entry.running.output.totalLines === 1);
  assert.deepEqual(await call({ action: "poll", sessionId: entry.id }), {
    text: "one\n\nStill running.",
    details: { ...head, status: "running", aggregated: "one\n", truncated: false },
  });
  assert.equal((await call({ action: "poll", sessionId: entry.id })).text, "(no new output)\n\nStill running.");
  assert.equal(entry.isExitKnown(), false);
  await call({ action: "write", sessionId: entry.id, data: "\n" });
  await entry.running.ended;
  assert.equal((await call({ action: "poll", sessionId: entry.id })).text, "two\n\nProcess exited with code 0.");
  for (let again = 0; again < 2; again += 1) {
    assert.deepEqual(await call({ action: "poll", sessionId: entry.id }), {
      text: "(no new output)\n\nProcess exited with code 0.",
      details: { ...head, status: "completed", exitCode: 0, aggregated: "", truncated: false },
    });
  }
  assert.equal(entry.isExitKnown(), true);
});

test("gives the same error for an unknown id and for the id of another agent", async () => {
  const entry = await background("sleep 901");
  for (const action of [
    "poll",
    "log",
    "screen",
    "write",
    "send-keys",
    "submit",
    "paste",
    "kill",
    "clear",
    "remove",
  ] as const) {
    const other = await call({ action, sessionId: entry.id, data: "x" }, "bob" as AgentId).catch(
      (error: unknown) => error,
    );
    const none = await call({ action, sessionId: "no-such" }).catch((error: unknown) => error);
    for (const [error, id] of [
      [other, entry.id],
      [none, "no-such"],
    ] as const) {
      assert.ok(error instanceof Error && "code" in error && error.code === "process.unknown");
      assert.equal(error.message, `no background command is named "${id}"`);
    }
  }
  await assert.rejects(call({ action: "poll" }), { code: "process.missing-argument" });
  await call({ action: "remove", sessionId: entry.id });
});

test("log returns pages by line: the last lines, from an offset, to the end", async () => {
  const entry = await background("seq 1 5");
  await entry.running.ended;
  const log = async (more: Partial<Arguments>) => (await call({ action: "log", sessionId: entry.id, ...more })).text;
  assert.equal(await log({}), "1\n2\n3\n4\n5");
  assert.equal(await log({ limit: 2 }), "[offset 3 to 4 of 5; a smaller offset shows earlier lines]\n4\n5");
  assert.equal(await log({ offset: 1, limit: 2 }), "[offset 1 to 2 of 5; continue with offset 3]\n2\n3");
  assert.equal(await log({ offset: 3 }), "[offset 3 to 4 of 5; a smaller offset shows earlier lines]\n4\n5");
  assert.match(await log({ offset: 9 }), /\(no output\)$/);
  await assert.rejects(log({ offset: -1 }), { code: "process.bad-argument" });
  await assert.rejects(log({ limit: Number.NaN }), { code: "process.bad-argument" });
  assert.deepEqual((await call({ action: "log", sessionId: entry.id, limit: 2 })).details, {
    status: "completed",
    sessionId: entry.id,
    name: "seq 1",
    exitCode: 0,
    aggregated: "4\n5",
    totalLines: 5,
    totalChars: 10,
    truncated: true,
  });
});

test("log shows the last 200 lines of a long output and how to continue, within the size limit", async () => {
  const entry = await background("seq 1 1000000");
  await entry.running.ended;
  const last = await call({ action: "log", sessionId: entry.id });
  assert.ok(
    last.text.startsWith("[offset 999800 to 999999 of 1000000; a smaller offset shows earlier lines]\n999801\n"),
  );
  const all = await call({ action: "log", sessionId: entry.id, offset: 0 });
  assert.ok(all.text.length < 201_000);
  const next = Number(/continue with offset (\d+)/.exec(all.text)?.[1]);
  assert.ok(
    (await call({ action: "log", sessionId: entry.id, offset: next, limit: 1 })).text.endsWith(`\n${next + 1}`),
  );
});

test("write, submit, paste, send-keys and eof reach a program without a terminal", async () => {
  const entry = await background("cat");
  await call({ action: "write", sessionId: entry.id, data: "raw " });
  await call({ action: "submit", sessionId: entry.id, data: "line" });
  await call({ action: "paste", sessionId: entry.id, text: "a\nb" });
  await call({ action: "paste", sessionId: entry.id, text: "plain", bracketed: false });
  const keys = await call({
    action: "send-keys",
    sessionId: entry.id,
    keys: ["nokey", "Enter"],
    hex: ["41"],
    literal: "z",
  });
  assert.equal(keys.text, '"nokey" is not a key name and was sent as text\nSent 8 bytes.');
  await assert.rejects(call({ action: "send-keys", sessionId: entry.id, keys: ["Up"] }), {
    code: "process.no-terminal",
  });
  const closed = await call({ action: "write", sessionId: entry.id, data: "", eof: true });
  assert.equal(closed.text, "Written; input closed.");
  await entry.running.ended;
  assert.equal(await bytesOf(entry), "raw line\na\nbplainzAnokey\n");
  await assert.rejects(call({ action: "write", sessionId: entry.id, data: "x" }), { code: "process.input-closed" });
  await assert.rejects(call({ action: "submit", sessionId: entry.id }), { code: "process.input-closed" });
  await assert.rejects(call({ action: "send-keys", sessionId: entry.id }), { code: "process.missing-argument" });
  await assert.rejects(call({ action: "write", sessionId: entry.id }), { code: "process.missing-argument" });
});

test("submit, paste and send-keys reach a terminal program as a terminal sends them", async () => {
  const entry = await background("stty raw -echo; echo ready; exec head -c 29 | od -An -c -v", { tty });
  await until(() => entry.running.output.totalLines >= 1);
  await call({ action: "submit", sessionId: entry.id, data: "line" });
  await call({ action: "paste", sessionId: entry.id, text: "a\nb" });
  await call({ action: "send-keys", sessionId: entry.id, literal: "typed", hex: ["41"], keys: ["Up"] });
  await entry.running.ended;
  assert.deepEqual(
    (await bytesOf(entry)).replace("ready", "").split(/\s+/).filter(Boolean).join(" "),
    "l i n e \\r 033 [ 2 0 0 ~ a \\n b 033 [ 2 0 1 ~ t y p e d A 033 [ A",
  );
});

async function bytesOf({ running }: Awaited<ReturnType<typeof background>>): Promise<string> {
  const { output } = running as unknown as { output: { raw(from: number, to: number): Promise<Buffer> } };
  return (await output.raw(0, 1000)).toString();
}

test("does not wait for a program that does not read its input", async () => {
  const entry = await background("sleep 902");
  assert.equal((await call({ action: "write", sessionId: entry.id, data: "x".repeat(1_000_000) })).text, "Written.");
  await call({ action: "remove", sessionId: entry.id });
});

test("kill ends the whole process tree, clear requires a finished command, remove does both", async () => {
  const entry = await background("trap '' TERM; sleep 903 & echo up; while :; do sleep 904; done");
  await until(() => entry.running.output.totalLines === 1);
  await assert.rejects(call({ action: "clear", sessionId: entry.id }), { code: "process.running" });
  const killed = await call({ action: "kill", sessionId: entry.id });
  assert.deepEqual(killed, {
    text: `Killed ${entry.id} and every process it started.`,
    details: { status: "failed", sessionId: entry.id, name: entry.name, exitCode: null, exitSignal: "SIGKILL" },
  });
  assert.equal(entry.isExitKnown(), true);
  assert.equal(
    (await call({ action: "poll", sessionId: entry.id })).text,
    "up\n\nProcess ended by signal SIGKILL (killed).",
  );
  assert.equal((await call({ action: "kill", sessionId: entry.id })).text, `${entry.id} had already ended.`);
  await call({ action: "clear", sessionId: entry.id });
  await assert.rejects(call({ action: "poll", sessionId: entry.id }), { code: "process.unknown" });
  const running = await background("sleep 905");
  assert.equal((await call({ action: "remove", sessionId: running.id })).text, `Killed and forgot ${running.id}.`);
  await assert.rejects(call({ action: "poll", sessionId: running.id }), { code: "process.unknown" });
});

test("controls a full-screen program through the tool alone", async () => {
  const file = join(engine.folder, "note.txt");
  const entry = await background(`exec vi -u NONE -N -i NONE ${file}`, { tty });
  const screen = async (): Promise<string> => (await call({ action: "screen", sessionId: entry.id })).text;
  await until(async () => (await screen()).includes("note.txt"));
  await call({ action: "send-keys", sessionId: entry.id, keys: ["i"] });
  await call({ action: "send-keys", sessionId: entry.id, literal: "typed by keys", keys: ["Escape"] });
  await until(async () => (await screen()).startsWith("typed by keys"));
  await call({ action: "submit", sessionId: entry.id, data: ":wq" });
  assert.equal((await entry.running.ended).code, 0);
  assert.equal(readFileSync(file, "utf8"), "typed by keys\n");
  const plain = await background("true");
  await assert.rejects(call({ action: "screen", sessionId: plain.id }), { code: "process.no-screen" });
});

test("C-c ends cat in a terminal", async () => {
  const entry = await background("cat", { tty });
  // A shell that is starting a program can lose the signal of C-c, so the program must have answered.
  await call({ action: "send-keys", sessionId: entry.id, literal: "up", keys: ["Enter"] });
  await until(() => entry.running.output.tail(100) === "up\nup\n");
  await call({ action: "send-keys", sessionId: entry.id, keys: ["C-c"] });
  await entry.running.ended;
  assert.notEqual(entry.state(), "completed");
});

test("distinguishes calls that only read from calls that act", () => {
  assert.deepEqual(tool.intent({ action: "poll", sessionId: "a-b" }, {} as ToolCall), { does: "look" });
  assert.deepEqual(tool.intent({ action: "kill", sessionId: "a-b" }, {} as ToolCall), {
    does: "admin",
    what: "process kill a-b",
  });
});
