// Send policy as a table: override, deny over allow, every kind of match, default.
import assert from "node:assert/strict";
import { test } from "node:test";

import type { SessionKey } from "../core/names.ts";
import type { Config } from "../config/schema/index.ts";
import { sendDecision } from "./send-policy.ts";
import { newSession } from "./session.ts";

const group = "agent:main:telegram:group:-1" as SessionKey;
const room = "agent:main:slack:channel:c1" as SessionKey;
const main = "agent:main:main" as SessionKey;
type Policy = NonNullable<NonNullable<Config["session"]>["sendPolicy"]>;

const cases: [name: string, key: SessionKey, policy: Policy | undefined, own: string | undefined, expected: string][] =
  [
    ["nothing set", main, undefined, undefined, "allow"],
    ["the default", main, { default: "deny" }, undefined, "deny"],
    ["the session's own word over the rules", main, { default: "deny" }, "allow", "allow"],
    ["the session's own deny", main, undefined, "deny", "deny"],
    ["a kind of chat", group, { rules: [{ action: "deny", match: { chatType: "group" } }] }, undefined, "deny"],
    ["another kind of chat", room, { rules: [{ action: "deny", match: { chatType: "group" } }] }, undefined, "allow"],
    [
      "a room by its other name",
      room,
      { rules: [{ action: "deny", match: { chatType: "channel" } }] },
      undefined,
      "deny",
    ],
    ["a channel", room, { rules: [{ action: "deny", match: { channel: "Slack" } }] }, undefined, "deny"],
    [
      "a prefix",
      main,
      { default: "deny", rules: [{ action: "allow", match: { keyPrefix: "agent:main:" } }] },
      undefined,
      "allow",
    ],
    [
      "deny over an allow that stands before it",
      group,
      {
        rules: [
          { action: "allow", match: { channel: "telegram" } },
          { action: "deny", match: { chatType: "group" } },
        ],
      },
      undefined,
      "deny",
    ],
  ];
for (const [name, key, policy, own, expected] of cases) {
  test(`${name}: ${expected}`, () => {
    const record = newSession(key, 0, own === undefined ? {} : { sendPolicy: own });
    assert.equal(sendDecision(key, record, policy === undefined ? {} : { session: { sendPolicy: policy } }), expected);
  });
}
