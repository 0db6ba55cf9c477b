// Keys that are valid alone but not together.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { makeStateFolder } from "./folder.cases.ts";
import { loadConfig } from "./load.ts";

const refused: readonly (readonly [text: string, ...issues: string[]])[] = [
  [
    "{ tools: { allow: ['a'], alsoAllow: ['b'] } }",
    "tools.alsoAllow: cannot be combined with allow in the same object",
  ],
  [
    "{ tools: { byProvider: { 'openai/x': { allow: [], alsoAllow: [] } } } }",
    "tools.byProvider.openai/x.alsoAllow: cannot be combined with allow in the same object",
  ],
  [
    "{ agents: { list: [{ id: 'a', tools: { allow: [], alsoAllow: [] } }] } }",
    "agents.list[0].tools.alsoAllow: cannot be combined with allow in the same object",
  ],
  [
    "{ channels: { telegram: { groups: { '-100.5': { toolsBySender: { '7': { allow: [], alsoAllow: [] } } } } } } }",
    'channels.telegram.groups["-100.5"].toolsBySender.7.alsoAllow: cannot be combined with allow in the same object',
  ],
  ["{ hooks: { enabled: true } }", "hooks.token: must be set while hooks.enabled is true"],
  [
    "{ hooks: { token: 'same' }, gateway: { auth: { token: 'same' } } }",
    "hooks.token: must not be the gateway's own secret",
  ],
  ["{ hooks: { token: 'from-env' } }", "hooks.token: must not be the gateway's own secret"],
  [
    "{ hooks: { token: 'from-env' }, gateway: { auth: { token: 'another' } } }",
    "hooks.token: must not be the gateway's own secret",
  ],
  ["{ hooks: { path: '//' } }", "hooks.path: must not be the root"],
  ["{ agents: { list: [{ id: 'Work' }, { id: 'work' }] } }", "agents.list[1].id: two agents are named work"],
  ["{ agents: { list: [{ id: '../x' }] } }", 'agents.list[0].id: not an agent id: "../x"'],
  [
    "{ agents: { list: [{ id: 'work' }] }, bindings: [{ agentId: 'wrok', match: { channel: 'slack' } }] }",
    "bindings[0].agentId: there is no agent named wrok",
  ],
  ["{ broadcast: { '123@g.us': ['main', 'ghost'] } }", 'broadcast["123@g.us"][1]: there is no agent named ghost'],
  [
    "{ channels: { telegram: { dmPolicy: 'open', allowFrom: ['1'] } } }",
    'channels.telegram.allowFrom: must contain "*" while dmPolicy is open',
  ],
  [
    "{ channels: { slack: { dm: { policy: 'open' } } } }",
    'channels.slack.dm.allowFrom: must contain "*" while dm.policy is open',
  ],
  [
    "{ channels: { signal: { accounts: { a: { dmPolicy: 'open' } } } } }",
    'channels.signal.accounts.a.allowFrom: must contain "*" while dmPolicy is open',
  ],
  [
    "{ channels: { telegram: { botToken: 't', webhookUrl: 'https://x' } } }",
    "channels.telegram.webhookUrl: needs webhookSecret as well",
  ],
  [
    "{ channels: { whatsapp: { accounts: { '../../etc': {} } } } }",
    'channels.whatsapp.accounts["../../etc"]: "../../etc" cannot be an account id',
  ],
  ["{ session: { mainKey: 'a/b' } }", 'session.mainKey: not a session key: "a/b"'],
  [
    "{ agents: { defaults: { userTimezone: 'Mars/Base' } } }",
    "agents.defaults.userTimezone: Mars/Base is not a time zone",
  ],
  ["{ gateway: { bind: 'custom' } }", "gateway.customBindHost: must be set while gateway.bind is custom"],
  [
    "{ gateway: { tailscale: { mode: 'funnel' } } }",
    "gateway.auth.mode: must be password while gateway.tailscale.mode is funnel",
  ],
];

for (const [text, ...issues] of refused) {
  test(`rejects ${text}`, (t) => {
    const loaded = loadConfig(makeStateFolder(t, { "openclaw.json": text }, { OPENCLAW_GATEWAY_TOKEN: "from-env" }));
    assert.deepEqual(
      loaded.issues.map(({ path, message }) => `${path}: ${message}`),
      issues,
    );
  });
}

test("rejects dangerous and broken patterns wherever they are used", (t) => {
  const text =
    "{ logging: { redactPatterns: ['ok', '(a+)+$'] }, messages: { groupChat: { mentionPatterns: ['('] } }, agents: { list: [{ id: 'a', groupChat: { mentionPatterns: ['(x*)*y'] } }] } }";
  const { issues } = loadConfig(makeStateFolder(t, { "openclaw.json": text }));
  assert.deepEqual(
    issues.map(({ path }) => path),
    [
      "logging.redactPatterns[1]",
      "messages.groupChat.mentionPatterns[0]",
      "agents.list[0].groupChat.mentionPatterns[0]",
    ],
  );
});

const accepted = [
  "{ tools: { profile: 'coding', alsoAllow: ['browser'] }, plugins: { entries: { x: { config: { allow: [], alsoAllow: [] } } } } }",
  "{ channels: { telegram: { dmPolicy: 'open', allowFrom: ['*'], accounts: { a: {}, b: { botToken: 'x' } } } } }",
  "{ hooks: { enabled: true, token: 'other' }, gateway: { auth: { token: 'mine' } } }",
  "{ agents: { list: [{ id: 'work' }] }, bindings: [{ agentId: 'Work', match: { channel: 'slack' } }], broadcast: { strategy: 'parallel', p: ['work'] } }",
];

for (const text of accepted) {
  test(`accepts ${text}`, (t) => {
    assert.deepEqual(loadConfig(makeStateFolder(t, { "openclaw.json": text })).issues, []);
  });
}

test("warns about several default agents", (t) => {
  const text = "{ agents: { list: [{ id: 'a', default: true }, { id: 'b', default: true }] } }";
  const { warnings, valid } = loadConfig(makeStateFolder(t, { "openclaw.json": text }));
  assert.deepEqual([valid, warnings.map(({ path }) => path)], [true, ["agents.list[1].default"]]);
});

const vectors = new URL("../../test/conformance/policy-vectors.json", import.meta.url);

test("every recorded policy is a valid config", (t) => {
  const folder = makeStateFolder(t, {});
  const { vectors: recorded } = JSON.parse(readFileSync(vectors, "utf8")) as {
    vectors: { id: string; tools: unknown; agentTools: unknown }[];
  };
  const failed = recorded.flatMap(({ id, tools, agentTools }) => {
    const agents = {
      list: [{ id: "main" }, { id: "support", ...(agentTools === null ? {} : { tools: agentTools }) }],
    };
    const { issues } = loadConfig({
      ...folder,
      text: JSON.stringify({ ...(tools === null ? {} : { tools }), agents }),
    });
    return issues.map(({ path, message }) => `${id} ${path}: ${message}`);
  });
  assert.deepEqual(failed, []);
  assert.ok(recorded.length >= 100);
});
