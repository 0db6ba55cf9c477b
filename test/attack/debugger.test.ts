// No process of the gateway opens a debugger when a command sends it SIGUSR1: whoever connects to one runs code outside.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { exec, gatewayFor, until, writeApprovals } from "../harness/exec.ts";
import { noBubblewrap } from "../harness/sandbox.ts";

const skip = process.platform === "linux" ? noBubblewrap : "reads /proc";

/** Ports that this process listens on, by its open sockets. */
function portsOf(pid: number): number[] {
  const links = execFileSync("ls", ["-l", `/proc/${pid}/fd`], { encoding: "utf8" });
  const sockets = new Set([...links.matchAll(/socket:\[(\d+)\]/g)].map(([, inode]) => inode));
  return ["tcp", "tcp6"].flatMap((table) =>
    readFileSync(`/proc/net/${table}`, "utf8")
      .split("\n")
      .map((row) => row.trim().split(/\s+/))
      .filter(([, , , status, , , , , , inode]) => status === "0A" && sockets.has(inode))
      .map(([, address = ""]) => Number.parseInt(address.split(":").at(-1) ?? "", 16)),
  );
}

const childrenOf = (pid: number): number[] =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ").filter(Boolean).map(Number);

const isLauncher = (pid: number): boolean => readFileSync(`/proc/${pid}/cmdline`, "utf8").includes("launcher");

test("a command that signals the gateway and its launcher cannot start a debugger", { skip }, async (t) => {
  const rules = { host: "gateway", security: "allowlist", ask: "off" };
  const gateway = await gatewayFor(t, { config: { tools: { exec: rules } } });
  writeApprovals(gateway.state, {
    agents: { main: { allowlist: [{ pattern: "/**/kill" }, { pattern: "/**/true" }] } },
  });
  const { pid } = gateway;
  assert.ok(pid !== undefined);
  // The launcher comes with the third command.
  const launcher = await until(
    async () => {
      await exec(gateway, { command: "true" });
      return childrenOf(pid).find(isLauncher);
    },
    (found) => found !== undefined,
  );
  const before = portsOf(pid);
  for (const target of [pid, launcher ?? 0]) {
    const { details, text } = await exec(gateway, { command: `/bin/kill -USR1 ${target}` });
    assert.equal(details["status"], "completed", text);
  }
  await sleep(500);
  assert.deepEqual(portsOf(pid), before);
  assert.deepEqual(portsOf(launcher ?? 0), []);
  assert.equal((await exec(gateway, { command: "true" })).details["status"], "completed");
});
