// The sender of a session by its key: the page, groups, webhooks and jobs.
import assert from "node:assert/strict";
import { test } from "node:test";

import type { AgentId, SessionKey } from "../core/names.ts";
import { elevationOf } from "../exec/elevated.ts";
import { newSession } from "./session.ts";
import { senderOf } from "./sender.ts";

const of = (key: string): ReturnType<typeof senderOf> => senderOf(key as SessionKey, newSession(key as SessionKey, 0));

test("does not treat sessions of webhooks and jobs as the page", () => {
  assert.deepEqual(of("agent:main:hook:deploys"), { channel: "hook", senders: [] });
  assert.deepEqual(of("agent:main:cron:j1:run:r1"), { channel: "cron", senders: [] });
  assert.equal(of("agent:main:telegram:group:7").channel, "telegram");
  assert.equal(of("agent:main:main").channel, "webchat");
  assert.equal(of("global").channel, "webchat");
});

test("does not give a webhook the page's right to leave the sandbox", () => {
  const config = { tools: { elevated: { allowFrom: { webchat: ["*"] } } } };
  const open = (key: string): boolean =>
    elevationOf({ config, agent: "main" as AgentId, subagent: false, execAllowed: true, ...of(key) }).open;
  assert.deepEqual(["agent:main:main", "agent:main:hook:x", "agent:main:cron:x"].map(open), [true, false, false]);
});
