// The exec documentation, statement by statement, against a real gateway without a sandbox.
import assert from "node:assert/strict";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";

import { exec, proc, until } from "../../harness/exec.ts";
import { dispose, operator, startGateway, type TestGateway } from "../../harness/gateway.ts";

const agents = { list: [{ id: "main", default: true }, { id: "other" }] };

describe("exec with nothing configured", () => {
  let gateway: TestGateway;
  before(async () => {
    gateway = await startGateway({ config: { agents } });
    mkdirSync(join(gateway.workspace, "sub"), { recursive: true });
  });
  after(() => dispose(gateway));

  test("the sandbox is off by default: host=sandbox runs on the host, in the workspace, without approvals", async () => {
    const { text, details } = await exec(gateway, { command: "pwd; echo err >&2; echo $((6*7)) && true" });
    assert.equal(text.trim(), `${gateway.workspace}\nerr\n42`);
    const { durationMs, ...rest } = details;
    assert.equal(typeof durationMs, "number");
    assert.deepEqual(rest, {
      status: "completed",
      exitCode: 0,
      aggregated: `${gateway.workspace}\nerr\n42\n`,
      cwd: gateway.workspace,
    });
  });

  test("foreground example: ls -la", async () => {
    assert.match((await exec(gateway, { command: "ls -la" })).text, /sub/);
  });

  test("workdir: relative to the workspace, absolute, and a clear error when it is missing", async () => {
    assert.equal((await exec(gateway, { command: "pwd", workdir: "sub" })).text.trim(), join(gateway.workspace, "sub"));
    assert.equal((await exec(gateway, { command: "pwd", workdir: "/" })).text.trim(), "/");
    const missing = await exec(gateway, { command: "pwd", workdir: "nowhere" });
    assert.deepEqual([missing.status, missing.error?.type], [400, "exec.bad-folder"]);
  });

  test("env: additional variables are passed unchanged", async () => {
    const env = { GREETING: "it's $HOME `x`" };
    assert.equal((await exec(gateway, { command: 'printf %s "$GREETING"', env })).text, "it's $HOME `x`");
  });

  for (const name of ["PATH", "LD_PRELOAD", "LD_LIBRARY_PATH", "DYLD_INSERT_LIBRARIES", "ld_preload", "Path"])
    test(`env: ${name} is refused on the host before anything starts`, async () => {
      const canary = join(gateway.workspace, `canary-${name}`);
      const { error } = await exec(gateway, { command: `touch ${canary}`, env: { [name]: "/x" } });
      assert.deepEqual([error?.type, existsSync(canary)], ["exec.rejected-variable", false]);
      assert.match(error?.message ?? "", new RegExp(name));
    });

  test("a failed command reports its exit code and is not a gateway error", async () => {
    const { status, text, details } = await exec(gateway, { command: "echo out; exit 3" });
    assert.deepEqual([status, details["status"], details["exitCode"]], [200, "failed", 3]);
    assert.match(text, /^out\n\n\[exit code 3\]$/);
  });

  test("reports a command without output", async () => {
    assert.equal((await exec(gateway, { command: "true" })).text, "(no output)");
  });

  for (const command of ["", "   ", "\n"])
    test(`a blank command (${JSON.stringify(command)}) is an error of the caller`, async () => {
      assert.equal((await exec(gateway, { command })).status, 400);
    });

  test("timeout: ended with its whole tree, and the result says that changes remain", async () => {
    const mark = `sleepy-${process.pid}-${Date.now()}`;
    const { details, text } = await exec(gateway, {
      command: `echo before; bash -c 'exec -a ${mark} sleep 60' & wait`,
      timeout: 5,
      yieldMs: 120_000,
    });
    assert.deepEqual([details["status"], details["timedOut"]], ["failed", true]);
    assert.match(text, /before[\s\S]*5 s/);
    const left = await exec(gateway, { command: `pgrep -f ${mark.slice(0, -1)}[${mark.at(-1)}] || echo none` });
    assert.equal(left.text.trim(), "none");
  });

  test("yieldMs: still running after it, so it continues in the background; poll gives the output once, then the exit", async () => {
    const started = await exec(gateway, { command: "echo first; sleep 8; echo hi", yieldMs: 4000 });
    const { status, sessionId, pid, tail } = started.details;
    assert.deepEqual([status, typeof sessionId, typeof pid, tail], ["running", "string", "number", "first\n"]);
    assert.match(started.text, new RegExp(String(sessionId)));
    let seen = "";
    const last = await until(
      async () => {
        const polled = await proc(gateway, { action: "poll", sessionId });
        seen += polled.text;
        return polled;
      },
      ({ details }) => details["status"] === "completed",
    );
    assert.equal(last.details["exitCode"], 0);
    assert.equal(seen.split("hi").length - 1, 1);
    const again = await proc(gateway, { action: "poll", sessionId });
    assert.deepEqual([again.details["status"], again.details["exitCode"]], ["completed", 0]);
    assert.match(again.text, /no new output/i);
  });

  test("background=true returns immediately, and only background sessions are listed", async () => {
    const { details } = await exec(gateway, { command: "sleep 20", background: true });
    const { details: listed } = await proc(gateway, { action: "list" });
    const ids = (listed["sessions"] as { sessionId: string; status: string }[]).map(({ sessionId }) => sessionId);
    assert.ok(ids.includes(String(details["sessionId"])));
    await proc(gateway, { action: "kill", sessionId: details["sessionId"] });
    const row = await until(
      async () => {
        const { details: now } = await proc(gateway, { action: "list" });
        return (now["sessions"] as { sessionId: string; status: string }[]).find(
          ({ sessionId }) => sessionId === details["sessionId"],
        );
      },
      (found) => found?.status !== "running",
    );
    assert.equal(row?.status, "killed");
  });

  test("process sees only sessions of the same agent", async () => {
    const { details } = await exec(gateway, { command: "sleep 20", background: true });
    const elsewhere = await proc(
      gateway,
      { action: "poll", sessionId: details["sessionId"] },
      { body: { sessionKey: "agent:other:main" } },
    );
    assert.match(elsewhere.text, /no background command/);
    const same = await proc(
      gateway,
      { action: "poll", sessionId: details["sessionId"] },
      { body: { sessionKey: "agent:main:elsewhere" } },
    );
    assert.equal(same.details["status"], "running");
    await proc(gateway, { action: "remove", sessionId: details["sessionId"] });
  });

  test("elevated is ignored with a warning while sandboxing is off", async () => {
    const { text, details } = await exec(gateway, { command: "echo ran", elevated: true });
    assert.equal(details["status"], "completed");
    assert.match(text, /elevated was ignored[\s\S]*ran/);
  });

  test("a call cannot choose another host than the configured one", async () => {
    for (const host of ["gateway", "node"]) {
      const { error } = await exec(gateway, { command: "echo x", host });
      assert.equal(error?.type, "exec.host-mismatch");
      assert.match(error?.message ?? "", /tools\.exec\.host/);
    }
    assert.equal((await exec(gateway, { command: "echo x", host: "sandbox" })).text.trim(), "x");
    assert.equal((await exec(gateway, { command: "echo x", host: "evil.example.com" })).status, 400);
  });

  test("invalid UTF-8 and binary output is made safe", async () => {
    const { text } = await exec(gateway, { command: String.raw`printf 'a\377\376b\000\007c\033[31mred\033[0m'` });
    assert.doesNotMatch(text.replaceAll("\n", ""), /\p{Cc}/u);
    assert.match(text, /a.*b.*c.*red/s);
  });

  test("aborting the call ends a foreground command", async () => {
    const canary = join(gateway.workspace, "never");
    const control = new AbortController();
    const pending = fetch(`${gateway.url}/tools/invoke`, {
      method: "POST",
      headers: { authorization: `Bearer ${gateway.token}`, "content-type": "application/json" },
      body: JSON.stringify({ tool: "exec", args: { command: `sleep 2; touch ${canary}` } }),
      signal: control.signal,
    });
    setTimeout(() => control.abort(), 400);
    await assert.rejects(pending);
    await new Promise((resolve) => setTimeout(resolve, 2600));
    assert.equal(existsSync(canary), false);
  });

  test("a background exit posts one message to the session; a foreground exit posts none", async () => {
    const wire = await operator(gateway);
    const key = "agent:main:notices";
    const options = { body: { sessionKey: key } };
    const { details } = await exec(
      gateway,
      { command: "sleep 0.3; echo tail-line; exit 4", background: true },
      options,
    );
    await exec(gateway, { command: "echo foreground" }, options);
    const lines = await until(
      async () => {
        const payload = await wire.call("system-events.list", { sessionKey: key });
        return (payload?.events ?? []).map(({ text }) => text);
      },
      (found) => found.length > 0,
    );
    assert.deepEqual(lines, [`Exec failed (${String(details["sessionId"])}, code 4) :: tail-line`]);
    wire.end();
  });
});

describe("exec where process is not allowed", () => {
  let gateway: TestGateway;
  before(async () => {
    gateway = await startGateway({ config: { tools: { deny: ["process"] } } });
  });
  after(() => dispose(gateway));

  test("runs synchronously and ignores yieldMs and background", async () => {
    for (const more of [{ yieldMs: 50 }, { background: true }]) {
      const { details, text } = await exec(gateway, { command: "sleep 0.5; echo done", ...more });
      assert.equal(details["status"], "completed");
      assert.match(text, /done/);
    }
  });
});

describe("exec settings", () => {
  let gateway: TestGateway;
  before(async () => {
    gateway = await startGateway({
      config: { tools: { exec: { pathPrepend: ["~/bin"], backgroundMs: 150, notifyOnExit: false, timeoutSec: 12 } } },
      env: { SHELL: "/bin/bash", SECRET_API_KEY: "sk-do-not-show-0123456789" },
    });
    mkdirSync(join(gateway.home, "bin"));
    writeFileSync(join(gateway.home, "bin", "mine"), "#!/bin/sh\necho mine\n", { mode: 0o755 });
    writeFileSync(join(gateway.home, ".bash_profile"), 'export PATH="$PATH:/opt/from-login"\n');
  });
  after(() => dispose(gateway));

  test("pathPrepend goes first, the login shell's PATH is merged in", async () => {
    const { text } = await exec(gateway, { command: 'mine; echo "$PATH"', yieldMs: 20_000 });
    const [first, path = ""] = text.trim().split("\n");
    assert.equal(first, "mine");
    assert.equal(path.split(":")[0], join(gateway.home, "bin"));
    assert.ok(path.split(":").includes("/opt/from-login"), path);
  });

  test("backgroundMs is the default of yieldMs, timeoutSec of timeout", async () => {
    const { details } = await exec(gateway, { command: "echo a; sleep 90" });
    assert.equal(details["status"], "running");
    const ended = await until(
      async () => proc(gateway, { action: "poll", sessionId: details["sessionId"] }),
      (polled) => polled.details["status"] !== "running",
    );
    assert.match(ended.text, /time|timed/i);
  });

  test("notifyOnExit false: no message", async () => {
    const wire = await operator(gateway);
    const { details } = await exec(gateway, { command: "echo x", background: true });
    await until(
      async () => proc(gateway, { action: "poll", sessionId: details["sessionId"] }),
      (polled) => polled.details["status"] === "completed",
    );
    const payload = await wire.call("system-events.list", { sessionKey: "main" });
    assert.deepEqual(payload.events, []);
    wire.end();
  });

  test("a child does not get the gateway's credentials", async () => {
    const { text } = await exec(gateway, { command: "env; cat /proc/self/environ | tr '\\0' '\\n'", yieldMs: 20_000 });
    assert.doesNotMatch(text, /sk-do-not-show|OPENCLAW_GATEWAY_TOKEN|SECRET_API_KEY/);
  });
});
