// Attempts to use one approval for something else: rules changed by clients without the right, replaced files, split secrets.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";

import { exec, proc, until, type Called } from "../harness/exec.ts";
import { dispose, operator, startGateway, type TestGateway, type Wire } from "../harness/gateway.ts";
import { chat, textOf } from "../harness/model.ts";

const MAIN = "agent:main:main";
const SECRET = "zq-own-secret-4f9b1c7d2e8a6b3c";

const idOf = ({ details, text }: Called): string => {
  assert.equal(details["status"], "approval-pending", text);
  return String(details["approvalId"]);
};

async function noticeOf(wire: Wire, id: string): Promise<string> {
  const look = async (): Promise<string | undefined> => {
    const payload = await wire.call("system-events.list", { sessionKey: MAIN });
    return payload.events.map(({ text }) => text).find((text) => text.includes(id));
  };
  return (await until(look, (text) => text !== undefined)) ?? "";
}

describe("commands on the gateway's host that need approval", () => {
  let gateway: TestGateway;
  let wire: Wire;
  let member: Wire;
  const inside = (name: string): string => join(gateway.workspace, name);
  const told = async (who: Wire, message: string): Promise<string> => {
    const end = await chat(who, MAIN, message, randomUUID());
    return textOf(end) || (end.errorMessage ?? "");
  };
  before(async () => {
    gateway = await startGateway({
      config: {
        tools: { exec: { host: "gateway", security: "allowlist", ask: "on-miss" } },
        commands: { bash: true },
      },
      env: { OPENCLAW_TEST_API_KEY: SECRET },
    });
    mkdirSync(gateway.workspace, { recursive: true });
    wire = await operator(gateway);
    member = await operator(gateway, { scopes: ["operator.write"] });
  });
  after(async () => {
    wire.end();
    member.end();
    await dispose(gateway);
  });

  for (const word of [
    "security=full ask=off",
    "ask=off",
    "host=sandbox",
    "security=full",
    "host=default",
    "HOST=Sandbox",
  ]) {
    test(`APR-018 a client with write scope cannot change the rules: /exec ${word}`, async () => {
      assert.match(await told(member, `/exec ${word}`), /may answer approvals/);
      idOf(await exec(gateway, { command: `touch ${inside("loosened")}` }));
      assert.equal(existsSync(inside("loosened")), false);
    });
  }

  test("APR-018 nor inside a message with a command, nor with !", async () => {
    await told(member, `/exec security=full ask=off ! touch ${inside("inline")}`);
    assert.match(await told(member, `! touch ${inside("bang")}`), /approve/);
    assert.deepEqual([existsSync(inside("inline")), existsSync(inside("bang"))], [false, false]);
  });

  for (const level of ["on", "ask", "full"]) {
    test(`APR-018 nor leave the sandbox: /elevated ${level}`, async () => {
      assert.match(await told(member, `/elevated ${level}`), /may answer approvals/);
    });
  }

  for (const [method, params] of [
    ["exec.approvals.set", { file: { version: 1, defaults: { security: "full", ask: "off" }, agents: {} } }],
    ["sessions.patch", { key: MAIN, execSecurity: "full", execAsk: "off" }],
    ["exec.approvals.get", {}],
    ["exec.approvals.pending", {}],
    ["exec.approval.resolve", { id: "00000000", decision: "allow-always" }],
    ["config.patch", { raw: '{"tools":{"exec":{"security":"full"}}}', baseHash: "x" }],
  ] as const) {
    test(`APR-018 nor with ${method}`, async () => {
      const answer = await member.request(method, params);
      assert.equal(answer.ok, false);
      assert.match(answer.error?.message ?? "", /missing scope/);
    });
  }

  test("APR-005 pins a script that follows many other arguments", async () => {
    writeFileSync(inside("deploy.sh"), "true\n");
    const words = Array.from({ length: 40 }, (_, at) => `w${at}`).join(" ");
    const id = idOf(await exec(gateway, { command: `echo ${words}; bash deploy.sh` }));
    writeFileSync(inside("deploy.sh"), `touch ${inside("script-evil")}\n`);
    await wire.request("exec.approval.resolve", { id, decision: "allow-once" });
    assert.match(await noticeOf(wire, id), /^Exec denied/);
    assert.equal(existsSync(inside("script-evil")), false);
  });

  test("APR-005 refuses a command with more files than can be pinned", async () => {
    const names = Array.from({ length: 70 }, (_, at) => `many-${at}.sh`);
    for (const name of names) writeFileSync(inside(name), "true\n");
    const refused = await exec(gateway, { command: `bash ${names.join(" ")}; true` });
    assert.equal(refused.error?.type, "approval.too-many-files");
  });

  test("APR-024 a client cannot reuse the id of a pending approval, its prefix or an empty id", async () => {
    const id = idOf(await exec(gateway, { command: `touch ${inside("borrowed")}` }));
    for (const given of [id, id.slice(0, 8), `${id}x`, id.toUpperCase()]) {
      const asked = await wire.request("exec.approval.request", { id: given, command: "true", timeoutMs: 200 });
      assert.equal(asked.ok, false, given);
    }
    for (const given of ["", " ", "*", id.slice(0, 7), `${id} `.repeat(2), "../x"])
      assert.equal(
        (await wire.request("exec.approval.resolve", { id: given, decision: "allow-once" })).ok,
        false,
        given,
      );
    assert.equal(existsSync(inside("borrowed")), false);
  });

  for (const decision of ["ALLOW-ONCE", "allow_once", "yes", "", "allow-once\n", "__proto__"]) {
    test(`APR-025 ${JSON.stringify(decision)} is not a decision`, async () => {
      const id = idOf(await exec(gateway, { command: `touch ${inside("word")}` }));
      assert.equal((await wire.request("exec.approval.resolve", { id, decision })).ok, false);
      assert.equal(existsSync(inside("word")), false);
    });
  }

  for (const args of [
    { timeout: -1 },
    { timeout: "30s" },
    { timeout: "1e308" },
    { timeout: 1e308 },
    { yieldMs: -1 },
    { yieldMs: "soon" },
    { yieldMs: 1e12 },
    { approved: true },
    { approvalDecision: "allow-once" },
    { agent: "other" },
    { sessionKey: "agent:other:main" },
    { shell: "/bin/sh" },
    { security: "none" },
    { host: "GATEWAY;sandbox" },
    { background: "yes" },
    { env: ["A=B"] },
    { env: { A: 1 } },
  ]) {
    test(`POL-014 POL-016 refuses exec with ${JSON.stringify(args)}, and nothing runs`, async () => {
      const { error } = await exec(gateway, { command: `touch ${inside("shape")}`, ...args });
      assert.equal(error?.type, "tool.bad-arguments");
      assert.equal(existsSync(inside("shape")), false);
    });
  }

  for (const [name, workdir] of [
    ["too long", "d/".repeat(5000)],
    ["one huge name", "x".repeat(300)],
    ["a NUL", "a\0b"],
    ["a file", "/etc/passwd"],
    ["a loop of links", "loop/inside"],
  ] as const) {
    test(`refuses a workdir that is ${name}`, async () => {
      if (!existsSync(inside("loop-made"))) {
        symlinkSync("loop", inside("loop"));
        writeFileSync(inside("loop-made"), "");
      }
      const { error } = await exec(gateway, { command: "true", workdir });
      assert.equal(error?.type, "exec.bad-folder");
    });
  }

  test("SEC-004 the approval history holds no secret and nothing that could run again", async () => {
    const id = idOf(await exec(gateway, { command: `echo ${gateway.token}`, env: { NOTE: gateway.token } }));
    await wire.request("exec.approval.resolve", { id, decision: "deny" });
    const { recent = [] } = await wire.call("exec.approvals.pending", { recent: 50 });
    const kept = recent.find((one) => one.id === id);
    assert.ok(kept !== undefined && !("body" in kept));
    assert.doesNotMatch(JSON.stringify(recent), new RegExp(gateway.token));
    assert.doesNotMatch(await noticeOf(wire, id), new RegExp(gateway.token));
  });
});

describe("output of commands that need no approval", () => {
  let gateway: TestGateway;
  before(async () => {
    gateway = await startGateway({});
    mkdirSync(gateway.workspace, { recursive: true });
  });
  after(() => dispose(gateway));

  const inBackground = async (command: string, more: object = {}): Promise<string> => {
    const { details, text } = await exec(gateway, { command, background: true, ...more });
    assert.equal(details["status"], "running", text);
    return String(details["sessionId"]);
  };
  const ended = (sessionId: string): Promise<Called> =>
    until(
      () => proc(gateway, { action: "log", sessionId }),
      ({ details }) => details["status"] !== "running",
    );

  const esc = "\\033";
  for (const [name, bytes] of [
    ["clipboard (OSC 52)", `${esc}]52;c;ZXZpbA==\\007`],
    ["title", `${esc}]0;evil\\007`],
    ["link", `${esc}]8;;http://evil/${esc}\\\\click${esc}]8;;${esc}\\\\`],
    ["device control", `${esc}Pq#0${esc}\\\\`],
    ["never finished", `${esc}]52;c;ZXZpbA==`],
    ["eight bit", "\\302\\23352;c;x\\302\\234"],
    ["clear screen", `${esc}[2J${esc}[H`],
    ["answer back", "\\005"],
    ["backspace over text", "safe\\010\\010\\010\\010evil"],
  ] as const) {
    test(`SEC-010 no control character of ${name} reaches a result`, async () => {
      const sessionId = await inBackground(`printf '${bytes}'; echo end`);
      const seen = [
        (await ended(sessionId)).text,
        (await proc(gateway, { action: "poll", sessionId })).text,
        JSON.stringify((await proc(gateway, { action: "list" })).details["sessions"]),
        (await exec(gateway, { command: `printf '${bytes}'; echo end` })).text,
      ].join("\n");
      // oxlint-disable-next-line no-control-regex
      assert.doesNotMatch(seen, /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/);
      assert.match(seen, /end/);
    });
  }

  for (const length of [150, 185, 195, 205]) {
    test(`SEC-006 list shows no part of a secret that begins ${length} characters before the cut`, async () => {
      const at = length - gateway.token.length;
      writeFileSync(join(gateway.workspace, `t${length}`), `${gateway.token}${"y".repeat(Math.max(0, at))}`);
      const sessionId = await inBackground(`cat t${length}`);
      await ended(sessionId);
      const { details } = await proc(gateway, { action: "list" });
      const told = JSON.stringify(details["sessions"]);
      for (const part of [gateway.token.slice(-8), gateway.token.slice(4, 14)]) assert.ok(!told.includes(part), part);
    });
  }

  test("SEC-006 a result cut at its beginning shows no part of a secret", async () => {
    const lines = 200_000 - 10;
    writeFileSync(join(gateway.workspace, "long"), `${"a".repeat(1000)} ${gateway.token}${"y".repeat(lines)}`);
    const { details } = await exec(gateway, { command: "cat long" });
    assert.ok(!String(details["aggregated"]).includes(gateway.token.slice(-8)));
  });

  test("SEC-006 a command that stops in the middle of a secret shows no part of it", async () => {
    const half = gateway.token.slice(0, 14);
    writeFileSync(join(gateway.workspace, "half"), half);
    const { text, details } = await exec(gateway, { command: "cat half; sleep 30", yieldMs: 600 });
    assert.equal(details["status"], "running");
    assert.ok(!text.includes(half), text);
    await proc(gateway, { action: "remove", sessionId: details["sessionId"] });
  });

  for (const [name, args] of [
    ["a byte that is none", { hex: ["1bb"] }],
    ["a sign", { hex: ["-1"] }],
    ["an offset below zero", { action: "log", offset: -1 }],
    ["half a character", { literal: "\ud800" }],
    ["a key of the prototype", { keys: ["__proto__", "constructor"] }],
    ["no number", { action: "log", offset: "zero" }],
    ["a field of ours", { approved: true }],
    ["the agent of another", { agent: "main" }],
  ] as const) {
    test(`PRC process with ${name}: refused or sent as text, and the gateway keeps answering`, async () => {
      const sessionId = await inBackground("cat", { pty: true });
      const answer = await proc(gateway, { action: "send-keys", sessionId, ...args });
      if (name === "a key of the prototype") assert.match(answer.text, /not a key name/);
      else assert.notEqual(answer.error, undefined, answer.text);
      assert.equal((await proc(gateway, { action: "remove", sessionId })).error, undefined);
    });
  }

  for (const sessionId of ["", " ", "..", "../runs", "__proto__", "1", "-1", "\u0000", "x".repeat(100_000)]) {
    test(`PRC-001 ${JSON.stringify(sessionId.slice(0, 20))} is not a process for any action`, async () => {
      for (const action of ["poll", "log", "screen", "write", "submit", "kill", "clear", "remove"])
        assert.notEqual((await proc(gateway, { action, sessionId, data: "x" })).error, undefined, action);
    });
  }

  test("refuses a hundred thousand variables or megabytes of them and keeps answering", async () => {
    const many = Object.fromEntries(Array.from({ length: 20_000 }, (_, at) => [`V${at}`, "x".repeat(120)]));
    for (const env of [many, { BIG: "x".repeat(3_000_000) }]) {
      const { error } = await exec(gateway, { command: "true", env });
      assert.notEqual(error, undefined);
      assert.notEqual(error?.type, "tool.bug");
    }
    assert.match((await exec(gateway, { command: "echo alive" })).text, /alive/);
  });

  for (const name of [
    "A=B",
    "",
    "A B",
    "A\nB",
    "1A",
    "A\0",
    "LD_PRELOAD",
    "ld_preload",
    "PATH",
    "BASH_FUNC_x%%",
    "PS4",
  ]) {
    test(`refuses a variable called ${JSON.stringify(name)}`, async () => {
      const { error, text } = await exec(gateway, {
        command: `touch ${join(gateway.workspace, "var")}`,
        env: { [name]: "x" },
      });
      assert.notEqual(error, undefined, text);
      assert.notEqual(error?.type, "tool.bug", text);
      assert.equal(existsSync(join(gateway.workspace, "var")), false);
    });
  }

  test("runs a command with ten thousand arguments", async () => {
    const { text } = await exec(gateway, { command: `printf '%s\\n' ${"a ".repeat(10_000)} | wc -l` });
    assert.match(text, /10000/);
  });

  test("a flood in the background stays readable with a bounded result", async () => {
    const sessionId = await inBackground("yes flood | head -c 30000000");
    await ended(sessionId);
    for (const action of ["poll", "log", "list"])
      assert.ok(JSON.stringify((await proc(gateway, { action, sessionId })).details).length < 1_000_000, action);
    assert.match(readFileSync(`/proc/${gateway.pid}/status`, "utf8"), /VmRSS/);
  });
});
