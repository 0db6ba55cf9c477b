// The indexed list matches a plain filter: the visible sessions, newest first, up to the limit.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import fc from "fast-check";

import { sessionKindOf, type AgentId, type SessionKey, type SessionKind } from "../core/names.ts";
import type { Config } from "../config/schema/index.ts";
import { newStoreFile } from "../store/cases/files.cases.ts";
import { openSqliteStore } from "../store/sqlite.ts";
import type { SessionRecord, Store } from "../store/store.ts";
import { visibleSessions } from "./list.ts";
import { maySee, type Viewer } from "./visibility.ts";

const rests = ["main", "home", "x", "telegram:group:1", "slack:channel:c", "cron:j", "hook:h", "node-1", "subagent:s"];
const agents = ["main", "work", "other"] as AgentId[];
const parent = "agent:main:home" as SessionKey;
const records: readonly SessionRecord[] = [
  ...agents.flatMap((agentId, a) =>
    rests.map((rest, r) => recordOf(`agent:${agentId}:${rest}`, agentId, 1000 * ((a * 7 + r * 5) % 11))),
  ),
  recordOf("global", "main" as AgentId, 99_000),
  recordOf("unknown", "main" as AgentId, 98_000),
  ...[1, 2, 3].map((n) => ({ ...recordOf(`agent:work:subagent:${n}`, "work" as AgentId, n), spawnedBy: parent })),
];
const kinds: SessionKind[] = ["main", "group", "cron", "hook", "node", "other"];
const list = agents.map((id) => ({ id }));
const configs: readonly Config[] = [
  { agents: { list } },
  { agents: { list }, session: { mainKey: "home" } },
  { agents: { list }, tools: { agentToAgent: { enabled: true, allow: ["main", "work"] } } },
  { agents: { list }, tools: { agentToAgent: { enabled: true, allow: ["*"] } } },
];
const viewers: readonly Viewer[] = [
  { agent: "main" as AgentId, session: parent, sandboxed: false },
  { agent: "main" as AgentId, session: parent, sandboxed: true },
  { agent: "work" as AgentId, session: "agent:work:main" as SessionKey, sandboxed: false },
  { agent: "main" as AgentId, session: "agent:main:subagent:s" as SessionKey, sandboxed: false },
];

let store: Store;
before(async () => {
  store = await openSqliteStore({ file: newStoreFile() });
  await Promise.all(records.map((record) => store.sessions.put(record)));
});
after(() => store.close());

test("lists exactly the visible sessions, filtered, newest first, up to the limit", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...configs),
      fc.constantFrom(...viewers),
      fc.option(fc.subarray(kinds), { nil: undefined }),
      fc.option(fc.integer({ min: 0, max: 12_000 }), { nil: undefined }),
      fc.integer({ min: 1, max: 40 }),
      async (config, viewer, wanted, activeSince, limit) => {
        const mainKey = config.session?.mainKey ?? "main";
        const expected = records
          .filter((record) => maySee(viewer, record, config))
          .filter(({ key }) => wanted === undefined || wanted.includes(sessionKindOf(key, mainKey)))
          .filter(({ updatedAt }) => activeSince === undefined || updatedAt >= activeSince)
          .toSorted((a, b) => b.updatedAt - a.updatedAt || (a.key < b.key ? -1 : 1))
          .slice(0, limit);
        const found = await visibleSessions(store.sessions, viewer, { kinds: wanted, activeSince, limit }, config);
        assert.deepEqual(
          found.map(({ key }) => key),
          expected.map(({ key }) => key),
        );
      },
    ),
    { numRuns: 400 },
  );
});

function recordOf(key: string, agentId: AgentId, updatedAt: number): SessionRecord {
  return { key: key as SessionKey, agentId, sessionId: `id-${key}`, createdAt: 1, updatedAt, entry: {} };
}
