// Arguments at and past their edges, output that would steer a terminal, and floods: refused or held within bounds.
import assert from "node:assert/strict";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";

import { call, exec, proc, until } from "../harness/exec.ts";
import { dispose, openclaw, operator, root, startGateway, type TestGateway } from "../harness/gateway.ts";

let gateway: TestGateway;
before(async () => {
  gateway = await startGateway({ config: {} });
  mkdirSync(gateway.workspace, { recursive: true });
});
after(() => dispose(gateway));

describe("arguments of exec", () => {
  const command = "touch edge";
  const ran = (): boolean => existsSync(join(gateway.workspace, "edge"));
  const refused: Record<string, Record<string, unknown>> = {
    "timeout -1": { timeout: -1 },
    "timeout 1e308": { timeout: 1e308 },
    "timeout that is no number": { timeout: "NaN" },
    "timeout as an object": { timeout: {} },
    "yieldMs -1": { yieldMs: -1 },
    "yieldMs 1e15": { yieldMs: 1e15 },
    "background as a word": { background: "perhaps" },
    "approved: true": { approved: true },
    approvalDecision: { approvalDecision: "allow-once" },
    runId: { runId: "x" },
    "__proto__ by JSON": JSON.parse('{"__proto__": {"security": "full"}, "constructor": 1}') as Record<string, unknown>,
    "2,000 arguments nobody knows": Object.fromEntries(Array.from({ length: 2000 }, (_, at) => [`n${at}`, at])),
    "eight of them before a timeout of -1": { a: 1, b: 1, c: 1, d: 1, e: 1, f: 1, g: 1, h: 1, timeout: -1 },
    "a list for workdir": { workdir: ["/tmp"] },
    "workdir with NUL": { workdir: "a\0b" },
    "env as a list": { env: ["A=b"] },
    "env with a number": { env: { A: 1 } },
    "env with a name that is none": { env: { "A=B": "x" } },
    "env with NUL": { env: { A: "x\0LD_PRELOAD=y" } },
    "env with a line break in a name": { env: { "A\nLD_PRELOAD": "x" } },
    "a command with NUL": { command: "touch edge\0; x" },
    "half a character": { command: "touch edge \ud800" },
    "100,001 characters": { command: `touch edge #${"x".repeat(100_001 - 12)}` },
  };
  for (const [name, more] of Object.entries(refused))
    test(`${name}: an invalid-request error, and nothing runs`, async () => {
      const { status, error } = await exec(gateway, { command, ...more });
      assert.ok(status >= 400 && status < 500, `${status} ${error?.message}`);
      assert.match(error?.type ?? "", /^(?:tool\.bad-arguments|exec\.)/);
      assert.ok((error?.message.length ?? 0) < 4000, "the message does not repeat the attack");
      assert.equal(ran(), false);
    });

  for (const [name, env] of Object.entries({
    "10,000 names": Object.fromEntries(Array.from({ length: 10_000 }, (_, at) => [`NAME_${at}`, "x".repeat(200)])),
    "a value of a megabyte": { BIG: "x".repeat(1_000_000) },
  }))
    test(`env with ${name}: runs or is refused, and the gateway keeps answering`, async () => {
      const { status, error, details } = await exec(gateway, { command: "true", env });
      assert.ok(
        status === 200 ? details["status"] === "completed" : status >= 400 && status < 500,
        `${status} ${error?.message}`,
      );
      assert.ok((error?.message.length ?? 0) < 2000);
      assert.equal((await exec(gateway, { command: "echo alive" })).text.trim(), "alive");
    });
});

test("the wire and the approvals file recover from values with very many errors", async () => {
  const strange = Object.fromEntries(Array.from({ length: 40 }, (_, at) => [`n${at}`, at]));
  const wire = await operator(gateway);
  for (const [method, params] of Object.entries({
    "chat.send": { sessionKey: "main", message: "x", idempotencyKey: "x" },
    "exec.approvals.set": { file: { version: 1 } },
    "exec.approval.resolve": { id: "x", decision: "deny" },
    "tools.invoke": { tool: "exec", args: { command: "touch edge" } },
  })) {
    const { ok, error } = await wire.request(method, { ...strange, ...params });
    assert.equal(ok, false, method);
    assert.match(error?.message ?? "", /unexpected property 'n0'/, method);
  }
  wire.end();
  assert.equal(existsSync(join(gateway.workspace, "edge")), false);
});

describe("keys, bytes and pages of process", () => {
  test("refuses invalid keys and bytes, and very large input does not block the gateway", async () => {
    const { details } = await exec(gateway, { command: "sleep 60", background: true });
    const sessionId = details["sessionId"];
    for (const hex of [["zz"], ["100"], ["-1"], ["0x"], ["1b 03"], ["\u0661"], [""]])
      assert.equal(
        (await proc(gateway, { action: "send-keys", sessionId, hex })).error?.type,
        "process.bad-keys",
        hex[0],
      );
    for (const more of [{ keys: [1] }, { keys: "C-c" }, { hex: [27] }, { literal: 7 }, { keys: [null] }])
      assert.equal(
        (await proc(gateway, { action: "send-keys", sessionId, ...more })).error?.type,
        "tool.bad-arguments",
      );
    for (const [offset, limit] of [
      [-1, 1],
      [0, -5],
    ])
      assert.equal(
        (await proc(gateway, { action: "log", sessionId, offset, limit })).error?.type,
        "process.bad-argument",
      );
    const odd = await proc(gateway, {
      action: "send-keys",
      sessionId,
      keys: Array.from({ length: 2000 }, () => "no-such-key\u202e"),
    });
    assert.ok(odd.text.length < 20_000, `${odd.text.length} characters of warnings`);
    const answers = await Promise.all(
      Array.from({ length: 30 }, () => proc(gateway, { action: "write", sessionId, data: "x".repeat(900_000) })),
    );
    assert.ok(
      answers.some(({ error }) => error?.type === "process.input-full"),
      "27 MB of unread output are not kept",
    );
    assert.match((await proc(gateway, { action: "poll", sessionId })).text, /Still running/);
    await proc(gateway, { action: "remove", sessionId });
  });

  test("a flood stays bounded through exec, poll, log, list and screen", async () => {
    const flood = "yes 'a line of the flood that says nothing at all' | head -c 60000000";
    const whole = await exec(gateway, { command: flood });
    assert.ok(whole.text.length < 210_000 && JSON.stringify(whole.details).length < 220_000);
    const { details } = await exec(gateway, { command: `${flood}; sleep 60`, background: true, pty: true });
    const sessionId = details["sessionId"];
    for (let round = 0; round < 4; round += 1)
      for (const args of [
        { action: "poll" },
        { action: "log" },
        { action: "log", limit: 1e9 },
        { action: "log", offset: 0 },
        { action: "log", offset: 1e300, limit: 1e300 },
        { action: "screen" },
        { action: "list" },
      ]) {
        const { text, status } = await proc(gateway, { sessionId, ...args });
        assert.equal(status, 200, `${JSON.stringify(args)} ${text.slice(0, 300)}`);
        assert.ok(text.length <= 1_100_000, `${args.action}: ${text.length}`);
      }
    await proc(gateway, { action: "remove", sessionId });
  });

  test("one endless line is bounded too", async () => {
    const { details } = await exec(gateway, {
      command: "head -c 20000000 /dev/zero | tr '\\0' x; sleep 60",
      background: true,
    });
    const sessionId = details["sessionId"];
    await until(
      () => proc(gateway, { action: "log", sessionId }),
      ({ details: seen }) => Number(seen["totalChars"]) >= 20_000_000,
    );
    for (const args of [{ action: "poll" }, { action: "log" }, { action: "log", offset: 0, limit: 1 }]) {
      const { text, status } = await proc(gateway, { sessionId, ...args });
      assert.equal(status, 200);
      assert.ok(text.length <= 1_100_000, `${args.action}: ${text.length}`);
    }
    await proc(gateway, { action: "remove", sessionId });
  });
});

describe("output with terminal escape sequences", () => {
  const evil = [
    "\u001b]52;c;Y3VybCBldmlsfHNo\u0007",
    "\u001b]0;title\u0007",
    "\u001b]8;;https://evil.example\u001b\\link\u001b]8;;\u001b\\",
    "\u001b[2J\u001b[31mred\u001b[0m",
    "\u009d52;c;eA==\u009c",
    "\u009b2J",
    "\u001bP$q\u001b\\",
    "\u001b]52;c;unfinished",
    "\u001b",
    "a\rb\u0008c\u007f",
    "\u0090+q\u009c",
  ].join("|");
  // oxlint-disable-next-line no-control-regex
  const raw = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/u;

  before(() => writeFileSync(join(gateway.workspace, "evil.bin"), `${evil}\nend\n`));

  test("exec, poll, log and the command line return it as plain text", async () => {
    const shown = await exec(gateway, { command: "cat evil.bin" });
    assert.doesNotMatch(shown.text, raw);
    assert.match(shown.text, /end/);
    const { details } = await exec(gateway, { command: "cat evil.bin; sleep 60", background: true });
    const sessionId = details["sessionId"];
    await until(
      () => proc(gateway, { action: "log", sessionId }),
      ({ text }) => text.includes("end"),
    );
    for (const action of ["log", "poll", "list"])
      assert.doesNotMatch((await proc(gateway, { action, sessionId })).text, raw);
    await proc(gateway, { action: "remove", sessionId });
    const { stdout, stderr, code } = await openclaw(gateway.home, ["tools", "call", "exec", "command=cat evil.bin"]);
    assert.equal(code, 0, stderr);
    assert.doesNotMatch(stdout + stderr, raw);
  });

  test("a screen shows what a terminal would show and executes no sequence", async () => {
    const { details } = await exec(gateway, {
      command: "cat evil.bin; printf '\\nshown'; sleep 60",
      background: true,
      pty: true,
    });
    const sessionId = details["sessionId"];
    const { text } = await until(
      () => proc(gateway, { action: "screen", sessionId }),
      ({ text: seen }) => seen.includes("shown"),
    );
    assert.doesNotMatch(text, raw);
    await proc(gateway, { action: "remove", sessionId });
  });

  test("escapes sequences in a command line, a folder and an id in errors and on the card", async () => {
    const esc = "\u001b]52;c;eA==\u0007\u009b2J";
    const answers = [
      await exec(gateway, { command: "true", workdir: `no${esc}where` }),
      await exec(gateway, { command: "true", env: { [`A${esc}`]: "x" } }),
      await proc(gateway, { action: "poll", sessionId: `x${esc}` }),
      await call(gateway, "read", { path: `x${esc}` }),
      await exec(gateway, { command: "true", host: `x${esc}` }),
      await exec(gateway, { command: "true", [`x${esc}`]: 1 }),
      await exec(gateway, { command: "true", env: { [`A${esc}`]: 1 } }),
      await call(gateway, `x${esc}`, {}),
    ];
    const overWire = await operator(gateway);
    const unknown = await overWire.request("tools.invoke", { tool: `x${esc}`, args: {} });
    overWire.end();
    assert.doesNotMatch(unknown.error?.message ?? "", raw);
    for (const [at, { text }] of answers.entries()) assert.doesNotMatch(text, raw, `${at}: ${JSON.stringify(text)}`);
  });

  const noScript = existsSync("/usr/bin/script") ? false : "script is absent: apt-get install bsdutils";
  test("reading such a file in a real terminal prints no escape sequence", { skip: noScript }, async () => {
    // script(1) gives the command a terminal, so that what is shown to a person is what is looked at.
    const { spawnSync } = await import("node:child_process");
    const line = `${process.execPath} ${join(root, "openclaw.mjs")} tools call read path=evil.bin`;
    const { stdout, error } = spawnSync("script", ["-qec", line, "/dev/null"], {
      env: { PATH: process.env["PATH"], HOME: gateway.home, NO_COLOR: "1", TERM: "xterm-256color" },
      encoding: "utf8",
    });
    assert.equal(error, undefined);
    assert.match(stdout, /end/);
    assert.doesNotMatch(stdout.replaceAll("\r\n", "\n"), raw);
  });

  test("events on the wire hold it as plain text too", async () => {
    const wire = await operator(gateway);
    await wire.request("tools.invoke", { tool: "exec", args: { command: "cat evil.bin" } });
    assert.doesNotMatch(
      JSON.stringify(wire.frames.map((frame) => frame)),
      /\\u00(?:0[0-8bcef]|1[0-9a-f]|7f|[89][0-9a-f])/iu,
    );
    wire.end();
  });
});
