// Answers to approvals of commands: the running notice, repeated questions, and late answers.
import assert from "node:assert/strict";
import { existsSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";

import { exec, gatewayFor, linesOf, until, writeApprovals } from "../../harness/exec.ts";
import { dispose, operator, startGateway, type TestGateway, type Wire } from "../../harness/gateway.ts";

describe("approved commands", () => {
  const question = async (wire: Wire, gateway: TestGateway, command: string): Promise<string> => {
    const { details, error } = await exec(gateway, { command });
    assert.equal(details["status"], "approval-pending", error?.message);
    const id = String(details["approvalId"]);
    await until(
      () => wire.frames.filter(({ event }) => event === "exec.approval.requested"),
      (events) => events.some(({ payload }) => (payload as { id: string }).id === id),
    );
    return id;
  };

  test("approvalRunningNoticeMs 0: a long command finishes without a notice in between", async (t) => {
    const gateway = await gatewayFor(t, {
      config: { tools: { exec: { host: "gateway", ask: "on-miss", approvalRunningNoticeMs: 0 } } },
    });
    const wire = await operator(gateway);
    const id = await question(wire, gateway, "sleep 0.6; echo slow");
    await wire.request("exec.approval.resolve", { id, decision: "allow-once" });
    const lines = await until(
      () => linesOf(wire, "main"),
      (found) => found.some((line) => line.startsWith("Exec finished")),
    );
    assert.equal(lines.filter((line) => line.startsWith("Exec running")).length, 0);
    assert.equal(lines.filter((line) => line.includes(id)).length, 1);
    wire.end();
  });

  test("ask=always asks again after allow-always, also for listed programs", async (t) => {
    const gateway = await gatewayFor(t, {
      config: { tools: { exec: { host: "gateway", security: "allowlist", ask: "always" } } },
    });
    writeApprovals(gateway.state, { agents: { main: { allowlist: [{ pattern: "/usr/bin/uname" }] } } });
    const wire = await operator(gateway);
    await question(wire, gateway, "uname");
    const target = join(gateway.workspace, "made");
    const id = await question(wire, gateway, `mkdir -p ${target}`);
    await wire.request("exec.approval.resolve", { id, decision: "allow-always" });
    await until(() => existsSync(target), Boolean);
    await until(
      () => linesOf(wire, "main"),
      (found) => found.some((line) => line.startsWith("Exec finished")),
    );
    rmSync(target, { recursive: true });
    assert.notEqual(await question(wire, gateway, `mkdir -p ${target}`), id);
    assert.equal(existsSync(target), false);
    wire.end();
  });
});

test("without an answer in two minutes the command is denied as timed out and never runs, and a late answer has no effect", async (t) => {
  const config = { tools: { exec: { host: "gateway", ask: "on-miss" } } };
  const first = await startGateway({ config });
  mkdirSync(first.workspace, { recursive: true });
  const asker = await operator(first);
  const canary = join(first.workspace, "canary");
  const { details } = await exec(first, { command: `touch ${canary}` });
  assert.equal(details["status"], "approval-pending");
  asker.end();
  await first.stop("SIGKILL");
  // The next one runs with a clock that is two minutes further on.
  const later = "const now = Date.now; Date.now = () => now() + 121_000;";
  const second = await startGateway({
    home: first.home,
    env: { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(later)}` },
  });
  t.after(() => dispose(second));
  const wire = await operator(second, { signedAt: Date.now() + 121_000 });
  const id = String(details["approvalId"]);
  const lines = await until(
    () => linesOf(wire, "main"),
    (found) => found.length > 0,
  );
  assert.deepEqual(lines, [`Exec denied (gateway id=${id}, approval timed out): touch ${canary}`]);
  const slot = await wire.request("exec.approval.resolve", { id, decision: "allow-once" });
  assert.deepEqual([slot.ok, slot.error?.message], [false, "unknown approval id"]);
  assert.equal(existsSync(canary), false);
  wire.end();
});
