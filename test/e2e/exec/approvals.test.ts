// Commands on the gateway's host: allowlist, questions and answers, through the front door.
import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { exec, linesOf, readApprovals, until, writeApprovals } from "../../harness/exec.ts";
import { dispose, operator, startGateway, type TestGateway, type Wire } from "../../harness/gateway.ts";

describe("security=allowlist, ask=off", () => {
  let gateway: TestGateway;
  before(async () => {
    gateway = await startGateway({
      config: { tools: { exec: { host: "gateway", security: "allowlist", ask: "off" } } },
    });
    mkdirSync(gateway.workspace, { recursive: true });
    writeFileSync(join(gateway.workspace, "f.txt"), "x\n");
    writeApprovals(gateway.state, { agents: { main: { allowlist: [{ pattern: "/usr/bin/uname" }] } } });
  });
  after(() => dispose(gateway));

  const rows: readonly [command: string, runs: boolean][] = [
    ["uname -a", true],
    ["uname | head -n 1", true],
    ["uname '$(id)'", true],
    ["uname;", true],
    ["uname 2>&1", true],
    ["uname | tee f", false],
    ["uname > f", false],
    ["uname $(id)", false],
    ['uname "$(id)"', false],
    ["uname | head -n 1 f.txt", false],
    ["uname && uname", false],
    ["uname; uname", false],
    ["uname || uname", false],
    ["uname & uname", false],
    ["uname\nuname", false],
    ["./uname", false],
    ["env uname -a | sh", false],
    ["id", false],
  ];
  for (const [command, runs] of rows)
    test(`${JSON.stringify(command)} ${runs ? "runs" : "is refused"}`, async () => {
      const { error, details } = await exec(gateway, { command });
      // `uname '$(id)'` runs and fails on its own: what counts is that it ran as written.
      if (runs) assert.match(String(details["status"]), /completed|failed/, error?.message);
      else assert.deepEqual([error?.type, error?.details?.["refused"]], ["exec.denied", true]);
      assert.equal(existsSync(join(gateway.workspace, "f")), false);
    });

  test("a run records when and how an entry was used and keeps other fields of the file", async () => {
    await exec(gateway, { command: "uname -m" });
    const [entry] = await until(
      () => readApprovals(gateway.state).agents?.["main"]?.allowlist ?? [],
      ([first]) => first?.["lastUsedCommand"] === "uname -m",
    );
    assert.deepEqual(
      [entry?.["pattern"], entry?.["lastUsedCommand"], entry?.["lastResolvedPath"], typeof entry?.["lastUsedAt"]],
      ["/usr/bin/uname", "uname -m", "/usr/bin/uname", "number"],
    );
  });

  test("entries without a folder never match", async () => {
    writeApprovals(gateway.state, { agents: { main: { allowlist: [{ pattern: "uname" }, { pattern: "*" }] } } });
    assert.equal((await exec(gateway, { command: "uname" })).error?.type, "exec.denied");
  });

  test("entries for all agents apply; older spellings are read", async () => {
    writeApprovals(gateway.state, { agents: { "*": { allowlist: ["/usr/bin/uname"] } } });
    assert.equal((await exec(gateway, { command: "uname" })).details["status"], "completed");
    writeApprovals(gateway.state, { agents: { default: { allowlist: ["/usr/bin/uname"] } } });
    assert.equal((await exec(gateway, { command: "uname" })).details["status"], "completed");
  });

  test("the stricter of config and file wins: deny in the file", async () => {
    writeApprovals(gateway.state, {
      agents: { main: { security: "deny", allowlist: [{ pattern: "/usr/bin/uname" }] } },
    });
    const { error } = await exec(gateway, { command: "uname" });
    assert.equal(error?.type, "exec.denied");
    assert.match(error?.message ?? "", /exec-approvals\.json|approvals/);
  });

  test("an unreadable file denies every command on the host", async () => {
    writeFileSync(join(gateway.state, "exec-approvals.json"), "{ nope");
    assert.equal((await exec(gateway, { command: "uname" })).error?.type, "approvals.unreadable");
  });

  test("per call: full and off do not loosen, deny tightens", async () => {
    writeApprovals(gateway.state, { agents: { main: { allowlist: [{ pattern: "/usr/bin/uname" }] } } });
    assert.equal((await exec(gateway, { command: "id", security: "full", ask: "off" })).error?.type, "exec.denied");
    assert.equal((await exec(gateway, { command: "uname", security: "deny" })).error?.type, "exec.denied");
  });
});

describe("ask=on-miss", () => {
  let gateway: TestGateway;
  let wire: Wire;
  before(async () => {
    gateway = await startGateway({
      config: { tools: { exec: { host: "gateway", ask: "on-miss", approvalRunningNoticeMs: 150 } } },
    });
    mkdirSync(gateway.workspace, { recursive: true });
    wire = await operator(gateway);
  });
  after(async () => {
    wire.end();
    await dispose(gateway);
  });

  interface Asked {
    readonly id: string;
    readonly expiresAtMs: number;
    readonly createdAtMs: number;
    readonly request: Record<string, unknown>;
    readonly card: { readonly text: string };
  }
  const asked = async (id: unknown): Promise<Asked> => {
    const frame = await until(
      () =>
        wire.frames.find(({ event, payload }) => event === "exec.approval.requested" && (payload as Asked).id === id),
      (found) => found !== undefined,
    );
    return frame?.payload as Asked;
  };

  test("a miss returns approval-pending immediately with an id; the command does not run; operators are asked", async () => {
    const canary = join(gateway.workspace, "denied");
    const { details, text } = await exec(gateway, { command: `touch ${canary}` });
    assert.deepEqual(
      [details["status"], details["host"], details["command"]],
      ["approval-pending", "gateway", `touch ${canary}`],
    );
    assert.match(text, new RegExp(String(details["approvalSlug"])));
    const request = await asked(details["approvalId"]);
    assert.equal(request.expiresAtMs - request.createdAtMs, 120_000);
    assert.deepEqual(
      [request.request["command"], request.request["agentId"], request.request["cwd"], request.request["resolvedPath"]],
      [`touch ${canary}`, "main", gateway.workspace, "/usr/bin/touch"],
    );
    const answer = await wire.request("exec.approval.resolve", { id: request.id, decision: "deny" });
    assert.equal(answer.ok, true);
    const lines = await until(
      () => linesOf(wire, "main"),
      (found) => found.some((line) => line.includes(request.id.slice(0, 8))),
    );
    assert.match(lines.join("\n"), /Exec denied \(gateway id=/);
    assert.equal(existsSync(canary), false);
    const slot = await wire.request("exec.approval.resolve", { id: request.id, decision: "allow-once" });
    assert.deepEqual([slot.ok, slot.error?.message], [false, "unknown approval id"]);
    await sleep(150);
    assert.equal(existsSync(canary), false);
  });

  test("allow-once runs it once and reports Exec finished with the same id; the next one asks again", async () => {
    const command = "sh -c 'echo one >> ran; sleep 3; echo tail-of-it'";
    const { details } = await exec(gateway, { command });
    const { id } = await asked(details["approvalId"]);
    const both = await Promise.all([
      wire.request("exec.approval.resolve", { id, decision: "allow-once" }),
      wire.request("exec.approval.resolve", { id, decision: "allow-once" }),
    ]);
    assert.equal(both.filter(({ ok }) => ok === true).length, 1);
    const lines = await until(
      () => linesOf(wire, "main"),
      (found) => found.some((line) => line.startsWith("Exec finished") && line.includes(id)),
    );
    assert.match(lines.join("\n"), /tail-of-it/);
    assert.equal(lines.filter((line) => line.startsWith("Exec running") && line.includes(id)).length, 1);
    assert.equal(readFileSync(join(gateway.workspace, "ran"), "utf8"), "one\n");
    assert.equal((await exec(gateway, { command })).details["status"], "approval-pending");
  });

  test("allow-always stores an entry for this program, arguments and folder; never for a shell", async () => {
    const target = join(gateway.workspace, "made");
    const { details } = await exec(gateway, { command: `mkdir -p ${target}` });
    const { id } = await asked(details["approvalId"]);
    await wire.request("exec.approval.resolve", { id, decision: "allow-always" });
    await until(() => existsSync(target), Boolean);
    rmSync(target, { recursive: true });
    const again = await until(
      () => exec(gateway, { command: `mkdir -p ${target}` }),
      ({ details: now }) => now["status"] === "completed",
    );
    assert.equal(again.details["status"], "completed");
    assert.equal((await exec(gateway, { command: `mkdir -p ${target}/other` })).details["status"], "approval-pending");
    const file = JSON.stringify(readApprovals(gateway.state));
    assert.match(file, /\/usr\/bin\/mkdir/);
    const shell = await exec(gateway, { command: "sh -c 'echo hi'" });
    const { id: shellId } = await asked(shell.details["approvalId"]);
    await wire.request("exec.approval.resolve", { id: shellId, decision: "allow-always" });
    await until(
      () => linesOf(wire, "main"),
      (found) => found.some((line) => line.includes(shellId)),
    );
    assert.doesNotMatch(JSON.stringify(readApprovals(gateway.state)), /bin\/(?:da|ba)?sh"/);
  });

  test("allow-always on a script, or on a program that obeys a file, runs it once and asks again", async () => {
    const script = join(gateway.workspace, "build.sh");
    for (const name of ["pytest", "just"])
      writeFileSync(join(gateway.workspace, name), "#!/bin/sh\necho run >> built\n", { mode: 0o755 });
    writeFileSync(script, "#!/bin/sh\necho run >> built\n", { mode: 0o755 });
    for (const [at, command] of ["./build.sh", "sh build.sh", "./pytest -q", "./just build"].entries()) {
      const { details } = await exec(gateway, { command });
      const request = await asked(details["approvalId"]);
      assert.equal("always" in request.card, false, `always is not offered for ${command}`);
      await wire.request("exec.approval.resolve", { id: request.id, decision: "allow-always" });
      const built = join(gateway.workspace, "built");
      await until(
        () => (existsSync(built) ? readFileSync(built, "utf8").split("\n").length - 1 : 0),
        (runs) => runs === at + 1,
      );
      assert.equal((await exec(gateway, { command })).details["status"], "approval-pending", command);
    }
    assert.doesNotMatch(JSON.stringify(readApprovals(gateway.state)), /build|pytest|just/);
  });

  test("a script that was rewritten after the question does not run", async () => {
    const script = join(gateway.workspace, "deploy.sh");
    writeFileSync(script, "echo good > effect\n");
    const { details } = await exec(gateway, { command: "bash deploy.sh" });
    const { id } = await asked(details["approvalId"]);
    writeFileSync(script, "echo evil > effect\n");
    await wire.request("exec.approval.resolve", { id, decision: "allow-once" });
    const lines = await until(
      () => linesOf(wire, "main"),
      (found) => found.some((line) => line.includes(id)),
    );
    assert.match(lines.find((line) => line.includes(id)) ?? "", /^Exec denied .*changed after it was allowed/);
    assert.equal(existsSync(join(gateway.workspace, "effect")), false);
  });

  test("invisible characters are shown on the card", async () => {
    const { details } = await exec(gateway, { command: "echo \u202Egpj.exe\u200B \u3164 \u001b[2K" });
    const { request, card } = await asked(details["approvalId"]);
    for (const shown of [card.text, String(request["command"])]) {
      assert.doesNotMatch(shown, /[\u202e\u200b\u3164]|\p{Cc}/u);
      assert.match(shown, /202e/i);
    }
  });
});

describe("without an approver", () => {
  let gateway: TestGateway;
  before(async () => {
    gateway = await startGateway({ config: { tools: { exec: { host: "gateway" } } } });
    mkdirSync(gateway.workspace, { recursive: true });
  });
  after(() => dispose(gateway));

  test("askFallback unset: denied", async () => {
    assert.equal((await exec(gateway, { command: "id" })).error?.type, "exec.denied");
  });
  test("askFallback allowlist: only what is listed; full: runs", async () => {
    writeApprovals(gateway.state, {
      defaults: { askFallback: "allowlist", ask: "always" },
      agents: { main: { allowlist: [{ pattern: "/usr/bin/uname" }] } },
    });
    assert.equal((await exec(gateway, { command: "uname" })).details["status"], "completed");
    assert.equal((await exec(gateway, { command: "id" })).error?.type, "exec.denied");
    writeApprovals(gateway.state, { defaults: { askFallback: "full" } });
    assert.equal((await exec(gateway, { command: "id" })).details["status"], "completed");
  });
});

describe("security=full", () => {
  let gateway: TestGateway;
  before(async () => {
    gateway = await startGateway({ config: { tools: { exec: { host: "gateway", security: "full", ask: "off" } } } });
  });
  after(() => dispose(gateway));

  test("with ask=off a whole shell line runs without a question", async () => {
    assert.equal((await exec(gateway, { command: "echo a && echo b | tr b c" })).text.trim(), "a\nc");
  });
  test("the file's allowlist is stricter and wins", async () => {
    writeApprovals(gateway.state, { defaults: { security: "allowlist" } });
    assert.equal((await exec(gateway, { command: "echo a && echo b" })).error?.type, "exec.denied");
  });
});
