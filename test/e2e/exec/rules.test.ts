// The rules for commands: defaults, an approvals file that others write too, per session and in the sandbox.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";

import { exec, readApprovals, until, writeApprovals } from "../../harness/exec.ts";
import { dispose, operator, startGateway, type TestGateway, type Wire } from "../../harness/gateway.ts";
import { chat, textOf } from "../../harness/model.ts";
import { ranFine, scriptedNode } from "../../harness/node.ts";
import { noBubblewrap } from "../../harness/sandbox.ts";

const as = (agent: string) => ({ body: { sessionKey: `agent:${agent}:main` } });
const uname = { pattern: "/usr/bin/uname" };

const entriesOf = ({ state }: TestGateway, agent: string): Record<string, unknown>[] =>
  readApprovals(state).agents?.[agent]?.allowlist ?? [];

describe("tools.exec.host=gateway and nothing else", () => {
  let gateway: TestGateway;
  before(async () => {
    gateway = await startGateway({
      config: {
        tools: { exec: { host: "gateway" } },
        agents: {
          list: [
            { id: "main", default: true },
            { id: "full", tools: { exec: { security: "full" } } },
            { id: "asked", tools: { exec: { security: "full", ask: "always" } } },
          ],
        },
      },
    });
    for (const id of ["", "-full", "-asked"]) mkdirSync(gateway.workspace + id, { recursive: true });
    writeApprovals(gateway.state, { agents: { "*": { allowlist: [uname] } } });
  });
  after(() => dispose(gateway));

  test("without an approver: allowlist and on-miss apply, listed programs run, others are denied with the fix", async () => {
    assert.equal((await exec(gateway, { command: "uname" })).details["status"], "completed");
    const { error } = await exec(gateway, { command: "id" });
    const { code, rule, security, ask, host, unmatched, hint } = error?.details ?? {};
    assert.deepEqual(
      { code, rule, security, ask, host, unmatched },
      {
        code: "exec.denied",
        rule: "exec.nobody-to-ask",
        security: "allowlist",
        ask: "on-miss",
        host: "gateway",
        unmatched: ["/usr/bin/id"],
      },
    );
    assert.match(String(hint), /openclaw dashboard.*openclaw approvals allowlist add \/usr\/bin\/id --agent main/);
  });

  test("with an approver: listed programs run, others wait, and the whole answer is as specified", async () => {
    const wire = await operator(gateway);
    assert.equal((await exec(gateway, { command: "uname" })).details["status"], "completed");
    const { text, details } = await exec(gateway, { command: "touch made" });
    const { approvalId, expiresAtMs, ...rest } = details;
    const id = String(approvalId);
    assert.equal(typeof expiresAtMs, "number");
    assert.deepEqual(rest, {
      status: "approval-pending",
      approvalSlug: id.slice(0, 8),
      host: "gateway",
      command: "touch made",
      cwd: gateway.workspace,
    });
    assert.match(text, new RegExp(`^Approval required \\(id ${id.slice(0, 8)}\\): the command has not run`));
    const { pending } = await wire.call("exec.approvals.pending", {});
    assert.deepEqual(pending.find((one) => one.id === id)?.request, {
      command: "touch made",
      cwd: gateway.workspace,
      host: "gateway",
      security: "allowlist",
      ask: "on-miss",
      agentId: "main",
      resolvedPath: "/usr/bin/touch",
      sessionKey: "agent:main:main",
    });
    assert.equal(existsSync(join(gateway.workspace, "made")), false);
    await wire.request("exec.approval.resolve", { id, decision: "deny" });
    wire.end();
  });

  test("approvals apply unless security is full and ask is off: always asks, on-miss never has a miss", async () => {
    const wire = await operator(gateway);
    assert.equal((await exec(gateway, { command: "echo a && echo b" }, as("full"))).text.trim(), "a\nb");
    const held = await exec(gateway, { command: "echo a && echo b" }, as("asked"));
    assert.equal(held.details["status"], "approval-pending");
    const tightened = await exec(gateway, { command: "echo a && echo b", ask: "always" }, as("full"));
    assert.equal(tightened.details["status"], "approval-pending");
    for (const { details } of [held, tightened])
      await wire.request("exec.approval.resolve", { id: details["approvalId"], decision: "deny" });
    wire.end();
  });

  test("allow-always records what was used, when, and where it was found", async () => {
    const wire = await operator(gateway);
    const command = `mkdir -p ${join(gateway.workspace, "kept")}`;
    const { details } = await exec(gateway, { command });
    await wire.request("exec.approval.resolve", { id: details["approvalId"], decision: "allow-always" });
    const [entry] = await until(
      () => entriesOf(gateway, "main"),
      ([first]) => first?.["lastUsedAt"] !== undefined,
    );
    const { id, lastUsedAt, ...rest } = entry ?? {};
    assert.deepEqual([typeof id, typeof lastUsedAt], ["string", "number"]);
    assert.deepEqual(rest, {
      pattern: "/usr/bin/mkdir",
      args: ["-p", join(gateway.workspace, "kept")],
      cwd: gateway.workspace,
      lastUsedCommand: command,
      lastResolvedPath: "/usr/bin/mkdir",
    });
    wire.end();
  });
});

describe("an approvals file that others write too", () => {
  let gateway: TestGateway;
  before(async () => {
    gateway = await startGateway({ config: { tools: { exec: { host: "gateway", ask: "off" } } } });
    mkdirSync(gateway.workspace, { recursive: true });
  });
  after(() => dispose(gateway));

  const foreign = {
    companion: { theme: "dark", seen: [1, 2] },
    socket: { path: "/run/own.sock", token: "their-token", mode: "0600" },
    defaults: { color: "blue" },
    agents: { main: { note: "ours", allowlist: [{ id: "5f0d", ...uname, comment: "harmless" }] } },
  };

  test("unknown fields have no effect, and runs, clients and usage notes keep them", async () => {
    writeApprovals(gateway.state, foreign);
    assert.equal((await exec(gateway, { command: "uname" })).details["status"], "completed");
    assert.equal((await exec(gateway, { command: "id" })).error?.type, "exec.denied");
    await until(
      () => entriesOf(gateway, "main"),
      ([entry]) => entry?.["lastUsedCommand"] === "uname",
    );
    const wire = await operator(gateway);
    const { file, hash } = await wire.call("exec.approvals.get", {});
    assert.equal(JSON.stringify(file).includes("their-token"), false);
    const changed = { ...file, defaults: { ...file["defaults"], askFallback: "deny" } };
    const set = await wire.request("exec.approvals.set", { file: changed, baseHash: hash });
    assert.equal(set.ok, true, set.error?.message);
    const [entry] = entriesOf(gateway, "main");
    const { lastUsedAt, ...kept } = entry ?? {};
    assert.equal(typeof lastUsedAt, "number");
    assert.deepEqual(readApprovals(gateway.state), {
      version: 1,
      ...foreign,
      defaults: { color: "blue", askFallback: "deny" },
      agents: { main: { note: "ours", allowlist: [{ ...kept, lastUsedAt }] } },
    });
    assert.deepEqual(kept, {
      id: "5f0d",
      ...uname,
      comment: "harmless",
      lastUsedCommand: "uname",
      lastResolvedPath: "/usr/bin/uname",
    });
    wire.end();
  });

  test("a misspelled rule closes the host instead of being ignored", async () => {
    writeApprovals(gateway.state, { agents: { main: { Security: "deny", allowlist: [uname] } } });
    const { error } = await exec(gateway, { command: "uname" });
    assert.equal(error?.type, "approvals.unreadable");
    assert.match(error?.message ?? "", /agents\.main\.Security is not a known rule; did you mean security\?$/);
  });

  test("agents.default beside agents.main: its deny still applies", async () => {
    writeApprovals(gateway.state, { agents: { default: { security: "deny" }, main: { allowlist: [uname] } } });
    assert.equal((await exec(gateway, { command: "uname" })).error?.type, "exec.denied");
  });
});

describe("/exec as documented", () => {
  let gateway: TestGateway;
  let wire: Wire;
  before(async () => {
    gateway = await startGateway();
    mkdirSync(gateway.workspace, { recursive: true });
    wire = await operator(gateway);
  });
  after(async () => {
    wire.end();
    await dispose(gateway);
  });
  const told = async (session: string, message: string): Promise<string> =>
    textOf(await chat(wire, session, message, randomUUID()));

  test("its example sets all four for that session, shows them, and writes neither config nor another session", async () => {
    const config = join(gateway.state, "openclaw.json");
    const before = readFileSync(config, "utf8");
    const session = "agent:main:document";
    const line = "host=gateway security=allowlist ask=on-miss node=mac-1";
    assert.ok((await told(session, `/exec ${line}`)).includes(line));
    const shown = await told(session, "/exec");
    assert.match(
      shown,
      /host=gateway \(session\) security=allowlist \(session\) ask=on-miss \(session\) node=mac-1 \(session\)/,
    );
    assert.doesNotMatch(await told("agent:main:elsewhere", "/exec"), /\(session\)|mac-1/);
    assert.equal(readFileSync(config, "utf8"), before);
    assert.match(await told(session, "/exec host=moon"), /"moon" is not a value of host[^]*Nothing was changed/);
    assert.equal(await told(session, "/exec"), shown);
  });

  test("node= of the session is the node a command goes to, by name, of several", async () => {
    const nodes = await Promise.all(["mac-1", "mac-2"].map((name) => scriptedNode(gateway, { name })));
    for (const [at, node] of nodes.entries())
      node.script(({ command }) =>
        command === "system.run"
          ? ranFine(`mac-${at + 1}\n`)
          : { payload: { path: "/n", exists: true, hash: "h", file: { version: 1 } } },
      );
    for (const name of ["mac-2", "mac-1"]) {
      const session = `agent:main:bound-${name}`;
      await told(session, `/exec host=node node=${name}`);
      const { details, text } = await exec(gateway, { command: "true" }, { body: { sessionKey: session } });
      assert.equal(details["aggregated"], `${name}\n`, text);
    }
    for (const node of nodes) node.end();
  });
});

describe("host=sandbox in a sandbox", { skip: noBubblewrap }, () => {
  let gateway: TestGateway;
  before(async () => {
    gateway = await startGateway({
      config: {
        tools: { exec: { pathPrepend: ["/opt/oss/bin", "~/bin"] } },
        agents: { defaults: { sandbox: { mode: "all", docker: { env: { PATH: "/opt/box", COLOUR: "blue" } } } } },
      },
    });
    mkdirSync(gateway.workspace, { recursive: true });
  });
  after(() => dispose(gateway));

  test("PATH: pathPrepend, then env.PATH, then the sandbox's own, all before the profile's, and no value is run by the shell", async () => {
    const { text } = await exec(gateway, {
      command: 'printf %s "$PATH"; printf "\n%s" "$COLOUR" "${OPENCLAW_PATH_PREFIX-gone}"',
      env: { PATH: "/x:/$(touch hijacked)" },
    });
    const [path = "", ...rest] = text.split("\n");
    assert.deepEqual(rest, ["blue", "gone"]);
    assert.deepEqual(path.split(":").slice(0, 4), ["/opt/oss/bin", "/x", "/$(touch hijacked)", "/opt/box"]);
    assert.ok(path.split(":").includes("/usr/bin"), path);
    assert.match((await exec(gateway, { command: "ls" })).text, /^\(no output\)$/);
  });

  test("accepts loader variables, which only affect the sandbox", async () => {
    assert.equal((await exec(gateway, { command: "echo $LD_X", env: { LD_X: "1" } })).text.trim(), "1");
  });

  test("workdir: a folder of the sandbox by either path; a missing one gives the same error as on the host", async () => {
    await exec(gateway, { command: "mkdir -p sub/deep; touch file" });
    const where = async (workdir: string): Promise<unknown> => {
      const { text, error } = await exec(gateway, { command: "pwd", workdir });
      return error?.type ?? text.trim();
    };
    assert.deepEqual(
      {
        relative: await where("sub/deep"),
        absolute: await where("/workspace/sub"),
        blank: await where(" "),
        missing: await where("nowhere"),
        file: await where("file"),
        outside: await where("/root"),
      },
      {
        relative: "/workspace/sub/deep",
        absolute: "/workspace/sub",
        blank: "/workspace",
        missing: "exec.bad-folder",
        file: "exec.bad-folder",
        outside: "exec.bad-folder",
      },
    );
  });
});
