// tools.exec of one agent, beside the general one: rules, safe programs, times, folders, notices and its node.
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";

import { asAgent, exec, gatewayFor, linesOf, proc, until, writeApprovals } from "../../harness/exec.ts";
import { dispose, openclaw, operator, startGateway, type TestGateway } from "../../harness/gateway.ts";
import { ranFine, scriptedNode, type Asked } from "../../harness/node.ts";

describe("settings of one agent", () => {
  let gateway: TestGateway;
  let tools: string;
  before(async () => {
    tools = mkdtempSync(join(tmpdir(), "openclaw-agent-bin-"));
    writeFileSync(join(tools, "only-here"), "#!/bin/sh\necho found\n", { mode: 0o755 });
    gateway = await startGateway({
      config: {
        tools: { exec: { timeoutSec: 60, safeBins: ["wc"] } },
        agents: {
          list: [
            { id: "main", default: true },
            { id: "listed", tools: { exec: { host: "gateway", security: "allowlist", ask: "off" } } },
            { id: "tr", tools: { exec: { host: "gateway", security: "allowlist", ask: "off", safeBins: ["tr"] } } },
            { id: "short", tools: { exec: { timeoutSec: 1, backgroundMs: 60_000 } } },
            { id: "bin", tools: { exec: { pathPrepend: [tools] } } },
            { id: "quiet", tools: { exec: { notifyOnExit: false } } },
            { id: "quick", tools: { exec: { backgroundMs: 100 } } },
          ],
        },
      },
    });
    mkdirSync(gateway.workspace, { recursive: true });
    writeApprovals(gateway.state, { agents: { "*": { allowlist: [{ pattern: "/usr/bin/uname" }] } } });
  });
  after(async () => {
    await dispose(gateway);
    rmSync(tools, { recursive: true });
  });

  test("host, security and ask: other agents keep the shared ones", async () => {
    assert.equal((await exec(gateway, { command: "echo a && echo b" })).text.trim(), "a\nb");
    assert.equal((await exec(gateway, { command: "echo a && echo b" }, asAgent("listed"))).error?.type, "exec.denied");
    assert.equal((await exec(gateway, { command: "uname" }, asAgent("listed"))).details["status"], "completed");
  });

  test("safeBins of the config replace the built-in ones, and those of an agent replace both", async () => {
    const outcome = async (agent: string, command: string): Promise<unknown> => {
      const { error, details } = await exec(gateway, { command }, asAgent(agent));
      return error?.type ?? details["status"];
    };
    assert.deepEqual(
      {
        "listed wc": await outcome("listed", "uname | wc -l"),
        "listed head": await outcome("listed", "uname | head -n 1"),
        "tr tr": await outcome("tr", "uname | tr a-z A-Z"),
        "tr wc": await outcome("tr", "uname | wc -l"),
      },
      { "listed wc": "completed", "listed head": "exec.denied", "tr tr": "completed", "tr wc": "exec.denied" },
    );
  });

  test("timeoutSec, backgroundMs and pathPrepend", async () => {
    const short = await exec(gateway, { command: "sleep 30" }, asAgent("short"));
    assert.deepEqual([short.details["status"], short.details["timedOut"]], ["failed", true]);
    assert.equal((await exec(gateway, { command: "only-here" }, asAgent("bin"))).text.trim(), "found");
    assert.notEqual((await exec(gateway, { command: "only-here" })).details["exitCode"], 0);
    const quick = await exec(gateway, { command: "sleep 30" }, asAgent("quick"));
    assert.equal(quick.details["status"], "running");
    await proc(gateway, { action: "kill", sessionId: quick.details["sessionId"] }, asAgent("quick"));
  });

  test("notifyOnExit false silences that agent alone", async () => {
    const wire = await operator(gateway);
    const [quiet, loud] = await Promise.all(
      ["quiet", "main"].map((agent) => exec(gateway, { command: "sleep 0.3", background: true }, asAgent(agent))),
    );
    await until(
      () => linesOf(wire, "agent:main:main"),
      (lines) => lines.some((line) => line.includes(String(loud?.details["sessionId"]).slice(0, 8))),
    );
    await until(
      () => proc(gateway, { action: "poll", sessionId: quiet?.details["sessionId"] }, asAgent("quiet")),
      ({ details }) => details["status"] === "completed",
    );
    assert.deepEqual(await linesOf(wire, "agent:quiet:main"), []);
    wire.end();
  });
});

test("openclaw config set agents.list[0].tools.exec.node binds a running gateway's agent to a node", async (t) => {
  const gateway = await gatewayFor(t, {
    config: {
      tools: { exec: { host: "node", security: "full", ask: "off" } },
      agents: { list: [{ id: "main", default: true }] },
    },
  });
  const nodes = [await scriptedNode(gateway, { name: "lab" }), await scriptedNode(gateway, { name: "den" })];
  const [lab, den] = nodes;
  for (const node of nodes)
    node.script(({ command }: Asked) =>
      command === "system.execApprovals.get"
        ? { payload: { path: "/n", exists: true, hash: "h", file: { version: 1 } } }
        : ranFine(`${node.id}\n`),
    );
  assert.match((await exec(gateway, { command: "true" })).error?.type ?? "", /^exec\.node/);
  for (const [name, node] of [
    ["den", den],
    ["lab", lab],
  ] as const) {
    const set = await openclaw(gateway.home, ["config", "set", "agents.list[0].tools.exec.node", name]);
    assert.equal(set.code, 0, set.stderr);
    const { details } = await until(
      () => exec(gateway, { command: "true" }),
      (ran) => ran.details["aggregated"] === `${node?.id}\n`,
    );
    assert.equal(details["aggregated"], `${node?.id}\n`);
  }
  const get = await openclaw(gateway.home, ["config", "get", "agents.list"]);
  assert.match(get.stdout, /"?node"?: "lab"/);
  for (const node of nodes) node.end();
});
