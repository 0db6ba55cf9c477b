// The rest of what is promised about commands, through the front door: which shell, the keys of one agent, long output, who gets apply_patch.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test, type TestContext } from "node:test";

import { exec, proc, until, writeApprovals } from "../exec-kit.ts";
import { say, startFakeOpenAI } from "../fakes/openai.ts";
import { dispose, openclaw, operator, startGateway, type GatewayPlan, type TestGateway, type Wire } from "../kit.ts";
import { chat, modelConfig } from "../model-kit.ts";
import { ranFine, scriptedNode, type Asked } from "../node-kit.ts";

const noBubblewrap: string | false =
  spawnSync("bwrap", ["--ro-bind", "/", "/", "--unshare-all", "true"]).status === 0
    ? false
    : "needs a working bubblewrap: apt-get install -y bubblewrap";

async function gatewayFor(t: TestContext, plan: GatewayPlan): Promise<TestGateway> {
  const gateway = await startGateway(plan);
  t.after(() => dispose(gateway));
  mkdirSync(gateway.workspace, { recursive: true });
  return gateway;
}

const as = (agent: string) => ({ body: { sessionKey: `agent:${agent}:main` } });

const linesOf = async (wire: Wire, sessionKey: string): Promise<string[]> => {
  const { payload } = await wire.request("system-events.list", { sessionKey });
  return ((payload as unknown as { events?: { text: string }[] })?.events ?? []).map(({ text }) => text);
};

describe("SHELL is fish", { skip: noBubblewrap }, () => {
  let folder: string;
  before(() => {
    folder = mkdtempSync(join(tmpdir(), "openclaw-fish-"));
    // Not a shell at all: what it is given must never be something bash or sh could have run.
    writeFileSync(
      join(folder, "fish"),
      `#!${process.execPath}\nconsole.log("fish was given " + process.argv.slice(2).join(" "));\n`,
      { mode: 0o755 },
    );
  });
  after(() => rmSync(folder, { recursive: true }));

  /** A machine on which `hidden` cannot be run: a device stands over each. */
  const without = (hidden: readonly string[]): readonly string[] => [
    "bwrap",
    "--dev-bind",
    "/",
    "/",
    "--die-with-parent",
    ...hidden.filter((path) => existsSync(path)).flatMap((path) => ["--dev-bind", "/dev/null", path]),
  ];
  const told = async (t: TestContext, hidden: readonly string[], command: string): Promise<string> => {
    const env = { SHELL: join(folder, "fish"), PATH: `${folder}:/usr/bin:/bin` };
    const gateway = await gatewayFor(t, { env, under: without(hidden) });
    return (await exec(gateway, { command })).text.trim();
  };
  const bash = ["/usr/bin/bash", "/usr/local/bin/bash"];

  test("bash runs the command when it is on PATH", async (t) => {
    assert.match(await told(t, [], "readlink /proc/$$/exe; echo ${BASH_VERSION:+bash}"), /\/bash\nbash$/);
  });

  test("sh runs it where there is no bash", async (t) => {
    const answer = await told(t, bash, "readlink /proc/$$/exe; echo ${BASH_VERSION:-no bash}");
    assert.match(answer, /sh\nno bash$/);
    assert.doesNotMatch(answer, /fish/);
  });

  test("fish itself runs it where there is neither", async (t) => {
    assert.match(await told(t, [...bash, "/usr/bin/sh"], "echo marker"), /^fish was given -l?c echo marker$/);
  });
});

describe("approved commands", () => {
  const question = async (wire: Wire, gateway: TestGateway, command: string): Promise<string> => {
    const { details, error } = await exec(gateway, { command });
    assert.equal(details["status"], "approval-pending", error?.message);
    const id = String(details["approvalId"]);
    await until(
      () => wire.frames.filter(({ event }) => event === "exec.approval.requested"),
      (events) => events.some(({ payload }) => (payload as unknown as { id: string }).id === id),
    );
    return id;
  };

  test("approvalRunningNoticeMs 0: a long one is finished without a word in between", async (t) => {
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

  test("ask=always asks again after allow-always, also for what is listed", async (t) => {
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

test("nobody answers in two minutes: denied as timed out, it never runs, and a late answer is for nothing", async (t) => {
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
  const late = await wire.request("exec.approval.resolve", { id, decision: "allow-once" });
  assert.deepEqual([late.ok, late.error?.message], [false, "unknown approval id"]);
  assert.equal(existsSync(canary), false);
  wire.end();
});

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

  test("host, security and ask: the others keep the general ones", async () => {
    assert.equal((await exec(gateway, { command: "echo a && echo b" })).text.trim(), "a\nb");
    assert.equal((await exec(gateway, { command: "echo a && echo b" }, as("listed"))).error?.type, "exec.denied");
    assert.equal((await exec(gateway, { command: "uname" }, as("listed"))).details["status"], "completed");
  });

  test("safeBins of the config stand in place of the built-in ones, and those of an agent in place of both", async () => {
    const outcome = async (agent: string, command: string): Promise<unknown> => {
      const { error, details } = await exec(gateway, { command }, as(agent));
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
    const short = await exec(gateway, { command: "sleep 30" }, as("short"));
    assert.deepEqual([short.details["status"], short.details["timedOut"]], ["failed", true]);
    assert.equal((await exec(gateway, { command: "only-here" }, as("bin"))).text.trim(), "found");
    assert.notEqual((await exec(gateway, { command: "only-here" })).details["exitCode"], 0);
    const quick = await exec(gateway, { command: "sleep 30" }, as("quick"));
    assert.equal(quick.details["status"], "running");
    await proc(gateway, { action: "kill", sessionId: quick.details["sessionId"] }, as("quick"));
  });

  test("notifyOnExit false silences that agent alone", async () => {
    const wire = await operator(gateway);
    const [quiet, loud] = await Promise.all(
      ["quiet", "main"].map((agent) => exec(gateway, { command: "sleep 0.3", background: true }, as(agent))),
    );
    await until(
      () => linesOf(wire, "agent:main:main"),
      (lines) => lines.some((line) => line.includes(String(loud?.details["sessionId"]).slice(0, 8))),
    );
    await until(
      () => proc(gateway, { action: "poll", sessionId: quiet?.details["sessionId"] }, as("quiet")),
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

test("ten megabytes of output: the end is kept, the cut is said, and the log holds the beginning", async (t) => {
  const gateway = await gatewayFor(t, {});
  const flood = "echo first; head -c 10000000 /dev/zero | tr '\\0' 'x' | fold -w 100; echo; echo last";
  const { details, text } = await exec(gateway, { command: flood, yieldMs: 300_000 });
  const { status, truncated, aggregated } = details;
  assert.deepEqual({ status, truncated }, { status: "completed", truncated: true });
  assert.ok(String(aggregated).length <= 200_000 && String(aggregated).endsWith("last\n"));
  assert.ok(text.length < 210_000 && text.includes("the beginning was left out"), text.slice(0, 200));

  const later = await exec(gateway, { command: flood, background: true });
  const sessionId = later.details["sessionId"];
  await until(
    () => proc(gateway, { action: "poll", sessionId }),
    (polled) => polled.details["status"] === "completed",
  );
  assert.match((await proc(gateway, { action: "log", sessionId, offset: 0, limit: 1 })).text, /^first$/m);
  assert.match((await proc(gateway, { action: "log", sessionId, limit: 1 })).text, /^last$/m);
  const small = await exec(gateway, { command: "echo small" });
  assert.equal("truncated" in small.details, false);
});

test("a sub-agent is never elevated, though its sender is listed", { skip: noBubblewrap }, async (t) => {
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
  assert.match(error?.message ?? "", /session: sub-agents are never elevated/);
  assert.equal((await exec(gateway, { command: "pwd" }, sub)).text.trim(), "/workspace");
});

test('allow:["exec"] brings apply_patch for OpenAI models and for no other provider', async (t) => {
  const server = await startFakeOpenAI(() => say("ok"));
  t.after(() => server.close());
  const { models, ...rest } = modelConfig(server) as { models: { providers: { fake: { models: object[] } } } };
  const { fake } = models.providers;
  const openai = { ...fake, models: fake.models.map((model) => ({ ...model, id: "gpt-5.2" })) };
  const gateway = await gatewayFor(t, {
    config: {
      ...rest,
      models: { providers: { fake, openai } },
      tools: { allow: ["exec"], exec: { applyPatch: { enabled: true, allowModels: ["gpt-5.2", "fake-1"] } } },
      agents: {
        list: [
          { id: "main", default: true, model: "openai/gpt-5.2" },
          { id: "other", model: "fake/fake-1" },
        ],
      },
    },
  });
  const wire = await operator(gateway);
  const offered = async (agent: string): Promise<string[]> => {
    const from = server.requests.length;
    assert.equal((await chat(wire, `agent:${agent}:main`, "hello", `run-${agent}`)).state, "final");
    const body = server.requests.slice(from).find(({ path }) => path.endsWith("/chat/completions"))?.body;
    const { tools } = body as unknown as { tools: { function: { name: string } }[] };
    return tools.map((tool) => tool.function.name).toSorted();
  };
  assert.deepEqual(
    { openai: await offered("main"), other: await offered("other") },
    {
      openai: ["apply_patch", "exec"],
      other: ["exec"],
    },
  );
  wire.end();
});
