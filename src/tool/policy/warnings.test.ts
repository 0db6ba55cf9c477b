// Warnings about doubtful lists when a config is loaded.
import assert from "node:assert/strict";
import { test } from "node:test";

import { subjectOf, universeOf } from "./policy.cases.ts";
import { listWarnings } from "./warnings.ts";

void test("warns about every unknown entry with its path, the nearest name and the effect", () => {
  const config = {
    tools: {
      allow: ["web_fecth", "slack"],
      deny: ["exce", "read"],
      byProvider: { openai: { allow: ["raed", "write"] } },
      sandbox: { tools: { allow: ["brwoser"] } },
      subagents: { tools: { deny: ["group:run-time"] } },
    },
    agents: {
      list: [{ id: "main", tools: { alsoAllow: ["wf", "crno"] } }],
      defaults: { contextPruning: { tools: { deny: ["imgae"] } } },
    },
    channels: {
      discord: { guilds: { "9": { channels: { "1.5": { toolsBySender: { "*": { deny: ["nodse"] } } } } } } },
      telegram: { accounts: { work: { groups: { "-1": { topics: { "5": { tools: { allow: ["read", "zz"] } } } } } } } },
    },
  };
  const facts = listWarnings(config, universeOf()).map(({ path, entry, nearest, ignored }) => [
    path,
    entry,
    nearest,
    ignored,
  ]);
  assert.deepEqual(facts, [
    ["tools.allow[0]", "web_fecth", "web_fetch", true],
    ["tools.allow[1]", "slack", undefined, true],
    ["tools.deny[0]", "exce", "exec", false],
    ["tools.byProvider.openai.allow[0]", "raed", "read", false],
    ["tools.sandbox.tools.allow[0]", "brwoser", "browser", false],
    ["tools.subagents.tools.deny[0]", "group:run-time", "group:runtime", false],
    ["agents.list[0].tools.alsoAllow[1]", "crno", "cron", false],
    ["agents.defaults.contextPruning.tools.deny[0]", "imgae", "image", false],
    ['channels.discord.guilds.9.channels["1.5"].toolsBySender.*.deny[0]', "nodse", "nodes", false],
    ["channels.telegram.accounts.work.groups.-1.topics.5.tools.allow[1]", "zz", undefined, false],
  ]);
});

void test("explains each warning in one sentence", () => {
  const config = {
    tools: { allow: ["web_fecth"], deny: ["exce"], subagents: { tools: { allow: ["raed"] } } },
    agents: { list: [{ id: "main", tools: { allow: ["read", "zz"] } }] },
  };
  assert.deepEqual(
    listWarnings(config, universeOf()).map(({ message }) => message),
    [
      'tools.allow[0]: no tool, plugin or group is named "web_fecth", did you mean web_fetch? (the list names no known tool and is ignored)',
      'tools.deny[0]: no tool, plugin or group is named "exce", did you mean exec? (it denies nothing)',
      'tools.subagents.tools.allow[0]: no tool, plugin or group is named "raed", did you mean read? (the list names no known tool and so allows none)',
      'agents.list[0].tools.allow[1]: no tool, plugin or group is named "zz" (the rest of the list is in force)',
    ],
  );
});

void test("rejects allow together with alsoAllow", () => {
  const lists = { allow: ["read"], alsoAllow: ["wf"] };
  const config = { tools: { byProvider: { openai: lists } }, agents: { list: [{ id: "a", tools: lists }] } };
  assert.deepEqual(
    listWarnings(config, universeOf()).map(({ kind, level, path }) => [kind, level, path]),
    [
      ["allow-with-also-allow", "error", "tools.byProvider.openai"],
      ["allow-with-also-allow", "error", "agents.list[0].tools"],
    ],
  );
});

void test("warns about two spellings of one provider and about skipped plugin tools", () => {
  const universe = universeOf([{ id: "evil", tools: [{ name: "Exec" }] }]);
  const config = { tools: { byProvider: { OpenAI: {}, openai: {}, "z.ai/glm": {}, "ZAI/GLM": {} } } };
  assert.deepEqual(
    listWarnings(config, universe).map(({ message }) => message),
    [
      'tools.byProvider.openai: means the same provider as "OpenAI"; only that one is read',
      'tools.byProvider.ZAI/GLM: means the same provider as "z.ai/glm"; only that one is read',
      'plugin "evil": its tool "Exec" is skipped, because that is a core name',
    ],
  );
});

void test("has no warning for a good config, and handles a huge bad list quickly", () => {
  const good = {
    tools: { allow: ["*", "GROUP:FS", "bash", "wf", "wf_danger", "group:plugins", "s*"], deny: ["apply-patch"] },
  };
  assert.deepEqual(listWarnings(good, universeOf()), []);
  const { universe } = subjectOf({});
  const found = listWarnings({ tools: { deny: Array.from({ length: 20_000 }, (_, at) => `rea${at}`) } }, universe);
  assert.equal(found.length, 20_000);
  assert.equal(found.filter(({ nearest }) => nearest !== undefined).length <= 50, true);
});
