// Secrets in command lines and transcripts: nowhere they are shown, by whatever way one asks.
import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";

import { exec, linesOf, proc, until } from "../harness/exec.ts";
import { call, say, startFakeOpenAI, type FakeServer } from "../fakes/openai.ts";
import { dispose, openclaw, operator, type TestGateway, type Wire } from "../harness/gateway.ts";
import { chat, messagesOf, startWithModel } from "../harness/model.ts";
import { configFile } from "../harness/restart.ts";

const S = "Hunter2-canary";
/** In the environment of the gateway, by names that say what they are. */
const KNOWN = { DB_PASS: "dbpass-canary-0123", GH_PAT: "ghpat-canary-0123", AWS_SECRET_ACCESS_KEY: "aws-canary-0123" };

/** Each runs for a while and does nothing with its words. */
const spellings = [
  `--password ${S}`,
  `--password=${S}`,
  `--password='${S} b'`,
  `--db-password "${S}"`,
  `--token ${S}`,
  `--access-token=${S}`,
  `--api-key ${S}`,
  `--apikey=${S}`,
  `--client-secret ${S}`,
  `--pass\\word ${S}`,
  `-u me:${S}`,
  `-ume:${S}`,
  `--user=me:${S}`,
  `https://me:${S}@h/x`,
  `https://${S}@h/x`,
  `'postgres://u:${S}@h/db?x=1'`,
  `-e API_TOKEN=${S}`,
  `DB_PASS=${S}`,
  `-Dx.password=${S}`,
  `-H "Authorization: Bearer ${S}"`,
  `-H 'X-Api-Key: ${S}'`,
  `'{"password":"${S}"}'`,
];
const lines = [
  ...spellings.map((words) => `sh -c 'exec sleep 20' x ${words}`),
  `GITHUB_TOKEN=${S} sleep 20`,
  `export PGPASSWORD='${S}'; sleep 20`,
  `sshpass() { sleep 20; }; sshpass -p ${S} x`,
  `mysql() { sleep 20; }; mysql -uroot -p${S} db`,
  `mytool() { sleep 20; }; mytool -p ${S}`,
  `sh -c 'sleep 20; mytool --password ${S}'`,
];

let server: FakeServer;
let gateway: TestGateway;
let wire: Wire;
before(async () => {
  server = await startFakeOpenAI((request) => {
    const last = messagesOf(request).at(-1);
    const asked = /run: (.*)/s.exec(JSON.stringify(last?.content))?.[1];
    if (last?.role === "tool" || asked === undefined) return say("done");
    return call("exec", { command: JSON.parse(`"${asked.replace(/"[^"\\]*$/s, "")}"`) as string, background: true });
  });
  gateway = await startWithModel(server, {
    env: KNOWN,
    more: {
      tools: { exec: { host: "gateway", security: "full", ask: "off" } },
      logging: { level: "debug" },
      // The config is changed below to be looked at, not to be used.
      gateway: { reload: { mode: "off" } },
      agents: {
        defaults: { model: { primary: "fake/fake-1" } },
        list: [
          { id: "main", default: true },
          { id: "careful", tools: { exec: { host: "gateway", security: "allowlist", ask: "always" } } },
        ],
      },
    },
  });
  mkdirSync(gateway.workspace, { recursive: true });
  wire = await operator(gateway, { extra: { caps: ["tool-events"] } });
});
after(async () => {
  wire.end();
  await dispose(gateway);
  await server.close();
});

function assertHidden(shown: unknown, where: string, secrets: readonly string[] = [S]): void {
  const text = typeof shown === "string" ? shown : JSON.stringify(shown);
  for (const secret of secrets) {
    const at = text.indexOf(secret);
    assert.ok(at < 0, `${where}: …${text.slice(Math.max(0, at - 120), at + 40)}…`);
  }
}

function logs(): string {
  const folder = join(gateway.state, "logs");
  const files = existsSync(folder) ? readdirSync(folder) : [];
  return [...files.map((name) => readFileSync(join(folder, name), "utf8")), gateway.output()].join("\n");
}

describe("a command line with a secret", () => {
  test("is shown without it in the process list, its answers, the journal and the log", async () => {
    for (const command of lines) {
      const { details, status, text } = await exec(gateway, { command, background: true });
      assert.equal(status, 200, `${command}: ${text}`);
      const { sessionId } = details as { sessionId: string };
      const list = await proc(gateway, { action: "list" });
      assert.match(JSON.stringify(list.details), /sleep 20/);
      assertHidden([list.text, list.details], `process list of ${command}`);
      assertHidden(await proc(gateway, { action: "poll", sessionId }), `poll of ${command}`);
      await proc(gateway, { action: "remove", sessionId });
    }
    assertHidden((await wire.request("tools.journal", { limit: 500 })).payload, "tools.journal");
    assertHidden(logs(), "logs");
  });

  test("is shown without it where it is cut off", async () => {
    for (const pad of [430, 470, 485, 492, 497]) {
      const command = `true ${"x".repeat(pad)} --password ${KNOWN.DB_PASS} ${KNOWN.GH_PAT}`;
      await exec(gateway, { command });
    }
    const { payload } = await wire.request("tools.journal", { limit: 20 });
    assertHidden(payload, "tools.journal", ["dbpass", "ghpat"]);
  });

  test("is shown without it in events, the history and the exports of the chat", async () => {
    for (const [index, command] of lines.entries()) await chat(wire, "main", `run: ${command}`, `shown-${index}`);
    await proc(gateway, { action: "list" });
    const events = wire.frames.filter(({ event }) => event === "agent").map(({ payload }) => payload);
    const tools = events.filter((event) => JSON.stringify(event).includes('"stream":"tool"'));
    assert.ok(tools.length >= 2 * lines.length, `${tools.length} tool events`);
    assertHidden(tools, "tool events");

    // What a person wrote stays as they wrote it: only the calls are command lines.
    const { messages } = await wire.call("chat.history", { sessionKey: "main", limit: 1000 });
    const own = messages.filter(({ role }) => role !== "user");
    assert.ok(own.length >= 2 * lines.length);
    assertHidden(own, "chat.history");

    const history = await openclaw(gateway.home, [
      "sessions",
      "history",
      "main",
      "--limit",
      "1000",
      "--tools",
      "--json",
    ]);
    assert.equal(history.code, 0, history.stderr);
    const said = (JSON.parse(history.stdout) as { messages: { role: string }[] }).messages;
    assertHidden(
      said.filter(({ role }) => role !== "user"),
      "openclaw sessions history",
    );

    const exported = await openclaw(gateway.home, ["sessions", "export", "main"]);
    assert.equal(exported.code, 0, exported.stderr);
    const rows = exported.stdout.split("\n").filter((row) => row !== "" && !row.includes('"role":"user"'));
    assert.ok(rows.length >= 2 * lines.length);
    assertHidden(rows, "openclaw sessions export");

    const tool = await wire.call("tools.invoke", {
      tool: "sessions_history",
      args: { sessionKey: "main", limit: 1000, includeTools: true },
    });
    const read = tool.result.details as { messages: { role: string }[] };
    assertHidden(
      read.messages.filter(({ role }) => role !== "user"),
      "sessions_history",
    );
    for (const { sessionId } of (await proc(gateway, { action: "list" })).details["sessions"] as {
      sessionId: string;
    }[])
      await proc(gateway, { action: "remove", sessionId });
  });

  test("is shown to the owner who decides, and without the secret afterwards", async () => {
    const command = `echo hi --password ${S}`;
    const asked = await exec(gateway, { command }, { body: { sessionKey: "agent:careful:main" } });
    assert.equal(asked.details["status"], "approval-pending", asked.text);
    const id = asked.details["approvalId"];
    const { pending } = await wire.call("exec.approvals.pending", {});
    assert.deepEqual(
      pending.map(({ request }) => request.command),
      [command],
    );
    await wire.request("exec.approval.resolve", { id, decision: "deny" });
    const recent = await until(
      () => wire.call("exec.approvals.pending", { recent: 10 }),
      (answer) => (answer.recent ?? []).length > 0,
    );
    assertHidden(recent, "answered approvals");
    assertHidden(await linesOf(wire, "agent:careful:main"), "system events");
    assertHidden(logs(), "logs");
    const shown = await openclaw(gateway.home, ["approvals", "pending", "--json"]);
    assertHidden(shown.stdout, "openclaw approvals pending");
  });
});

test("masks known secrets in every view of the session, also where a text is cut off", async () => {
  const values = Object.values(KNOWN);
  const words = `${"y".repeat(15_990)}${values[0] ?? ""} and ${values.join(" ")}`;
  await chat(wire, "agent:main:said", words, "said-1");
  await chat(wire, "agent:main:said", values.join(" "), "said-2");
  const halves = values.map((value) => value.slice(0, 9));
  const asked: [string, Record<string, unknown>][] = [
    ["chat.history", { sessionKey: "agent:main:said" }],
    ["sessions.preview", { keys: ["agent:main:said"] }],
    ["sessions.list", { includeLastMessage: true, includeDerivedTitles: true }],
  ];
  for (const [method, params] of asked) {
    const { ok, payload } = await wire.request(method, params);
    assert.equal(ok, true, method);
    // A long value keeps four characters of its beginning, to tell which one it was.
    assertHidden(payload, method, halves);
  }
  const exported = await openclaw(gateway.home, ["sessions", "export", "agent:main:said"], KNOWN);
  assert.equal(exported.code, 0, exported.stderr);
  assertHidden(exported.stdout, "openclaw sessions export", values);
});

test("keeps the environment's secrets masked after a setting is overridden", async () => {
  await chat(wire, "main", "/debug set logging.level info", "debug-1");
  writeFileSync(join(gateway.workspace, "leak.txt"), Object.values(KNOWN).join("\n"));
  const { text } = await exec(gateway, { command: "cat leak.txt" });
  assertHidden(text, "exec after /debug", Object.values(KNOWN));
  await chat(wire, "main", "/debug reset", "debug-2");
});

test("config.get hides values that repeat a secret, by reference, inside longer texts and literally", async () => {
  const before = readFileSync(configFile(gateway), "utf8");
  const base = JSON.parse(before) as { models: { providers: object } } & Record<string, unknown>;
  const written = {
    ...base,
    channels: { telegram: { botToken: "${TG}", name: "bot ${TG} here" } },
    messages: { responsePrefix: "${TG}" },
    ui: { assistant: { name: "x ${GH_PAT} y" } },
    env: { vars: { TG: "telegram-canary-0123", OTHER: "telegram-canary-0123", PLAIN: "hello ${TG}" } },
    models: {
      ...base.models,
      providers: {
        ...base.models.providers,
        other: { baseUrl: "http://127.0.0.1:1/${TG}/v1", apiKey: "written-canary-0123", models: [] },
      },
    },
    session: { identityLinks: { a: ["written-canary-0123"], b: ["plain"] } },
  };
  writeFileSync(configFile(gateway), JSON.stringify(written, null, 2));
  const secrets = ["telegram-canary", "ghpat-canary", "written-canary"];
  const answer = await wire.call("config.get", {});
  assert.deepEqual([answer.valid, answer.issues], [true, []]);
  assertHidden(answer, "config.get", secrets);
  const { session } = answer.config as { session: Record<string, unknown> };
  assert.deepEqual(session["identityLinks"], { a: ["__OPENCLAW_REDACTED__"], b: ["plain"] });
  const tool = await wire.request("tools.invoke", { tool: "gateway", args: { action: "config.get" } });
  assertHidden(tool, "the gateway tool", secrets);
  for (const path of [[], ["session"], ["channels"], ["models"], ["ui"], ["env"]])
    assertHidden(
      (await openclaw(gateway.home, ["config", "get", ...path, "--json"], KNOWN)).stdout,
      `openclaw config get ${path.join("")}`,
      secrets,
    );
  // What was hidden comes back as it was written, from either form a client sends.
  for (const raw of [answer.raw, JSON.stringify(answer.config)]) {
    const { hash } = await wire.call("config.get", {});
    const saved = await wire.request("config.set", { raw, baseHash: hash });
    assert.equal(saved.ok, true, JSON.stringify(saved.error));
    assert.deepEqual(JSON.parse(readFileSync(configFile(gateway), "utf8")), JSON.parse(JSON.stringify(written)));
  }
  writeFileSync(configFile(gateway), before);
});
