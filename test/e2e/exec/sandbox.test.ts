// Sandboxed sessions against a real gateway: commands and file tools share files, and the host is unreachable.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";

import { call, exec, gatewayFor, proc, until, writeApprovals } from "../../harness/exec.ts";
import { dispose, operator, startGateway, type TestGateway } from "../../harness/gateway.ts";
import { noBubblewrap } from "../../harness/sandbox.ts";

const group = { body: { sessionKey: "agent:main:telegram:group:-100" } };

describe("sandbox mode non-main", { skip: noBubblewrap }, () => {
  let gateway: TestGateway;
  before(async () => {
    gateway = await startGateway({
      config: { agents: { defaults: { sandbox: { mode: "non-main" } } }, session: { mainKey: "home" } },
      env: { OWN_API_KEY: "sk-of-the-gateway-0123456789" },
    });
    mkdirSync(gateway.workspace, { recursive: true });
    writeFileSync(join(gateway.workspace, "private.txt"), "PRIVATE\n");
  });
  after(() => dispose(gateway));

  test("the main session is not sandboxed, under its own key and under main; a group is", async () => {
    for (const sessionKey of ["agent:main:home", "agent:main:main", "main"])
      assert.equal((await exec(gateway, { command: "pwd" }, { body: { sessionKey } })).text.trim(), gateway.workspace);
    assert.equal((await exec(gateway, { command: "pwd" }, group)).text.trim(), "/workspace");
  });

  test("exec, write and read see the same files; the agent's workspace is hidden", async () => {
    await call(gateway, "write", { path: "made.txt", content: "by write\n" }, group);
    assert.equal(
      (await exec(gateway, { command: "cat made.txt; ls -a /workspace" }, group)).text.includes("by write"),
      true,
    );
    await exec(gateway, { command: "echo by exec > /workspace/back.txt" }, group);
    assert.match((await call(gateway, "read", { path: "/workspace/back.txt" }, group)).text, /by exec/);
    const peek = await exec(
      gateway,
      { command: `cat ${gateway.workspace}/private.txt; cat /workspace/private.txt` },
      group,
    );
    assert.doesNotMatch(peek.text, /PRIVATE/);
  });

  test("whole shell lines run, because the kernel isolates them", async () => {
    assert.equal(
      (
        await exec(gateway, { command: "for i in 1 2; do echo $i; done | tr 1 x && echo ok > f; cat f" }, group)
      ).text.trim(),
      "x\n2\nok",
    );
  });

  test("the gateway's state, environment and processes are unreachable", async () => {
    const { text } = await exec(
      gateway,
      {
        command: `cat ${gateway.state}/openclaw.json; env; cat /proc/*/environ; ls /proc | grep -c '^[0-9]'; cat /etc/shadow`,
      },
      group,
    );
    assert.doesNotMatch(text, /test-token|sk-of-the-gateway|root:[*!$]/);
  });

  test("no network", async () => {
    const { text } = await exec(
      gateway,
      { command: `(exec 3<>/dev/tcp/127.0.0.1/${gateway.port}) 2>&1 && echo reached; cat /proc/net/dev | grep -c eth` },
      group,
    );
    assert.doesNotMatch(text, /reached/);
  });

  test("env: PATH is allowed and comes first after the profile; pathPrepend too", async () => {
    const { text } = await exec(gateway, { command: "echo $PATH", env: { PATH: "/x" } }, group);
    assert.match(text, /^\/x:/);
  });

  test("background, poll and kill work inside; a timeout ends the tree", async () => {
    const { details } = await exec(gateway, { command: "echo in; sleep 60", background: true }, group);
    const seen = await until(
      () => proc(gateway, { action: "poll", sessionId: details["sessionId"] }, group),
      ({ text }) => /in/.test(text),
    );
    assert.equal(seen.details["status"], "running");
    await proc(gateway, { action: "kill", sessionId: details["sessionId"] }, group);
    await until(
      () => proc(gateway, { action: "poll", sessionId: details["sessionId"] }, group),
      ({ details: now }) => now["status"] !== "running",
    );
    const mark = `sleep 77.${process.pid}`;
    const slow = await exec(gateway, { command: mark, timeout: 1 }, group);
    assert.equal(slow.details["timedOut"], true);
    await until(
      () => spawnSync("pgrep", ["-f", mark]).status,
      (status) => status === 1,
    );
  });

  test("pty works inside", async () => {
    assert.match(
      (await exec(gateway, { command: "tty; stty size", pty: true }, group)).text,
      /\/dev\/(?:pts\/\d+|console)[\s\S]*30 120/,
    );
  });

  test("host=gateway per call is rejected: it stays inside", async () => {
    assert.equal((await exec(gateway, { command: "id", host: "gateway" }, group)).error?.type, "exec.host-mismatch");
  });

  test("elevated from an unlisted sender is rejected with the gates", async () => {
    const { error } = await exec(gateway, { command: "id", elevated: true }, group);
    assert.equal(error?.type, "exec.elevated-unavailable");
    assert.match(error?.message ?? "", /tools\.elevated\.allowFrom\.telegram/);
  });
});

describe("elevated", { skip: noBubblewrap }, () => {
  let gateway: TestGateway;
  before(async () => {
    gateway = await startGateway({
      config: {
        agents: { defaults: { sandbox: { mode: "all", workspaceAccess: "rw", gitWrite: true } } },
        tools: { elevated: { allowFrom: { webchat: ["*"] } } },
      },
    });
    mkdirSync(gateway.workspace, { recursive: true });
  });
  after(() => dispose(gateway));

  test("a listed sender's elevated call goes to the host, under approvals", async () => {
    assert.equal((await exec(gateway, { command: "uname -s; ls /workspace" })).details["status"], "completed");
    const { error } = await exec(gateway, { command: "id -u", elevated: true });
    assert.equal(error?.type, "exec.denied");
    writeApprovals(gateway.state, { agents: { main: { allowlist: [{ pattern: "/usr/bin/id" }] } } });
    const ran = await exec(gateway, { command: "id -u", elevated: true });
    assert.equal(ran.details["cwd"], gateway.workspace);
    assert.equal(ran.text.trim(), String(process.getuid?.()));
  });

  test("level full skips approvals; off rejects", async () => {
    const wire = await operator(gateway);
    const set = (elevatedLevel: string): Promise<unknown> =>
      wire.request("sessions.patch", { key: "main", elevatedLevel });
    await set("full");
    assert.match((await exec(gateway, { command: "echo $((1+1)); pwd" })).text, new RegExp(`2\n${gateway.workspace}`));
    await set("off");
    assert.equal((await exec(gateway, { command: "id", elevated: true })).error?.type, "exec.elevated-unavailable");
    wire.end();
  });

  test("rw with gitWrite: git commits in a repository of the workspace, and its hooks and config stay unchanged", async () => {
    const repository = { cwd: gateway.workspace, env: { ...process.env, HOME: gateway.home } };
    spawnSync("git", ["init", "-q"], repository);
    spawnSync("git", ["config", "user.email", "a@example.com"], repository);
    spawnSync("git", ["config", "user.name", "Ada"], repository);
    const before = readFileSync(join(gateway.workspace, ".git", "config"), "utf8");
    const { text, details } = await exec(gateway, {
      command:
        "echo hi > a.txt && git add a.txt && git commit -qm first && git log --format=%s; git config core.fsmonitor /workspace/evil; echo evil > .git/hooks/post-commit; true",
    });
    assert.equal(details["status"], "completed", text);
    assert.match(text, /^first$/m);
    assert.equal(readFileSync(join(gateway.workspace, ".git", "config"), "utf8"), before);
    assert.equal(existsSync(join(gateway.workspace, ".git", "hooks", "post-commit")), false);
    assert.match(spawnSync("git", ["log", "--format=%s"], repository).stdout.toString(), /first/);
    rmSync(join(gateway.workspace, ".git"), { recursive: true });
  });

  test("rw: the agent's own workspace is /workspace, but protected names stay read-only", async () => {
    const wire = await operator(gateway);
    await wire.request("sessions.patch", { key: "main", elevatedLevel: null });
    await exec(gateway, {
      command:
        "echo mine > /workspace/mine.txt; mkdir -p .git/hooks; echo evil > .git/hooks/post-checkout; echo evil > .envrc; echo evil > .mcp.json",
    });
    assert.equal(readFileSync(join(gateway.workspace, "mine.txt"), "utf8"), "mine\n");
    for (const name of [".git/hooks/post-checkout", ".envrc", ".mcp.json"]) {
      const path = join(gateway.workspace, name);
      assert.ok(!existsSync(path) || !readFileSync(path, "utf8").includes("evil"), name);
    }
    wire.end();
  });
});

describe("workspaceAccess ro", { skip: noBubblewrap }, () => {
  let gateway: TestGateway;
  before(async () => {
    gateway = await startGateway({
      config: {
        tools: { exec: { applyPatch: { enabled: true } } },
        agents: { defaults: { model: "openai/gpt-5.2", sandbox: { mode: "all", workspaceAccess: "ro" } } },
      },
    });
    mkdirSync(gateway.workspace, { recursive: true });
    writeFileSync(join(gateway.workspace, "a.txt"), "readable\n");
  });
  after(() => dispose(gateway));

  test("/agent is readable by commands and by read and never writable; write, edit and apply_patch are off", async () => {
    const { text } = await exec(gateway, { command: "cat /agent/a.txt; echo x > /agent/b.txt" });
    assert.match(text, /readable/);
    assert.equal(existsSync(join(gateway.workspace, "b.txt")), false);
    assert.match((await call(gateway, "read", { path: "/agent/a.txt" })).text, /readable/);
    for (const tool of ["write", "edit", "apply_patch"]) {
      const { error } = await call(gateway, tool, {});
      assert.equal(error?.type, "tool.unavailable", tool);
      assert.match(String(error?.details?.["explain"]), /its sandbox may only read the workspace/, tool);
    }
  });
});

test("placeholders for protected names are in no commit", { skip: noBubblewrap }, async () => {
  const gateway = await startGateway({
    config: {
      agents: { defaults: { sandbox: { mode: "all", workspaceAccess: "rw", gitWrite: true, backend: "bubblewrap" } } },
    },
  });
  mkdirSync(gateway.workspace, { recursive: true });
  const init = spawnSync("git", ["init", "-q", gateway.workspace]);
  assert.equal(init.status, 0);
  const { text } = await exec(gateway, {
    command:
      "echo made > made.txt; git add -A && git -c user.name=a -c user.email=a@b commit -qm all && git show --name-only --format= && git status --short; echo end",
    yieldMs: 120_000,
  });
  const own = text
    .split("\n")
    .filter((line) => line.includes(".") && !/AGENTS|SOUL|TOOLS|IDENTITY|USER|HEARTBEAT|BOOTSTRAP/.test(line));
  assert.deepEqual(own, ["made.txt"], text);
  assert.match(text, /end/);
  await dispose(gateway);
});

test("without a working backend the command does not run, and the error names the fix", async () => {
  const gateway = await startGateway({
    config: { agents: { defaults: { sandbox: { mode: "all", backend: "docker" } } } },
    env: { DOCKER_HOST: "unix:///nonexistent/docker.sock" },
  });
  const canary = join(gateway.home, "canary");
  for (const [tool, args] of [
    ["exec", { command: `touch ${canary}` }],
    ["write", { path: "x", content: "y" }],
    ["read", { path: "x" }],
  ] as const) {
    const { error } = await call(gateway, tool, args);
    assert.equal(error?.type, "sandbox.unavailable", `${tool}: ${error?.message}`);
    assert.match(`${error?.message} ${JSON.stringify(error)}`, /docker/i);
  }
  assert.equal(existsSync(canary), false);
  await dispose(gateway);
});

test("a subagent is never elevated, even if its sender is listed", { skip: noBubblewrap }, async (t) => {
  const gateway = await gatewayFor(t, {
    config: {
      agents: { defaults: { sandbox: { mode: "all" } } },
      tools: { elevated: { allowFrom: { webchat: ["*"] } } },
    },
  });
  writeApprovals(gateway.state, { agents: { main: { allowlist: [{ pattern: "/usr/bin/id" }] } } });
  const sub = { body: { sessionKey: "agent:main:subagent:0d9c2a52-2f5e-4a4e-9d4e-3d6a5a0c1b11" } };
  assert.equal((await exec(gateway, { command: "id -u", elevated: true })).details["status"], "completed");
  const { error } = await exec(gateway, { command: "id -u", elevated: true }, sub);
  assert.equal(error?.type, "exec.elevated-unavailable");
  assert.match(error?.message ?? "", /session: subagents are never elevated/);
  assert.equal((await exec(gateway, { command: "pwd" }, sub)).text.trim(), "/workspace");
});

describe("B25 binds of the defaults and of an agent", { skip: noBubblewrap }, () => {
  const rows = [
    ["agent", "are joined", "all\nown"],
    ["shared", "of the agent are ignored in a box for all", "all\nno own"],
  ] as const;
  for (const [scope, words, seen] of rows)
    test(words, async (t) => {
      const folders = ["all", "own"].map((name) => {
        const folder = mkdtempSync(join(tmpdir(), `openclaw-bind-${name}-`));
        writeFileSync(join(folder, "who"), `${name}\n`);
        return folder;
      });
      const [all, own] = folders;
      const config = {
        agents: {
          defaults: { sandbox: { mode: "all", scope, docker: { binds: [`${all}:/all:ro`] } } },
          list: [{ id: "main", sandbox: { docker: { binds: [`${own}:/own:ro`] } } }],
        },
      };
      const gateway = await gatewayFor(t, { config });
      const { text } = await exec(gateway, { command: "cat /all/who; cat /own/who 2>/dev/null || echo no own" });
      assert.equal(text.trim(), seen);
      for (const folder of folders) rmSync(folder, { recursive: true });
    });
});
