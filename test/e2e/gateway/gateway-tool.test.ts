// The gateway tool through the front door: restarts, config for agents, what waits for the owner, and who is told after.
import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";

import { call as callTool, linesOf, until } from "../../harness/exec.ts";
import { call, say, startFakeOpenAI, type FakeServer, type Reply } from "../../fakes/openai.ts";
import {
  dispose,
  freePort,
  operator,
  root,
  startGateway,
  tempHome,
  type TestGateway,
  type Wire,
} from "../../harness/gateway.ts";
import { chat, messagesOf, modelConfig, type ModelMessage } from "../../harness/model.ts";
import type { PendingApprovals } from "../../../src/protocol/methods/approvals.ts";

/** A config as people write it: JSON5 with comments. */
async function writeHome(home: string, parts: Record<string, unknown>, head: string): Promise<void> {
  const state = join(home, ".openclaw");
  mkdirSync(state, { recursive: true, mode: 0o700 });
  const gateway = {
    mode: "local",
    port: await freePort(),
    auth: { mode: "token", token: "test-token-0123456789abcdef" },
    ...(parts["gateway"] as object | undefined),
  };
  const body = JSON.stringify({ ...parts, gateway }, null, 2);
  writeFileSync(join(state, "openclaw.json"), body.replace("{", `{\n${head}`), { mode: 0o600 });
}

const configText = (gateway: TestGateway): string => readFileSync(join(gateway.state, "openclaw.json"), "utf8");
const pendingOf = async (wire: Wire): Promise<PendingApprovals["pending"]> =>
  (await wire.call("exec.approvals.pending", {})).pending;
/** While it restarts nobody listens for a moment. */
const connected = async (gateway: TestGateway): Promise<Wire> => {
  const wire = await until(
    () => operator(gateway).catch(() => undefined),
    (found) => found !== undefined,
  );
  assert.ok(wire);
  return wire;
};

describe("an agent that changes the config", () => {
  let script: (last: ModelMessage) => Reply = () => say("hello");
  let server: FakeServer;
  let gateway: TestGateway;
  const heard = (): string[] =>
    server.requests.flatMap((request) =>
      request.path.endsWith("/chat/completions") ? [JSON.stringify(messagesOf(request).at(-1)?.content)] : [],
    );
  const systemLines = (): string[] => heard().filter((text) => text.includes("System:"));

  before(async () => {
    server = await startFakeOpenAI((request) => script(messagesOf(request).at(-1) ?? { role: "none", content: "" }));
    const home = tempHome();
    const { gateway: endpoints, ...rest } = modelConfig(server);
    await writeHome(
      home,
      { gateway: endpoints as object, ...rest },
      `  // commands: ask me before anything that is not on the list\n  "tools": {\n    "exec": {\n      // never turn this off\n      "host": "gateway", "ask": "on-miss"\n    }\n  },\n`,
    );
    gateway = await startGateway({ home });
    mkdirSync(gateway.workspace, { recursive: true });
  });
  after(async () => {
    await dispose(gateway);
    await server.close();
  });

  test("config.patch that loosens its own exec policy waits for approval, is then applied once, and keeps comments", async () => {
    const wire = await operator(gateway);
    script = ({ role, content }) => {
      if (String(content).includes("System:")) return say("It is done.");
      return role === "tool"
        ? say("I wait for your yes.")
        : call("gateway", {
            action: "config.patch",
            raw: "{tools:{exec:{ask:'off',security:'full'}}}",
            note: "so that I can \u202erun everything",
            delayMs: 50,
          });
    };
    const before = configText(gateway);
    await chat(wire, "main", "loosen yourself", "run-loosen");
    assert.match(heard().at(-1) ?? "", /needs the owner's approval[\s\S]*Nothing is written yet/);
    assert.equal(configText(gateway), before, "not one byte before the answer");
    const [asked, ...others] = await pendingOf(wire);
    assert.deepEqual(others, []);
    assert.equal(asked?.kind, "config");
    assert.match(asked?.card.text ?? "", /^-.*"ask": "on-miss"$/m);
    assert.match(asked?.card.text ?? "", /^\+.*"ask": "off"/m);
    assert.equal(asked?.card.always, undefined);
    const rows = asked?.card.rows.map(({ label, value }) => `${label}: ${value}`) ?? [];
    assert.ok(
      rows.some((row) => row.startsWith("protected: tools.exec.ask (changed): ")),
      rows.join("\n"),
    );
    assert.ok(
      rows.some((row) => row.startsWith("protected: tools.exec.security (set): ")),
      rows.join("\n"),
    );
    assert.ok(rows.includes("its note: so that I can \\u{202e}run everything"), rows.join("\n"));
    assert.ok(rows.includes("session: agent:main:main"), rows.join("\n"));
    const always = await wire.request("exec.approval.resolve", { id: asked?.id, decision: "allow-always" });
    assert.equal(always.ok, false, "there is no always for a config change");
    const answers = await Promise.all(
      Array.from({ length: 5 }, () => wire.request("exec.approval.resolve", { id: asked?.id, decision: "allow-once" })),
    );
    assert.equal(answers.filter(({ ok }) => ok).length, 1, "one answer counts");
    await wire.closed;
    const text = configText(gateway);
    assert.match(text, /\/\/ commands: ask me before anything/);
    assert.match(text, /\/\/ never turn this off\n\s*"host": "gateway", "ask": "off"/);
    assert.match(text, /"security": "full"/);
    await until(systemLines, (lines) => lines.some((line) => line.includes("config.patch done")));
    await new Promise((resolve) => setTimeout(resolve, 700));
    const told = systemLines().filter((line) => line.includes("config.patch done"));
    assert.equal(told.length, 1, "the session is told once");
    assert.match(told[0] ?? "", /The owner allowed it/);
    assert.equal(existsSync(join(gateway.state, "restart-sentinel.json")), false);
    assert.equal(existsSync(join(gateway.state, "openclaw.json.bak.1")), false, "written once");
    const again = await operator(gateway);
    assert.deepEqual(await pendingOf(again), []);
    again.end();
  });

  test("config.patch of a harmless key is written immediately, the gateway restarts, and the session wakes with the note", async () => {
    const wire = await operator(gateway);
    script = ({ role, content }) => {
      if (String(content).includes("System:")) return say("Hello again.");
      return role === "tool"
        ? say("Renamed.")
        : call("gateway", {
            action: "config.patch",
            raw: "{ui:{assistant:{name:'Ada'}}}",
            note: "renamed you",
            delayMs: 60,
          });
    };
    const before = systemLines().length;
    await chat(wire, "main", "call yourself Ada", "run-rename");
    await wire.closed;
    await until(systemLines, (lines) => lines.length > before);
    assert.match(
      systemLines().at(-1) ?? "",
      /Gateway restarted \(config\.patch done, requested [^)]+\)\\n {2}renamed you/,
    );
    assert.match(configText(gateway), /"name": "Ada"/);
    assert.match(configText(gateway), /\/\/ never turn this off/);
  });
});

describe("the gateway tool", () => {
  let gateway: TestGateway;
  const tool = async (args: Record<string, unknown>, sessionKey = "main"): ReturnType<typeof callTool> => {
    (await connected(gateway)).end();
    return callTool(gateway, "gateway", args, { body: { sessionKey } });
  };
  const starts = (): number => gateway.output().match(/listening on/g)?.length ?? 0;
  const eventsOf = async (sessionKey: string): Promise<string[]> => {
    const wire = await connected(gateway);
    const payload = await wire.call("system-events.list", { sessionKey });
    wire.end();
    return payload.events.map(({ text }) => text);
  };
  const patch = async (raw: string): Promise<void> => {
    const wire = await connected(gateway);
    const { hash } = await wire.call("config.get", {});
    const { ok, error } = await wire.request("config.set", { raw, baseHash: hash });
    assert.equal(ok, true, JSON.stringify(error));
    wire.end();
  };

  before(async () => {
    const home = tempHome();
    await writeHome(home, {}, "  // this is mine\n");
    gateway = await startGateway({ home });
    mkdirSync(gateway.workspace, { recursive: true });
  });
  after(() => dispose(gateway));

  test("restart is off by default and names the key that enables it (App. E 8)", async () => {
    const { error } = await tool({ action: "restart" });
    assert.equal(error?.type, "gateway.restart-off");
    assert.match(error?.message ?? "", /commands\.restart/);
    gateway.process.kill("SIGUSR1");
    await until(
      () => gateway.output(),
      (text) => /SIGUSR1 ignored/.test(text),
    );
    assert.equal(starts(), 1);
  });

  test("config.get returns the config with its hash and without secrets, or one part of it", async () => {
    const { details } = await tool({ action: "config.get" });
    assert.match(String(details["hash"]), /^[0-9a-f]{64}$/);
    assert.deepEqual((details["config"] as { gateway: { auth: unknown } }).gateway.auth, {
      mode: "token",
      token: "__OPENCLAW_REDACTED__",
    });
    const part = await tool({ action: "config.get", path: "gateway.reload" });
    assert.deepEqual(part.details["value"], { mode: "hybrid", debounceMs: 300 });
    assert.equal(part.details["written"], false);
    assert.equal((await tool({ action: "config.get", path: "no.such" })).error?.type, "config.no-path");
  });

  test("config.schema returns the sections, then the keys of one with type, default and owner", async () => {
    const all = await tool({ action: "config.schema" });
    assert.ok(all.text.length < 12_000, String(all.text.length));
    assert.match(all.text, /^tools \[owner\]: object/m);
    const part = await tool({ action: "config.schema", path: "agents.defaults.heartbeat" });
    assert.match(part.text, /^agents\.defaults\.heartbeat\.every: text/m);
    assert.match(part.text, /^agents\.defaults\.heartbeat\.to \[owner\]: /m);
    assert.equal((part.details["schema"] as { type: string }).type, "object");
    const list = await tool({ action: "config.schema", path: "agents.list[0].tools" });
    assert.match(list.text, /^agents\.list\[\]\.tools\.deny \[owner\]: list of text/m);
    const big = await tool({ action: "config.schema", path: "channels" });
    assert.ok(big.text.length < 30_000, String(big.text.length));
  });

  test("refuses unknown, mistyped and missing arguments", async () => {
    for (const args of [
      { action: "config.patch" },
      { action: "config.patch", raw: "" },
      { action: "nope" },
      { action: "restart", surprise: 1 },
      { action: "restart", timeoutMs: "soon" },
      { action: "config.patch", raw: "{}", delayMs: -1 },
      {},
    ])
      assert.equal((await tool(args)).status, 400, JSON.stringify(args));
  });

  test("config.apply restarts although restart is off, and informs the session that asked (App. E 8)", async () => {
    const { details } = await tool({ action: "config.get" });
    const raw = JSON.stringify({ ...(details["config"] as object), ui: { assistant: { name: "Ada" } } });
    const before = starts();
    const done = await tool(
      { action: "config.apply", raw, baseHash: details["hash"], note: "by apply", delayMs: 20 },
      "agent:main:errand",
    );
    assert.deepEqual(done.details["restart"], { ok: true, delayMs: 20, reason: "config.apply" });
    await until(starts, (count) => count === before + 1);
    await until(
      () => eventsOf("agent:main:errand"),
      (lines) => lines.length === 1,
    );
    assert.match((await eventsOf("agent:main:errand"))[0] ?? "", /config\.apply done[\s\S]*by apply/);
    assert.match(configText(gateway), /\/\/ this is mine/);
  });

  test("without delayMs the restart waits two seconds, so that a reply is sent", async () => {
    const wire = await connected(gateway);
    const before = starts();
    const done = await tool({ action: "config.patch", raw: "{ui:{assistant:{name:'Bea'}}}" });
    assert.equal((done.details["restart"] as { delayMs: number }).delayMs, 2000);
    assert.equal((await wire.request("health", {})).ok, true);
    await wire.closed;
    await until(starts, (count) => count === before + 1);
  });

  test("config.patch: null removes, lists are replaced, a stale baseHash is refused with a diff (App. E 6)", async () => {
    await patch(configText(gateway).replace('"name": "Bea"', '"name": "Bea", "avatar": "B"'));
    const stale = await tool({ action: "config.patch", raw: "{ui:{seamColor:'#ffffff'}}", baseHash: "0".repeat(64) });
    assert.equal(stale.error?.type, "config.conflict");
    const { details } = await tool({ action: "config.get" });
    await patch(configText(gateway).replace('"Bea"', '"Cleo"'));
    const slot = await tool({ action: "config.patch", raw: "{ui:{seamColor:'#ffffff'}}", baseHash: details["hash"] });
    assert.match(slot.error?.message ?? "", /^-.*Bea[\s\S]*^\+.*Cleo/m);
    const before = starts();
    const done = await tool({
      action: "config.patch",
      raw: "{ui:{assistant:{name:null}},session:{resetTriggers:['/again']}}",
      delayMs: 0,
    });
    assert.equal(done.details["changed"], true, done.text);
    await until(starts, (count) => count === before + 1);
    const { config } = (await tool({ action: "config.get" })).details as { config: Record<string, unknown> };
    assert.deepEqual(
      [config["ui"], config["session"]],
      [{ assistant: { avatar: "B" } }, { resetTriggers: ["/again"] }],
    );
  });

  test("the operator's config.patch needs the base hash, refuses a stale one, and leaves a note for its session (App. E 6)", async () => {
    const wire = await connected(gateway);
    const raw = "{ui:{assistant:{name:'Dora'}}}";
    assert.match((await wire.request("config.patch", { raw })).error?.message ?? "", /base hash required/);
    assert.match(
      (await wire.request("config.patch", { raw, baseHash: "1".repeat(64) })).error?.message ?? "",
      /changed since last load/,
    );
    const { hash } = await wire.call("config.get", {});
    const nobody = await wire.request("config.patch", { raw, baseHash: hash, sessionKey: "agent:nobody:main" });
    assert.equal(nobody.ok, false, "who is told must exist, or nothing is written");
    assert.doesNotMatch(configText(gateway), /Dora/);
    const done = await wire.request("config.patch", {
      raw,
      baseHash: hash,
      sessionKey: "agent:main:desk",
      note: "from me",
      restartDelayMs: 0,
    });
    assert.equal(done.ok, true, JSON.stringify(done.error));
    await wire.closed;
    await until(
      () => eventsOf("agent:main:desk"),
      (lines) => lines.some((line) => line.includes("from me")),
    );
  });

  test(
    "update.run without a checkout behind its upstream changes nothing and names the command",
    { skip: existsSync(join(root, ".git")) && "this is a checkout: it would be fetched" },
    async () => {
      const { details } = await tool({ action: "update.run" });
      assert.equal(details["status"], "skipped");
    },
  );

  test("subagents and sandboxed sessions do not have it; it belongs to group:automation", async () => {
    assert.equal((await tool({ action: "config.get" }, "agent:main:subagent:s1")).status, 404);
    const { details } = await callTool(
      gateway,
      "gateway",
      { action: "config.get" },
      { body: { sessionKey: "agent:main:subagent:s1" } },
    );
    assert.match(JSON.stringify(details), /sub-?agent/i);
    await patch(configText(gateway).replace("{", '{ "tools": { "deny": ["group:automation"] },'));
    await until(
      () => tool({ action: "config.get" }),
      ({ status }) => status === 404,
    );
  });
});

test("with commands.restart it restarts in place after delayMs; three sessions cause one restart and a notice for each", async () => {
  const gateway = await startGateway({ config: { commands: { restart: true } } });
  const starts = (): number => gateway.output().match(/listening on/g)?.length ?? 0;
  const answers = await Promise.all(
    [0, 1, 2].map((at) =>
      callTool(
        gateway,
        "gateway",
        { action: "restart", delayMs: 4000, note: `n${at}` },
        { body: { sessionKey: `agent:main:r${at}` } },
      ),
    ),
  );
  assert.deepEqual(
    answers.map(({ details }) => details["restart"]),
    answers.map(() => ({ ok: true, delayMs: 4000, reason: "restart" })),
  );
  await until(starts, (count) => count === 2);
  const wire = await connected(gateway);
  for (const at of [0, 1, 2]) {
    const { events } = await wire.call("system-events.list", { sessionKey: `agent:main:r${at}` });
    assert.match(
      events.map(({ text }) => text).join("|"),
      new RegExp(`^Gateway restarted \\(restart done, requested [^)]+\\)\nn${at}$`),
    );
  }
  wire.end();
  assert.equal(starts(), 2);
  assert.equal(gateway.process.exitCode, null, "the same process");
  await dispose(gateway);
});

test("update.run over the wire needs operator.admin and refuses unknown parameters", async () => {
  const gateway = await startGateway({ config: {} });
  const writer = await connected(gateway);
  const refusal = async (wire: Wire, params: object): Promise<string> =>
    (await wire.request("update.run", params)).error?.message ?? "let in";
  assert.equal(await refusal(writer, { __bad: 1 }), "invalid update.run params: at root: unexpected property '__bad'");
  const other = await operator(gateway, { scopes: ["operator.write"] });
  assert.equal(await refusal(other, {}), "missing scope: operator.admin");
  writer.end();
  other.end();
  await dispose(gateway);
});

test("a pending change survives kill -9; the answer then applies it once", async () => {
  const home = tempHome();
  await writeHome(home, {}, "  // kept\n");
  const first = await startGateway({ home });
  const asked = await callTool(first, "gateway", {
    action: "config.patch",
    raw: "{tools:{deny:['exec']}}",
    delayMs: 0,
  });
  assert.equal(asked.details["status"], "approval-pending", asked.text);
  assert.ok(Number(asked.details["expiresAtMs"]) > Date.now());
  await first.stop("SIGKILL");
  const next = await startGateway({ home });
  const wire = await operator(next);
  const [waiting] = await pendingOf(wire);
  assert.equal(waiting?.id, asked.details["approvalId"]);
  assert.equal((await wire.request("exec.approval.resolve", { id: waiting?.id, decision: "allow-once" })).ok, true);
  await wire.closed;
  await until(
    () => callTool(next, "exec", { command: "true" }).catch(() => undefined),
    (called) => called?.status === 404,
  );
  const lines = await linesOf(await connected(next), "main");
  assert.equal(lines.filter((text) => text.includes("The owner allowed it")).length, 1, lines.join("\n"));
  assert.match(configText(next), /\/\/ kept/);
  assert.equal(existsSync(join(next.state, "openclaw.json.bak.1")), false, "written once");
  await dispose(next);
});
