// Loading a config: fills in defaults, and names each problem with file, line, path and fix.
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { test, type TestContext } from "node:test";

import fc from "fast-check";

import { checker } from "../core/schema.ts";
import { checkValue } from "./check.ts";
import { makeStateFolder } from "./folder.cases.ts";
import { anyDocument } from "./json5.cases.ts";
import { loadConfig, type LoadedConfig } from "./load.ts";
import { schemaRoot } from "./schema-root.ts";
import { ConfigSchema } from "./schema/index.ts";

/** `line:column path: message (hint)` of every issue. */
function said(loaded: LoadedConfig): string[] {
  return loaded.issues.map(
    ({ path, message, line, column, hint }) =>
      `${line}:${column} ${path}: ${message}${hint === undefined ? "" : ` (${hint})`}`,
  );
}

function load(context: TestContext, text: string, env: Record<string, string> = {}): LoadedConfig {
  return loadConfig(makeStateFolder(context, { "openclaw.json": text }, env));
}

test("uses the defaults without a file", (t) => {
  const folder = makeStateFolder(t, {});
  const { exists, valid, config, parsed, raw } = loadConfig(folder);
  assert.deepEqual({ exists, valid, parsed, raw }, { exists: false, valid: true, parsed: {}, raw: "" });
  assert.deepEqual(
    [
      config.gateway?.port,
      config.gateway?.bind,
      config.tools?.fs?.workspaceOnly,
      config.agents?.defaults?.sandbox?.backend,
      config.session?.mainKey,
    ],
    [18789, "loopback", false, "auto", "main"],
  );
  assert.equal(existsSync(folder.paths.config), false);
});

test("fills no defaults into overrides and unused channels", (t) => {
  const { config, valid } = load(
    t,
    "{ agents: { list: [{ id: 'a', sandbox: {}, tools: { exec: {} } }] }, channels: { telegram: { accounts: { x: {} } } } }",
  );
  assert.equal(valid, true);
  assert.deepEqual(config.agents?.list, [{ id: "a", sandbox: {}, tools: { exec: {} } }]);
  assert.deepEqual(config.channels?.telegram?.accounts, { x: {} });
  assert.equal(config.channels?.telegram?.dmPolicy, "pairing");
  assert.equal(config.channels?.telegram?.groupPolicy, undefined);
  assert.equal(config.channels?.discord, undefined);
});

test("names unknown keys with the nearest known one", (t) => {
  const loaded = load(t, "{\n  gateway: { portt: 1 },\n  agents: { list: [{ id: 'a', tols: {} }] },\n  zzz: 1,\n}");
  assert.deepEqual(said(loaded), [
    '2:14 gateway.portt: unknown key "portt" (did you mean port?)',
    '3:31 agents.list[0].tols: unknown key "tols" (did you mean tools?)',
    '4:3 zzz: unknown key "zzz" (known here: $schema, gateway, agents, bindings, broadcast, tools, approvals, channels, session, messages, commands, models, …)',
  ]);
  assert.deepEqual([loaded.valid, loaded.config.gateway?.port], [false, 18789]);
});

const wrong: readonly (readonly [text: string, issue: string])[] = [
  ["{ gateway: { port: '1' } }", "1:14 gateway.port: must be a whole number, not text"],
  ["{ gateway: { port: 1.5 } }", "1:14 gateway.port: must be a whole number"],
  ["{ gateway: { port: 70000 } }", "1:14 gateway.port: must be at most 65535"],
  ["{ gateway: { port: Infinity } }", "1:14 gateway.port: must be a finite number"],
  ["{ gateway: { bind: 'loop' } }", "1:14 gateway.bind: must be one of loopback, lan, tailnet, auto, custom"],
  [
    "{ gateway: { bind: 'lann' } }",
    "1:14 gateway.bind: must be one of loopback, lan, tailnet, auto, custom (did you mean lan?)",
  ],
  [
    "{ agents: { defaults: { model: { primry: 'x' } } } }",
    '1:34 agents.defaults.model.primry: unknown key "primry" (did you mean primary?)',
  ],
  ["{ agents: { defaults: { model: 4 } } }", "1:25 agents.defaults.model: must be text or an object, not a number"],
  ["{ agents: { list: [{}] } }", "1:20 agents.list[0].id: is missing (add id here)"],
  ["{ tools: null }", "1:3 tools: must be an object, not null"],
  [
    "{ channels: { irc: {} } }",
    '1:15 channels.irc: unknown key "irc" (known here: defaults, whatsapp, telegram, discord, slack, googlechat, signal, imessage, bluebubbles, msteams)',
  ],
  [
    "{ session: { agentToAgent: { maxPingPongTurns: 6 } } }",
    "1:30 session.agentToAgent.maxPingPongTurns: must be at most 5",
  ],
  ["[]", "1:1 (root): must be an object"],
  ["", "1:1 (root): has no value (write {} for the defaults, or restore a version from the .bak files beside it)"],
  ["{ gateway: { port: } }", "1:20 gateway.port: not JSON5: a value is missing at 1:20"],
  ["{ a: { b: 1 c: 2 } }", "1:13 a: not JSON5: a comma is missing at 1:13"],
  ["{ a: '\\x1' }", "1:10 a: not JSON5: invalid character '\\'' at 1:10"],
  ["{ __proto__: { x: 1 } }", "1:3 __proto__: __proto__ is not a config key (remove it)"],
  ["{ tools: { constructor: 1 } }", "1:12 tools.constructor: constructor is not a config key (remove it)"],
  [
    "{ gateway: { auth: { token: '${NOPE}' } } }",
    "1:22 gateway.auth.token: the variable NOPE is not set (set NOPE, or write $${NOPE} for the text itself)",
  ],
];

for (const [text, issue] of wrong) {
  test(`rejects ${text}`, (t) => {
    assert.deepEqual(said(load(t, text)), [issue]);
  });
}

test("takes variables from the process, then .env, then the config, and replaces each once", (t) => {
  const text =
    "{ env: { A: 'config', vars: { B: 'config', C: 'config' } }, ui: { assistant: { name: '${A}|${B}|${C}|$${A}|${a}|${D}' } } }";
  const files = { "openclaw.json": text, ".env": "export B='dotenv'\nA=dotenv # note\nD=\"${A}\\n\"\n" };
  const loaded = loadConfig(makeStateFolder(t, files, { A: "process" }));
  assert.equal(loaded.config.ui?.assistant?.name, "process|dotenv|config|${A}|${a}|${A}\n");
  assert.deepEqual(
    [loaded.env["A"], loaded.env["B"], loaded.env["C"], process.env["C"]],
    ["process", "dotenv", "config", undefined],
  );
});

test("rejects variables in files that control the gateway, and reads no .env elsewhere", (t) => {
  const names = [
    "OPENCLAW_STATE_DIR",
    "NODE_OPTIONS",
    "OPENAI_BASE_URL",
    "LD_PRELOAD",
    "PATH",
    "HTTPS_PROXY",
    "GIT_SSH_COMMAND",
  ];
  const lines = names.map((name) => `${name}=evil`).join("\n");
  const files = {
    "openclaw.json": "{ env: { vars: { NODE_OPTIONS: 'evil' } } }",
    ".env": `${lines}\nOPENAI_API_KEY=k\nGITHUB_TOKEN=g\nOPENCLAW_GATEWAY_TOKEN=t\n`,
    "workspace/.env": "SPY=1",
  };
  const folder = makeStateFolder(t, files);
  const { env, warnings, valid } = loadConfig(folder);
  assert.deepEqual(
    names.filter((name) => env[name] === "evil"),
    [],
  );
  assert.deepEqual(
    [env["OPENAI_API_KEY"], env["GITHUB_TOKEN"], env["OPENCLAW_GATEWAY_TOKEN"], env["SPY"], valid],
    ["k", "g", "t", undefined, true],
  );
  assert.deepEqual(
    warnings.map(({ path }) => path),
    [...names.map((name) => `env.${name}`), "env.NODE_OPTIONS"],
  );
});

test("names legacy keys with their replacement", (t) => {
  const loaded = load(
    t,
    "{\n  routing: { allowFrom: ['+1'], odd: 1 },\n  agent: { model: 'a/b' },\n  bindings: [{ agentId: 'main', match: { channel: 'x', accountID: 'y' } }],\n  gateway: { token: 't' },\n}",
  );
  assert.deepEqual(said(loaded), [
    "2:14 routing.allowFrom: is an older key; it is now channels.whatsapp.allowFrom (move it there, or let: openclaw doctor --fix)",
    "4:56 bindings[0].match.accountID: is an older key; it is now bindings[0].match.accountId (move it there, or let: openclaw doctor --fix)",
    "3:12 agent.model: is an older key; it is now agents.defaults.model (move it there, or let: openclaw doctor --fix)",
    "5:14 gateway.token: is an older key; it is now gateway.auth.token (move it there, or let: openclaw doctor --fix)",
  ]);
  assert.deepEqual(loaded.legacyIssues, loaded.issues);
});

test("locate finds only what is written", (t) => {
  const loaded = load(t, "{\n  tools: {\n    allow: ['read'],\n  },\n}");
  const file = loaded.path;
  assert.deepEqual(loaded.locate("tools.allow[0]"), { file, line: 3, column: 13 });
  assert.equal(loaded.locate("tools.deny"), undefined);
  assert.equal(loaded.locate("not a path"), undefined);
});

test("reports duplicate keys and accepts a byte order mark", (t) => {
  const loaded = load(t, "\ufeff{ ui: { seamColor: '#112233' },\n  ui: {} }");
  assert.deepEqual(
    [loaded.valid, loaded.warnings.map(({ path, line, message }) => [path, line, message])],
    [true, [["ui", 2, "is written twice; the last one is used"]]],
  );
});

test("reports a file that is not text, not a file or nested too deep", (t) => {
  const deep = load(t, "[".repeat(100_000));
  assert.match(deep.issues[0]?.message ?? "", /nested deeper than 100 levels/);
  const objects = load(t, `{ a: ${"{ a: ".repeat(50_000)}`);
  assert.equal(objects.issues.length, 1);
  const folder = makeStateFolder(t, { "openclaw.json/inside": "" });
  assert.match(loadConfig(folder).issues[0]?.message ?? "", /is not a file$/);
});

test("the hash is that of the bytes", (t) => {
  assert.equal(load(t, "{}").hash, "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a");
});

test("validates a given text instead of the file", (t) => {
  const folder = makeStateFolder(t, { "openclaw.json": "{}" });
  assert.equal(loadConfig({ ...folder, text: "{ gateway: { port: 1 } }" }).config.gateway?.port, 1);
  assert.equal(readFileSync(folder.paths.config, "utf8"), "{}");
});

test("leaves channels of plugins to the plugins", (t) => {
  const folder = makeStateFolder(t, { "openclaw.json": "{ channels: { matrix: { any: 1 } } }" });
  const { valid, config } = loadConfig({ ...folder, channels: ["matrix"] });
  assert.deepEqual([valid, (config.channels as Record<string, unknown>)["matrix"]], [true, { any: 1 }]);
});

test("maxTokens never exceeds contextWindow", (t) => {
  const { config, warnings } = load(
    t,
    "{ models: { providers: { p: { models: [{ id: 'm', contextWindow: 100, maxTokens: 200 }, { id: 'n', contextWindow: 50 }] } } } }",
  );
  assert.deepEqual(
    config.models?.providers?.["p"]?.models?.map(({ maxTokens }) => maxTokens),
    [100, 50],
  );
  assert.deepEqual(
    warnings.map(({ path, message }) => `${path}: ${message}`),
    ["models.providers.p.models[0].maxTokens: exceeds contextWindow; 100 is used"],
  );
});

test("reports each of a thousand broken files with a path and a location, without a crash", (t) => {
  const folder = makeStateFolder(t, {});
  const valid =
    '{ gateway: { port: 1, auth: { token: "x" } }, agents: { list: [{ id: "a", tools: { allow: ["read"] } }] }, channels: { telegram: { groups: { "*": {} } } } }';
  const pieces = fc.constantFrom(
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "'",
    '"',
    "\\",
    "/*",
    "//",
    "null",
    "1",
    "NaN",
    "$include: './x'",
    "${X}",
    "__proto__: 1,",
    "\0",
    "\ud800",
    "env: 4",
    "gateway: 1,",
  );
  const broken = fc.oneof(
    fc
      .tuple(fc.nat(valid.length), fc.nat(6), pieces)
      .map(([at, cut, piece]) => valid.slice(0, at) + piece + valid.slice(at + cut)),
    anyDocument,
    fc.json(),
    fc.string(),
  );
  let refused = 0;
  fc.assert(
    fc.property(broken, (text) => {
      const loaded = loadConfig({ ...folder, text });
      assert.equal(loaded.valid, loaded.issues.length === 0);
      if (!loaded.valid) refused += 1;
      for (const issue of loaded.issues) {
        assert.notEqual(issue.path, "");
        assert.equal(issue.file, folder.paths.config);
      }
    }),
    { numRuns: 1000 },
  );
  t.diagnostic(`${refused} of 1000 texts refused`);
  assert.ok(refused > 500);
});

test("the check agrees with the schema library", () => {
  const library = checker(ConfigSchema);
  const key = fc.constantFrom(
    "gateway",
    "agents",
    "tools",
    "list",
    "defaults",
    "id",
    "port",
    "allow",
    "sandbox",
    "model",
    "channels",
    "telegram",
    "groups",
    "env",
    "vars",
    "x",
    "hooks",
    "enabled",
    "bind",
    "mode",
  );
  const leaf = fc.oneof(
    fc.string({ maxLength: 3 }),
    fc.integer({ min: -1, max: 70000 }),
    fc.boolean(),
    fc.constantFrom("local", "off", "lan", null, 1.5),
  );
  const value = fc.letrec<{ any: unknown }>((bind) => ({
    any: fc.oneof(
      { maxDepth: 5 },
      leaf,
      fc.array(bind("any"), { maxLength: 2 }),
      fc.dictionary(key, bind("any"), { maxKeys: 3 }),
    ),
  })).any;
  fc.assert(
    fc.property(fc.dictionary(key, value, { maxKeys: 3 }), (config) =>
      assert.equal(checkValue(schemaRoot, config).length === 0, library.is(config)),
    ),
    { numRuns: 2000 },
  );
});
