// Legacy keys are moved to their new paths; those that need a decision stay.
import assert from "node:assert/strict";
import { test } from "node:test";

import { makeStateFolder } from "./folder.cases.ts";
import { loadConfig } from "./load.ts";
import { migrateText } from "./migrate.ts";

const older = `{
  // who may write
  routing: {
    allowFrom: ["+1"],
    groupChat: { historyLimit: 5 },
    queue: { mode: "steer" },
  },
  agent: { model: "a/b", bash: { timeoutSec: 5 } },
  bindings: [{ agentId: "main", match: { provider: "slack", accountID: "x" } }],
  telegram: { botToken: "t", groups: { "*": {} } },
  channels: { telegram: { enabled: true } },
}
`;

test("turns a legacy config into a valid one and keeps comments", (t) => {
  const { text, moved, left } = migrateText(older);
  const { issues, parsed } = loadConfig(makeStateFolder(t, { "openclaw.json": text }));
  assert.deepEqual([issues, left, moved.length], [[], [], 8]);
  assert.match(text, /\/\/ who may write/);
  assert.deepEqual(parsed, {
    bindings: [{ agentId: "main", match: { channel: "slack", accountId: "x" } }],
    channels: { telegram: { enabled: true, botToken: "t", groups: { "*": {} } }, whatsapp: { allowFrom: ["+1"] } },
    messages: { groupChat: { historyLimit: 5 }, queue: { mode: "steer" } },
    tools: { exec: { timeoutSec: 5 } },
    agents: { defaults: { model: "a/b" } },
  });
});

test("keeps and names keys that would overwrite others or need a decision", () => {
  const text =
    '{ gateway: { token: "old", auth: { token: "new" } }, identity: { name: "x" }, routing: { groupChat: { requireMention: true } } }';
  const result = migrateText(text);
  assert.deepEqual(result, {
    text,
    moved: [],
    left: [
      {
        path: "routing.groupChat.requireMention",
        message: 'is an older key; it is now groups."*".requireMention of channels.whatsapp, telegram or imessage',
      },
      { path: "identity", message: "is an older key; it is now agents.list[].identity of the agent it belongs to" },
      { path: "gateway.token", message: "is an older key; it is now gateway.auth.token" },
    ],
  });
});
