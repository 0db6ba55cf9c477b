// The approvals file in every bad shape closes the host at once, and of changes made at the same time none is lost.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";

import { exec, readApprovals, until, writeApprovals } from "../harness/exec.ts";
import { dispose, openclaw, operator, startGateway, type TestGateway, type Wire } from "../harness/gateway.ts";

const open = { version: 1, defaults: { security: "full", ask: "off" }, agents: {} };

describe("an invalid approvals file", () => {
  let gateway: TestGateway;
  let path: string;
  before(async () => {
    gateway = await startGateway({ config: { tools: { exec: { host: "gateway", security: "full", ask: "off" } } } });
    path = join(gateway.state, "exec-approvals.json");
    mkdirSync(gateway.workspace, { recursive: true });
  });
  after(() => dispose(gateway));

  const shapes: Record<string, () => void> = {
    "a link to a file an agent may write": () => {
      writeFileSync(join(gateway.workspace, "mine.json"), JSON.stringify(open));
      symlinkSync(join(gateway.workspace, "mine.json"), path);
    },
    "a link to nothing": () => symlinkSync(join(gateway.workspace, "nothing.json"), path),
    "a link to itself": () => symlinkSync(path, path),
    "a pipe": () => execFileSync("mkfifo", [path]),
    "a folder": () => mkdirSync(path),
    "an endless device": () => symlinkSync("/dev/zero", path),
    "larger than anybody writes": () => writeFileSync(path, `${JSON.stringify(open)}${" ".repeat(5_000_000)}`),
    empty: () => writeFileSync(path, ""),
    "half a file": () => writeFileSync(path, JSON.stringify(open).slice(0, -5)),
    "no JSON": () => writeFileSync(path, "security: full"),
    "JSON of another kind": () => writeFileSync(path, "[]"),
    null: () => writeFileSync(path, "null"),
    "nested without end": () => writeFileSync(path, "[".repeat(200_000)),
    "a version nobody knows": () => writeFileSync(path, JSON.stringify({ ...open, version: 2 })),
    "an agent that is no object": () => writeFileSync(path, JSON.stringify({ ...open, agents: { main: "full" } })),
    "an allowlist that is none": () =>
      writeFileSync(
        path,
        JSON.stringify({ ...open, agents: { main: { allowlist: { 0: { pattern: "/bin/touch" } } } } }),
      ),
  };
  for (const [shape, make] of Object.entries(shapes))
    test(`${shape}: no command runs, and the error says why`, { timeout: 300_000 }, async () => {
      rmSync(path, { recursive: true, force: true });
      rmSync(join(gateway.workspace, "ran"), { force: true });
      make();
      const { error, status } = await exec(gateway, { command: "touch ran" });
      assert.notEqual(status, 200);
      assert.equal(error?.type, "approvals.unreadable", error?.message);
      assert.match(error?.message ?? "", /exec-approvals\.json/);
      assert.equal(existsSync(join(gateway.workspace, "ran")), false);
    });

  test("an unknown value counts as the strictest one", async () => {
    rmSync(path, { recursive: true, force: true });
    writeApprovals(gateway.state, { defaults: { security: "everything", ask: "never" } });
    assert.equal((await exec(gateway, { command: "touch ran" })).error?.type, "exec.denied");
    assert.equal(existsSync(join(gateway.workspace, "ran")), false);
  });

  test("commands run again without a restart once the file is repaired", async () => {
    rmSync(path, { recursive: true, force: true });
    writeApprovals(gateway.state, {});
    assert.equal((await exec(gateway, { command: "touch ran" })).details["status"], "completed");
  });
});

describe("concurrent changes", () => {
  let gateway: TestGateway;
  let wire: Wire;
  before(async () => {
    gateway = await startGateway({ config: { tools: { exec: { host: "gateway", ask: "on-miss" } } } });
    mkdirSync(gateway.workspace, { recursive: true });
    writeApprovals(gateway.state, { agents: { main: { allowlist: [{ pattern: "/usr/bin/uname" }] } } });
    wire = await operator(gateway);
  });
  after(async () => {
    wire.end();
    await dispose(gateway);
  });

  interface Snapshot {
    readonly hash: string;
    readonly file: { readonly agents?: Record<string, { readonly allowlist?: { readonly pattern: string }[] }> };
  }
  const patterns = (): string[] => {
    const { agents } = readApprovals(gateway.state) as Snapshot["file"];
    return Object.values(agents ?? {}).flatMap(({ allowlist = [] }) => allowlist.map(({ pattern }) => pattern));
  };
  /** As a page does: read, add, write, and again when somebody was faster. */
  async function addByWire(pattern: string): Promise<void> {
    for (;;) {
      const { hash, file } = await wire.call("exec.approvals.get", {});
      const other = file.agents?.["other"] ?? {};
      const allowlist = [...(other.allowlist ?? []), { pattern }];
      const next = { ...file, agents: { ...file.agents, other: { ...other, allowlist } } };
      if ((await wire.request("exec.approvals.set", { file: next, baseHash: hash })).ok === true) return;
    }
  }
  async function addByCommandLine(pattern: string): Promise<void> {
    for (;;) {
      const { code, stderr } = await openclaw(gateway.home, [
        "approvals",
        "allowlist",
        "add",
        pattern,
        "--agent",
        "cli",
      ]);
      if (code === 0) return;
      assert.match(stderr, /changed since|base hash/, stderr);
    }
  }
  async function always(name: string): Promise<void> {
    const { details, text } = await exec(gateway, { command: `touch ${name}` });
    assert.equal(details["status"], "approval-pending", text);
    const id = details["approvalId"];
    assert.equal((await wire.request("exec.approval.resolve", { id, decision: "allow-always" })).ok, true);
    await until(() => existsSync(join(gateway.workspace, name)), Boolean);
  }

  test("page, command line, always-allow and usage notes are all in the file", async () => {
    const names = Array.from({ length: 8 }, (_, at) => `n${at}`);
    await Promise.all([
      ...names.map((name) => addByWire(`/opt/wire/${name}`)),
      ...names.slice(0, 4).map((name) => addByCommandLine(`/opt/cli/${name}`)),
      ...names.map((name) => always(`made-${name}`)),
      ...Array.from({ length: 20 }, () => exec(gateway, { command: "/usr/bin/uname" })),
    ]);
    const found = patterns();
    assert.deepEqual(
      found.filter((pattern) => pattern.startsWith("/opt/")).sort(),
      [...names.slice(0, 4).map((name) => `/opt/cli/${name}`), ...names.map((name) => `/opt/wire/${name}`)].sort(),
    );
    for (const name of names) {
      const again = await exec(gateway, { command: `touch made-${name}` });
      assert.equal(again.details["status"], "completed", `allow always for ${name} was lost`);
    }
  });
});
