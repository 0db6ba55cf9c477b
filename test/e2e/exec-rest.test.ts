// What else the exec document and the acceptance list say: refusals side by side, retention, binds, apply_patch by model.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { call, exec, proc, until, writeApprovals } from "../exec-kit.ts";
import { dispose, operator, startGateway, type GatewayPlan, type TestGateway, type Wire } from "../kit.ts";

const noBubblewrap: string | false =
  spawnSync("bwrap", ["--ro-bind", "/", "/", "--unshare-all", "true"]).status === 0
    ? false
    : "needs a working bubblewrap: apt-get install -y bubblewrap";

async function withGateway(plan: GatewayPlan, work: (gateway: TestGateway) => Promise<void>): Promise<void> {
  const gateway = await startGateway(plan);
  try {
    mkdirSync(gateway.workspace, { recursive: true });
    await work(gateway);
  } finally {
    await dispose(gateway);
  }
}

describe("on the gateway's host", () => {
  let gateway: TestGateway;
  before(async () => {
    gateway = await startGateway({
      config: {
        tools: { exec: { host: "gateway", ask: "off" } },
        agents: {
          list: [
            { id: "main", default: true },
            { id: "shut", tools: { exec: { security: "deny" } } },
            { id: "none", tools: { deny: ["exec"] } },
          ],
        },
      },
      env: { SHELL: "/bin/bash" },
    });
    for (const id of ["", "-shut", "-none"]) mkdirSync(gateway.workspace + id, { recursive: true });
    writeFileSync(join(gateway.home, ".bash_profile"), 'export PATH="$PATH:/opt/from-login"\n');
  });
  after(() => dispose(gateway));
  const as = (agent: string) => ({ body: { sessionKey: `agent:${agent}:main` } });

  test("host=gateway: the PATH of the login shell is merged into the command's", async () => {
    writeApprovals(gateway.state, { agents: { main: { allowlist: [{ pattern: "/usr/bin/printenv" }] } } });
    const { text } = await exec(gateway, { command: "printenv PATH" });
    assert.ok(text.trim().split(":").includes("/opt/from-login"), text);
  });

  test("tools.deny takes exec away whatever the approvals say: its rule is named, and where a command would have run", async () => {
    writeApprovals(gateway.state, { agents: { "*": { security: "full", ask: "off" } } });
    const { error } = await exec(gateway, { command: "uname" }, as("none"));
    assert.equal(error?.type, "tool.refused");
    const explain = String(error?.details?.["explain"]);
    assert.match(explain, /agents\.list\[2\]\.tools\.deny/);
    assert.match(explain, /^If it were allowed, a call would run: on the gateway host, under approvals$/m);
    assert.match(explain, /^ {2}- host=gateway \(tools\.exec\.host\)$/m);
  });

  test("security=deny in the config is no matter of policy: exec is there, the host is closed, the file loosens nothing", async () => {
    writeApprovals(gateway.state, { agents: { "*": { security: "full", ask: "off" } } });
    const { error } = await exec(gateway, { command: "uname" }, as("shut"));
    assert.deepEqual([error?.type, error?.details?.["refused"]], ["exec.denied", true]);
  });

  test("B15 a session's security=full and ask=off let a whole line run; a deny in the file still ends it", async () => {
    const wire = await operator(gateway);
    assert.equal(
      (await wire.request("sessions.patch", { key: "main", execSecurity: "full", execAsk: "off" })).ok,
      true,
    );
    rmSync(join(gateway.state, "exec-approvals.json"));
    assert.equal((await exec(gateway, { command: "echo a && echo b" })).text.trim(), "a\nb");
    writeApprovals(gateway.state, { defaults: { security: "deny" } });
    assert.equal((await exec(gateway, { command: "uname" })).error?.type, "exec.denied");
    wire.end();
  });

  test("the journal of a call says where it ran", async () => {
    const wire = await operator(gateway);
    await exec(gateway, { command: "uname" }, as("shut"));
    const { payload } = await wire.request("tools.journal", { limit: 1 });
    const [entry] = (payload as unknown as { entries: { decision: { place: string } }[] }).entries;
    assert.equal(entry?.decision.place, "nowhere: refused before it starts");
    wire.end();
  });
});

test("B10 cleanupMs of a second is held to a minute: what ended is still there to be read", async () => {
  await withGateway({ config: { tools: { exec: { cleanupMs: 1000 } } } }, async (gateway) => {
    const { details } = await exec(gateway, { command: "echo kept", background: true });
    const polled = () => proc(gateway, { action: "poll", sessionId: details["sessionId"] });
    await until(polled, (seen) => seen.details["status"] === "completed");
    await sleep(2500);
    assert.equal((await polled()).details["status"], "completed");
  });
});

describe("B25 binds of the defaults and of an agent", { skip: noBubblewrap }, () => {
  const rows = [
    ["agent", "are joined", "all\nown"],
    ["shared", "of the agent are ignored in a box for all", "all\nno own"],
  ] as const;
  for (const [scope, words, seen] of rows)
    test(words, async () => {
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
      await withGateway({ config }, async (gateway) => {
        const { text } = await exec(gateway, { command: "cat /all/who; cat /own/who 2>/dev/null || echo no own" });
        assert.equal(text.trim(), seen);
      });
      for (const folder of folders) rmSync(folder, { recursive: true });
    });
});

describe("apply_patch", () => {
  let gateway: TestGateway;
  let wire: Wire;
  before(async () => {
    gateway = await startGateway({
      config: {
        tools: { allow: ["exec"], exec: { applyPatch: { enabled: true, allowModels: ["gpt-5.2"] } } },
        agents: {
          list: [
            { id: "main", default: true },
            { id: "plain", tools: { deny: ["apply_patch"] } },
          ],
        },
      },
    });
    wire = await operator(gateway);
  });
  after(async () => {
    wire.end();
    await dispose(gateway);
  });

  const standing = async (model: string, agentId = "main"): Promise<string> => {
    const { payload } = await wire.request("tools.catalog", { model, agentId });
    const { tools } = payload as unknown as { tools: { name: string; allowed: boolean; available: boolean }[] };
    const row = tools.find(({ name }) => name === "apply_patch");
    if (row?.allowed !== true) return "denied";
    return row.available ? "offered" : "not available";
  };

  test("allowModels: only the OpenAI models that are listed, by either provider name", async () => {
    assert.equal(await standing("openai/gpt-5.2"), "offered");
    assert.equal(await standing("openai-codex/gpt-5.2"), "offered");
    assert.equal(await standing("openai/gpt-4.1"), "not available");
    assert.equal(await standing("anthropic/gpt-5.2"), "not available");
  });

  test("tool policy still applies: a deny of an agent wins", async () => {
    assert.equal(await standing("openai/gpt-5.2", "plain"), "denied");
  });

  test("without tools.exec.applyPatch.enabled it is off, and the answer names the key", async () => {
    await withGateway({}, async (fresh) => {
      const input = "*** Begin Patch\n*** Add File: a.txt\n+a\n*** End Patch";
      const { error, text } = await call(fresh, "apply_patch", { input });
      assert.equal(error?.type, "tool.unavailable");
      assert.match(`${text} ${JSON.stringify(error?.details)}`, /applyPatch/);
      assert.equal(existsSync(join(fresh.workspace, "a.txt")), false);
    });
  });
});
