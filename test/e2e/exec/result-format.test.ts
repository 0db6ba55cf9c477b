// What exec and process answer, field by field and line by line, through the front door.
import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { after, before, describe, test } from "node:test";

import { call, exec, proc, until, type Called } from "../../harness/exec.ts";
import { dispose, startGateway, type TestGateway } from "../../harness/gateway.ts";

let gateway: TestGateway;
before(async () => {
  const list = [
    { id: "main", default: true },
    { id: "other" },
    { id: "without", tools: { deny: ["group:runtime"] } },
    { id: "no-bash", tools: { deny: ["bash"] } },
    { id: "only-bash", tools: { allow: ["bash"] } },
  ];
  gateway = await startGateway({ config: { agents: { list } } });
  mkdirSync(gateway.workspace, { recursive: true });
});
after(() => dispose(gateway));

/** Times, pids and the ending signal differ between runs, so their types replace them. */
const kinds = new Set(["durationMs", "runtimeMs", "startedAt", "endedAt", "pid", "sessionId", "exitSignal"]);
const shapeOf = ({ text, details, error }: Called): Record<string, unknown> => ({
  text,
  ...(error === undefined ? {} : { error: error.type }),
  details: Object.fromEntries(
    Object.entries(details).map(([key, value]) => [key, kinds.has(key) ? typeof value : value]),
  ),
});
const ended = (sessionId: unknown): Promise<Called> =>
  until(
    () => proc(gateway, { action: "log", sessionId }),
    ({ details }) => details["status"] !== "running",
  );

describe("exec", () => {
  test("reports completed, failed, killed by a signal and timed out", async () => {
    const cwd = gateway.workspace;
    assert.deepEqual(shapeOf(await exec(gateway, { command: "echo out; echo err >&2" })), {
      text: "out\nerr\n",
      details: { status: "completed", exitCode: 0, durationMs: "number", aggregated: "out\nerr\n", cwd },
    });
    assert.deepEqual(shapeOf(await exec(gateway, { command: "echo so far; exit 3" })), {
      text: "so far\n\n[exit code 3]",
      details: { status: "failed", exitCode: 3, durationMs: "number", aggregated: "so far\n", cwd },
    });
    assert.deepEqual(shapeOf(await exec(gateway, { command: "kill -9 $$" })), {
      text: "[ended by signal SIGKILL]",
      details: {
        status: "failed",
        exitCode: null,
        exitSignal: "string",
        durationMs: "number",
        aggregated: "",
        cwd,
      },
    });
    assert.deepEqual(shapeOf(await exec(gateway, { command: "sleep 60", timeout: 1, yieldMs: 120_000 })), {
      text: "[ended after 1 s, its time limit; changes made before that remain]",
      details: {
        status: "failed",
        exitCode: null,
        exitSignal: "string",
        timedOut: true,
        durationMs: "number",
        aggregated: "",
        cwd,
      },
    });
  });

  test("running: the session id, the process and how to follow it", async () => {
    const started = await exec(gateway, { command: "sleep 60", background: true });
    const { sessionId, pid } = started.details;
    assert.deepEqual(shapeOf(started), {
      text: `Still running in the background as ${String(sessionId)} (pid ${String(pid)}). Use the process tool to follow it: poll, log, write, send-keys, kill.`,
      details: {
        status: "running",
        sessionId: "string",
        pid: "number",
        startedAt: "number",
        cwd: gateway.workspace,
        tail: "",
      },
    });
    assert.match(String(sessionId), /^[a-z]+-[a-z]+/);
    await proc(gateway, { action: "remove", sessionId });
  });

  test("yieldMs unset: some seconds in the foreground, then the background, long before the end", async () => {
    const { details } = await exec(gateway, { command: "sleep 3; echo three; sleep 300" });
    assert.deepEqual([details["status"], details["tail"]], ["running", "three\n"]);
    await proc(gateway, { action: "remove", sessionId: details["sessionId"] });
  });

  test("only background commands are listed", async () => {
    await exec(gateway, { command: "echo seen-by-nobody" });
    assert.doesNotMatch((await proc(gateway, { action: "list" })).text, /seen-by-nobody/);
  });

  for (const [name, legal] of Object.entries({
    host: "sandbox, gateway, node",
    security: "deny, allowlist, full",
    ask: "off, on-miss, always",
  }))
    test(`${name}: another word is refused, and the legal ones are named`, async () => {
      const { status, error } = await exec(gateway, { command: "echo x", [name]: "moon" });
      assert.deepEqual([status, error?.type], [400, "tool.bad-arguments"]);
      assert.ok(error?.message.endsWith(`"${name}" must be one of ${legal}, not "moon"`));
    });
});

test("bash is another name for exec, in calls and in rules; group:runtime is exec and process", async () => {
  const as = (agent: string) => ({ body: { sessionKey: `agent:${agent}:main` } });
  assert.equal((await call(gateway, "bash", { command: "echo by that name" })).text, "by that name\n");
  const outcome = async (agent: string): Promise<readonly unknown[]> => {
    const tools = [
      call(gateway, "exec", { command: "true" }, as(agent)),
      call(gateway, "bash", { command: "true" }, as(agent)),
      proc(gateway, { action: "list" }, as(agent)),
    ];
    return (await Promise.all(tools)).map(({ error, details }) => error?.type ?? details["status"]);
  };
  assert.deepEqual(
    {
      other: await outcome("other"),
      without: await outcome("without"),
      "no-bash": await outcome("no-bash"),
      "only-bash": await outcome("only-bash"),
    },
    {
      other: ["completed", "completed", "completed"],
      without: ["tool.refused", "tool.refused", "tool.refused"],
      "no-bash": ["tool.refused", "tool.refused", "completed"],
      "only-bash": ["completed", "completed", "tool.refused"],
    },
  );
});

describe("process", () => {
  test("list, poll and log of a running and of an ended command", async () => {
    const command = "seq 3; read answer; echo got $answer; exit 4";
    const { details } = await exec(gateway, { command, background: true });
    const { sessionId } = details;
    const of = (more: Record<string, unknown>): Promise<Called> => proc(gateway, { sessionId, ...more });
    const id = String(sessionId);
    const name = "seq 3";
    await until(
      () => of({ action: "log" }),
      ({ text }) => text.endsWith("3"),
    );
    const rowOf = async (): Promise<Record<string, unknown> | undefined> => {
      const { details: listed } = await proc(gateway, { action: "list" });
      const rows = listed["sessions"] as Record<string, unknown>[];
      const row = rows.find((one) => one["sessionId"] === sessionId);
      return row === undefined ? undefined : (shapeOf({ status: 200, text: "", details: row })["details"] as never);
    };
    const row = {
      sessionId: "string",
      status: "running",
      pid: "number",
      startedAt: "number",
      runtimeMs: "number",
      cwd: gateway.workspace,
      command,
      name,
      tail: "1\n2\n3",
      truncated: false,
    };
    assert.deepEqual(await rowOf(), row);
    assert.match(
      (await proc(gateway, { action: "list" })).text,
      new RegExp(`^${id}  running  \\d+s  ${name} :: seq 3; read`, "m"),
    );
    const head = { status: "running", sessionId: "string", name };
    assert.deepEqual(shapeOf(await of({ action: "poll" })), {
      text: "1\n2\n3\n\nStill running.",
      details: { ...head, aggregated: "1\n2\n3\n", truncated: false },
    });
    assert.deepEqual(shapeOf(await of({ action: "poll" })), {
      text: "(no new output)\n\nStill running.",
      details: { ...head, aggregated: "", truncated: false },
    });
    const counts = { totalLines: 3, totalChars: 6 };
    assert.deepEqual(shapeOf(await of({ action: "log" })), {
      text: "1\n2\n3",
      details: { ...head, aggregated: "1\n2\n3", ...counts, truncated: false },
    });
    assert.deepEqual(shapeOf(await of({ action: "log", limit: 2 })), {
      text: "[offset 1 to 2 of 3; a smaller offset shows earlier lines]\n2\n3",
      details: { ...head, aggregated: "2\n3", ...counts, truncated: true },
    });
    assert.deepEqual(shapeOf(await of({ action: "log", offset: 1, limit: 1 })), {
      text: "[offset 1 to 1 of 3; continue with offset 2]\n2",
      details: { ...head, aggregated: "2", ...counts, truncated: true },
    });
    assert.deepEqual(shapeOf(await of({ action: "log", offset: 9 })), {
      text: "[no lines at this offset; the output has 3 lines]\n(no output)",
      details: { ...head, aggregated: "", ...counts, truncated: true },
    });
    assert.deepEqual(shapeOf(await of({ action: "write", data: "yes\n" })), { text: "Written.", details: head });
    await ended(sessionId);
    const end = { status: "failed", sessionId: "string", name, exitCode: 4 };
    assert.deepEqual(shapeOf(await of({ action: "poll" })), {
      text: "got yes\n\nProcess exited with code 4.",
      details: { ...end, aggregated: "got yes\n", truncated: false },
    });
    assert.deepEqual(await rowOf(), {
      ...row,
      status: "failed",
      endedAt: "number",
      tail: "1\n2\n3\ngot yes",
      exitCode: 4,
    });
    const closed = `${id} is not running (failed)`;
    for (const more of [
      { action: "write", data: "x" },
      { action: "send-keys", keys: ["Enter"] },
      { action: "submit" },
      { action: "paste", text: "x" },
    ])
      assert.deepEqual([more.action, (await of(more)).text], [more.action, closed]);
    assert.deepEqual(shapeOf(await of({ action: "kill" })), { text: `${id} had already ended.`, details: end });
    assert.deepEqual(shapeOf(await of({ action: "clear" })), { text: `Forgot ${id}.`, details: end });
    const gone = await of({ action: "poll" });
    assert.deepEqual([gone.error?.type, gone.details["status"]], ["process.unknown", "failed"]);
  });

  test("kill, clear and remove of a running command", async () => {
    const start = async (): Promise<string> =>
      String((await exec(gateway, { command: "sleep 300", background: true })).details["sessionId"]);
    const id = await start();
    const early = await proc(gateway, { action: "clear", sessionId: id });
    assert.deepEqual([early.error?.type, early.text], ["process.running", `${id} is still running`]);
    const end = {
      status: "failed",
      sessionId: "string",
      name: "sleep 300",
      exitCode: null,
      exitSignal: "string",
    };
    assert.deepEqual(shapeOf(await proc(gateway, { action: "kill", sessionId: id })), {
      text: `Killed ${id} and every process it started.`,
      details: end,
    });
    assert.match(
      (await proc(gateway, { action: "poll", sessionId: id })).text,
      /^\(no new output\)\n\nProcess ended by signal SIG(?:TERM|KILL) \(killed\)\.$/,
    );
    const other = await start();
    assert.deepEqual(shapeOf(await proc(gateway, { action: "remove", sessionId: other })), {
      text: `Killed and forgot ${other}.`,
      details: end,
    });
    assert.equal((await proc(gateway, { action: "poll", sessionId: other })).error?.type, "process.unknown");
  });

  test("no action reaches a session of another agent, even with its id", async () => {
    const { details } = await exec(gateway, { command: "cat", background: true });
    const { sessionId } = details;
    const elsewhere = { body: { sessionKey: "agent:other:main" } };
    const actions = ["poll", "log", "screen", "write", "send-keys", "submit", "paste", "kill", "clear", "remove"];
    for (const action of actions) {
      const args = { action, sessionId, data: "x", keys: ["C-c"], text: "x" };
      const { error } = await proc(gateway, args, elsewhere);
      assert.deepEqual([action, error?.type], [action, "process.unknown"]);
    }
    assert.equal((await proc(gateway, { action: "list" }, elsewhere)).text, "No background commands.");
    assert.equal((await proc(gateway, { action: "poll", sessionId })).details["status"], "running");
    await proc(gateway, { action: "remove", sessionId });
  });

  test("names missing parameters", async () => {
    const { details } = await exec(gateway, { command: "cat", background: true });
    const { sessionId } = details;
    const rows = [
      [{}, 'process: missing "action"'],
      [{ action: "poll" }, 'process: missing "sessionId"'],
      [{ action: "write", sessionId }, 'process: missing "data"'],
      [{ action: "send-keys", sessionId }, 'process: missing "keys"'],
      [{ action: "paste", sessionId }, 'process: missing "text"'],
      [{ action: "log", sessionId, offset: -1 }, "process log: offset must be a whole number from 0"],
    ] as const;
    for (const [args, words] of rows) assert.equal((await proc(gateway, args)).text, words);
    const unknown = (await proc(gateway, { action: "zap", sessionId })).text;
    assert.match(unknown, /list, poll, log, screen, write, send-keys, submit, paste, kill, clear, remove, not "zap"$/);
    await proc(gateway, { action: "remove", sessionId });
  });
});
