// Every changed path is hot, a restart or ignored, depending on the mode.
import assert from "node:assert/strict";
import { test } from "node:test";

import { planReload } from "./reload.ts";
import type { Config } from "./schema/index.ts";

const before: Config = {
  gateway: { port: 1, reload: { debounceMs: 1 } },
  hooks: { path: "/a" },
  agents: { list: [{ id: "a", heartbeat: { every: "1m" } }] },
  channels: { telegram: { botToken: "x" }, slack: { botToken: "x" }, whatsapp: { selfChatMode: false } },
};
const after: Config = {
  gateway: { port: 2, reload: { debounceMs: 2 } },
  hooks: { path: "/b", gmail: { label: "x" } },
  agents: { list: [{ id: "a", heartbeat: { every: "2m" }, name: "A" }] },
  channels: { telegram: { botToken: "y" }, slack: { botToken: "y" }, whatsapp: { selfChatMode: true } },
  tools: { deny: ["exec"] },
  plugins: { enabled: false },
};
const hot = [
  "gateway.reload.debounceMs",
  "hooks.path",
  "hooks.gmail",
  "agents.list[0].heartbeat.every",
  "agents.list[0].name",
  "channels.telegram.botToken",
  "channels.whatsapp.selfChatMode",
  "tools",
];
const cold = ["gateway.port", "channels.slack.botToken", "plugins"];
const parts = ["hooks", "gmail", "heartbeat", "channel:telegram"];

test("hybrid applies what it can and restarts for the rest", () => {
  assert.deepEqual(planReload(before, after, "hybrid"), { hot, restart: cold, ignored: [], parts });
});

test("hot only reports what needs a restart", () => {
  assert.deepEqual(planReload(before, after, "hot"), { hot, restart: [], ignored: cold, parts });
});

test("restart restarts for every change, off ignores changes", () => {
  const { restart, ...none } = planReload(before, after, "restart");
  assert.deepEqual([restart.toSorted(), none], [[...hot, ...cold].toSorted(), { hot: [], ignored: [], parts: [] }]);
  assert.deepEqual(planReload(before, after, "off").ignored.length, hot.length + cold.length);
});

test("an equal config needs no action", () => {
  assert.deepEqual(planReload(before, structuredClone(before), "restart"), {
    hot: [],
    restart: [],
    ignored: [],
    parts: [],
  });
});
