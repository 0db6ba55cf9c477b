// Which config changes need the owner: listed paths, unknown paths, and includes or variables in the text.
import assert from "node:assert/strict";
import { test } from "node:test";
import { isDeepStrictEqual } from "node:util";

import fc from "fast-check";

import type { AgentId } from "../core/names.ts";
import { describeKeys } from "./describe.ts";
import { patchText } from "./patch.ts";
import { parsePath } from "./path.ts";
import { protectedChanges, protectedPaths, protectedReason } from "./protected.ts";
import { parseSource } from "./source.ts";

const touched = (before: unknown, after: unknown): string[] =>
  protectedChanges({ source: before, parsed: before }, { source: after, parsed: after }).map(
    ({ path, change }) => `${path} ${change}`,
  );

test("protects every path of docs/decisions/0018-protected-config-paths.md", () => {
  for (const path of [
    "tools.exec.ask",
    "tools",
    "agents.defaults.tools.message",
    "agents.list[0].tools.deny",
    "agents.list[3].sandbox.mode",
    "agents.defaults.sandbox.docker.network",
    "gateway.auth.token",
    "gateway.bind",
    "channels.telegram.allowFrom",
    "channels.discord.accounts.work.allowFrom",
    "commands.restart",
    "plugins.allow",
    "hooks.mappings",
  ])
    assert.notEqual(protectedReason(parsePath(path)), undefined, path);
});

test("protects keys that give access, start programs or send data elsewhere", () => {
  for (const path of [
    "agents.list",
    "agents.list[0].id",
    "agents.list[0].workspace",
    "agents.list[0].subagents.allowAgents",
    "agents.defaults.elevatedDefault",
    "agents.defaults.cliBackends.x.command",
    "agents.defaults.budget.day.usd",
    "agents.defaults.heartbeat.to",
    "agents.defaults.heartbeat.prompt",
    "agents.list[0].heartbeat.prompt",
    "agents.defaults.compaction.memoryFlush.systemPrompt",
    "agents.defaults.memorySearch.remote.baseUrl",
    "agents.defaults.memorySearch.store.vector.extensionPath",
    "approvals.exec.enabled",
    "session.sendPolicy.default",
    "session.dmScope",
    "env.PATH",
    "models.providers.openai.baseUrl",
    "browser.executablePath",
    "skills.load.extraDirs",
    "memory.qmd.command",
    "messages.tts.openai.baseUrl",
    "logging.file",
    "diagnostics.otel.endpoint",
    "update.channel",
    "gateway.trustedProxies",
    "gateway.controlUi.dangerouslyDisableDeviceAuth",
  ])
    assert.notEqual(protectedReason(parsePath(path)), undefined, path);
});

test("does not protect appearance, texts and sizes", () => {
  for (const path of [
    "ui.assistant.name",
    "agents.defaults.model.primary",
    "agents.defaults.heartbeat.every",
    "agents.list[0].identity.name",
    "session.reset.mode",
    "messages.responsePrefix",
    "logging.level",
    "cron.maxConcurrentRuns",
  ])
    assert.equal(protectedReason(parsePath(path)), undefined, path);
});

test("protects every key that names a program, a file, a URL or a secret", () => {
  const dangerous =
    /(?:command|args|path|paths|dir|dirs|file|url|host|port|token|apikey|password|secret|env|headers|proxy|module|exec|store|allow|allowfrom|policy|scope|root|workspace|binds|image)$/i;
  // These have similar names but are durations, sizes or words of a reply.
  const harmless = new Set([
    "agents.defaults.contextPruning.tools.allow",
    "messages.ackReactionScope",
    "wizard.lastRunCommand",
  ]);
  const open = describeKeys()
    .map(({ path }) => path)
    .filter((path) => dangerous.test(path) && !harmless.has(path))
    .filter((path) => protectedReason(path.replaceAll("[]", ".0").split(".")) === undefined);
  assert.deepEqual(open, []);
});

test("finds every change below a protected key, and no equal value", () => {
  const value = fc.jsonValue({ maxDepth: 4 }).map((json) => JSON.parse(JSON.stringify(json)) as unknown);
  fc.assert(
    fc.property(value, value, (from, to) => {
      const isSame = isDeepStrictEqual(from, to);
      assert.equal(touched({ tools: from }, { tools: to }).length === 0, isSame);
      assert.equal(
        touched({ agents: { list: [{ tools: from }] } }, { agents: { list: [{ tools: to }] } }).length === 0,
        isSame,
      );
      assert.notDeepEqual(touched({}, { tools: from }), []);
      assert.notDeepEqual(touched({ tools: from }, {}), []);
    }),
    { numRuns: 2000, examples: [[{ toString: false }, {}]] },
  );
});

test("needs approval for an unlisted path", () => {
  assert.equal(protectedReason(["somethingNew", "enabled"]), "is not known to be harmless");
});

test("finds every change: new, changed, removed, empty, inside lists and below new keys", () => {
  assert.deepEqual(touched({ tools: { exec: { ask: "always" } } }, { tools: { exec: { ask: "off" } } }), [
    "tools.exec.ask changed",
  ]);
  assert.deepEqual(touched({}, { tools: { exec: { security: "full" } } }), ["tools.exec.security set"]);
  assert.deepEqual(touched({ tools: { fs: { workspaceOnly: true } } }, {}), ["tools.fs.workspaceOnly removed"]);
  assert.deepEqual(touched({ agents: { list: [] } }, { agents: { list: [{ id: "x" }] } }), ["agents.list changed"]);
  assert.deepEqual(touched({ agents: { list: [{ id: "a" }] } }, { agents: { list: [{ id: "a", tools: {} }] } }), [
    "agents.list[0].tools set",
  ]);
  assert.deepEqual(
    touched({ channels: { telegram: { groups: {} } } }, { channels: { telegram: { groups: { "-1": {} } } } }),
    ["channels.telegram.groups.-1 set"],
  );
  assert.deepEqual(touched({ ui: { assistant: { name: "a" } } }, { ui: { assistant: { name: "b" } } }), []);
  assert.deepEqual(touched({ tools: 1 }, undefined), ["tools removed"]);
});

test("protects values from the environment and included files even under a harmless key", () => {
  const before = { source: {}, parsed: {} };
  assert.deepEqual(
    protectedChanges(before, {
      source: { ui: { assistant: { name: "${SECRET}" } } },
      parsed: { ui: { assistant: { name: "x" } } },
    }),
    [{ path: "ui.assistant.name", change: "set", reason: "takes a value from the environment" }],
  );
  assert.deepEqual(
    protectedChanges(before, {
      source: { ui: { $include: "./more.json" } },
      parsed: { ui: { assistant: { name: "x" } } },
    }),
    [{ path: "ui.$include", change: "set", reason: "includes another file" }],
  );
});

test("finds an include that replaces a plain value or a list", () => {
  const side = (value: unknown, parsed: unknown = value) => ({
    source: { agents: { defaults: { model: value } }, messages: { groupChat: { mentionPatterns: [value] } } },
    parsed: { agents: { defaults: { model: parsed } }, messages: { groupChat: { mentionPatterns: [parsed] } } },
  });
  assert.deepEqual(protectedChanges(side("a/b"), side({ $include: "./workspace/m.json" }, "a/c")), [
    { path: "agents.defaults.model", change: "changed", reason: "includes another file" },
    { path: "messages.groupChat.mentionPatterns[0]", change: "changed", reason: "includes another file" },
  ]);
});

test("lets an agent rename itself, and no other agent", () => {
  const side = (main: string, weak: string) => {
    const list = [
      { id: "Main", identity: { name: main } },
      { id: "weak", identity: { name: weak } },
    ];
    return { source: { agents: { list } }, parsed: { agents: { list } } };
  };
  const [main, weak] = ["main" as AgentId, "weak" as AgentId];
  assert.deepEqual(protectedChanges(side("a", "b"), side("a", "c"), weak), []);
  assert.deepEqual(protectedChanges(side("a", "b"), side("c", "b"), main), []);
  assert.deepEqual(protectedChanges(side("a", "b"), side("c", "b"), weak), [
    { path: "agents.list[0].identity.name", change: "changed", reason: "belongs to another agent" },
  ]);
});

test("a patch of comments and order alone changes no path", () => {
  const text = "{\n  // one\n  tools: { deny: ['exec'] },\n}\n";
  const after = patchText(text, "{ui:{assistant:{name:'A'}}}");
  const valueOf = (written: string): unknown => {
    const source = parseSource("t", Buffer.from(written));
    return "value" in source ? source.value : undefined;
  };
  assert.deepEqual(touched(valueOf(text), valueOf(after)), []);
  assert.match(after, /\/\/ one/);
});

test("every protected path has a reason", () => {
  for (const [pattern, reason] of protectedPaths) assert.match(reason, /^[a-z].{8,}[a-z]$/, pattern);
});
