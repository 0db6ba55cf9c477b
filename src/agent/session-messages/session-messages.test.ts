// Exchanges with real agents and a real store: a temporary write failure delays an exchange and ends none.
import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { MAIN, openTestAgents, scriptedBook, text } from "../../../test/harness/agent.ts";
import { systemClock } from "../../base/clock.ts";
import type { Log } from "../../base/log.ts";
import { createOutbound } from "../../channel/outbound.ts";
import type { Config } from "../../config/schema/index.ts";
import { OpenClawError } from "../../core/error.ts";
import type { AgentId, SessionKey } from "../../core/names.ts";
import { newSession } from "../../session/session.ts";
import { EXCHANGES } from "../../session/session-messages.ts";
import { SessionMessageService } from "./session-messages.ts";

const silent: Log = { error() {}, warn() {}, info() {}, debug() {}, child: () => silent };
const OTHER = "agent:main:other" as SessionKey;

test("runs every step of an exchange once over a disk that is full for a moment", async (t) => {
  const models = scriptedBook((_request, index) => text(`answer ${index}`));
  const runtime = await openTestAgents({ models });
  t.after(() => runtime.close());
  const { store, agents } = runtime;
  for (const key of [MAIN, OTHER]) await store.sessions.put(newSession(key, 1));
  let writes = 0;
  const kv = {
    ...store.kv,
    async set(...row: Parameters<typeof store.kv.set>) {
      writes += 1;
      // All but the first, which only the sender gets.
      if (writes > 1 && writes % 2 === 0) throw new OpenClawError("store.full", "no space left");
      return store.kv.set(...row);
    },
  };
  const sessionMessages = new SessionMessageService({
    store: { sessions: store.sessions, kv, together: (ask) => store.together(ask) },
    turns: () => agents,
    outbound: createOutbound(new Map()),
    config: () => ({ session: { agentToAgent: { maxPingPongTurns: 2 } } }) as Config,
    clock: systemClock,
    log: silent,
    retryMs: 20,
  });
  const from = { session: MAIN, agent: "main" as AgentId, sandboxed: false };
  const answer = await sessionMessages.send({
    from,
    to: OTHER,
    message: "hello",
    timeoutMs: 60_000,
    signal: AbortSignal.timeout(120_000),
  });
  assert.equal(answer.status, "ok");
  for (let tries = 0; (await store.kv.list(EXCHANGES)).length > 0 && tries < 3000; tries++) await sleep(20);
  assert.deepEqual(await store.kv.list(EXCHANGES), []);
  // The first answer, two turns back and forth, the announcement.
  assert.equal(models.requests.length, 4);
  sessionMessages.close();
});
