// Keys of tools.exec through the front door: of one agent, of the environment, the shell, and changed while it runs.
import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { exec, proc, until } from "../../harness/exec.ts";
import { dispose, openclaw, operator, startGateway, tempHome } from "../../harness/gateway.ts";

const as = (agent: string) => ({ body: { sessionKey: `agent:${agent}:main` } });

test("keys of one agent: the running notice of an approved command, and apply_patch", async (t) => {
  const gateway = await startGateway({
    config: {
      tools: { exec: { host: "gateway", approvalRunningNoticeMs: 0 } },
      agents: {
        list: [
          { id: "main", default: true },
          { id: "told", tools: { exec: { approvalRunningNoticeMs: 1, applyPatch: { enabled: true } } } },
        ],
      },
    },
  });
  t.after(() => dispose(gateway));
  for (const id of ["", "-told"]) mkdirSync(gateway.workspace + id, { recursive: true });
  const wire = await operator(gateway);
  const noticed = async (agent: string): Promise<string[]> => {
    const sessionKey = `agent:${agent}:main`;
    const { details } = await exec(gateway, { command: "sleep 2; echo over" }, as(agent));
    await wire.request("exec.approval.resolve", { id: details["approvalId"], decision: "allow-once" });
    const lines = await until(
      async () => {
        const payload = await wire.call("system-events.list", { sessionKey });
        return payload.events.map(({ text }) => text);
      },
      (found) => found.some((line) => line.startsWith("Exec finished")),
    );
    return lines.map((line) => line.split(" (")[0] ?? "");
  };
  assert.deepEqual(await noticed("main"), ["Exec finished"]);
  assert.deepEqual(await noticed("told"), ["Exec running", "Exec finished"]);
  const offered = async (agentId: string): Promise<boolean | undefined> => {
    const { tools } = await wire.call("tools.catalog", { agentId, model: "openai/gpt-5.2" });
    return tools.find(({ name }) => name === "apply_patch")?.available;
  };
  assert.deepEqual([await offered("main"), await offered("told")], [false, true]);
  wire.end();
});

test("limits of the gateway's environment apply where the config sets none", async (t) => {
  const gateway = await startGateway({
    config: {
      agents: {
        list: [
          { id: "main", default: true },
          { id: "own", tools: { exec: { backgroundMs: 60_000 } } },
        ],
      },
    },
    env: {
      PI_BASH_YIELD_MS: "50",
      PI_BASH_MAX_OUTPUT_CHARS: "1500",
      OPENCLAW_BASH_PENDING_MAX_OUTPUT_CHARS: "1200",
    },
  });
  t.after(() => dispose(gateway));
  const get = await openclaw(gateway.home, ["config", "get", "tools.exec.backgroundMs"], { PI_BASH_YIELD_MS: "50" });
  assert.equal(get.stdout.trim(), "50");
  const quick = await exec(gateway, { command: "seq 2000; sleep 3; echo end" });
  assert.equal(quick.details["status"], "running");
  const { sessionId } = quick.details;
  await until(
    () => proc(gateway, { action: "log", sessionId, limit: 1 }),
    ({ text, details }) => details["status"] === "completed" && text.endsWith("end"),
  );
  const news = await proc(gateway, { action: "poll", sessionId });
  assert.deepEqual([String(news.details["aggregated"]).length, news.details["truncated"]], [1200, true]);
  assert.match(news.text, /^\[… about \d+ characters omitted; read them with log\]/);
  const own = await exec(gateway, { command: "seq 2000; sleep 1" }, as("own"));
  const { status, truncated, aggregated } = own.details;
  assert.deepEqual([status, truncated, String(aggregated).length], ["completed", true, 1500]);
});

test("SHELL runs a command line; where it is unset or missing, sh", async (t) => {
  const shellOf = async (shell: (home: string) => Record<string, string>): Promise<string> => {
    const home = tempHome();
    writeFileSync(join(home, "own-shell"), '#!/bin/sh\necho "own shell: $1 $2"\n', { mode: 0o755 });
    const gateway = await startGateway({ home, env: shell(home) });
    t.after(() => dispose(gateway));
    return (await exec(gateway, { command: "echo run by ${BASH_VERSION:+bash}" })).text.trim();
  };
  assert.deepEqual(
    {
      own: await shellOf((home) => ({ SHELL: join(home, "own-shell") })),
      bash: await shellOf(() => ({ SHELL: "/bin/bash" })),
      gone: await shellOf((home) => ({ SHELL: join(home, "gone") })),
      unset: await shellOf(() => ({})),
    },
    { own: "own shell: -c echo run by ${BASH_VERSION:+bash}", bash: "run by bash", gone: "run by", unset: "run by" },
  );
});

test("a change of tools.exec in the file applies to the next command of a running gateway", async (t) => {
  const gateway = await startGateway({ config: { tools: { exec: {} } } });
  t.after(() => dispose(gateway));
  const line = "echo a && echo b";
  assert.equal((await exec(gateway, { command: line })).details["status"], "completed");
  const set = (key: string, value: string): Promise<{ readonly code: number | null }> =>
    openclaw(gateway.home, ["config", "set", `tools.exec.${key}`, value]);
  assert.equal((await set("host", "gateway")).code, 0);
  await until(
    () => exec(gateway, { command: line }),
    ({ error }) => error?.details?.["rule"] === "exec.nobody-to-ask",
  );
  assert.equal((await set("security", "full")).code, 0);
  await until(
    () => exec(gateway, { command: line }),
    ({ details }) => details["status"] === "completed",
  );
  assert.equal((await set("security", "deny")).code, 0);
  await until(
    () => exec(gateway, { command: line }),
    ({ error }) => error?.details?.["security"] === "deny",
  );
});
