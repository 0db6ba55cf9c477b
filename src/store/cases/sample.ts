// Sample records for the contract cases of the store.
import fc from "fast-check";

import type { AgentId, SessionKey } from "../../core/names.ts";
import type { ChildRecord, JournalEntry, SessionRecord, TranscriptEntry } from "../store.ts";

export const keyOf = (rest: string, agent = "main"): SessionKey => `agent:${agent}:${rest}` as SessionKey;

export function newSession(changes: Partial<SessionRecord> = {}): SessionRecord {
  const key = changes.key ?? keyOf("main");
  return {
    key,
    agentId: "main" as AgentId,
    sessionId: `id-of-${key}`,
    createdAt: 1_000,
    updatedAt: 2_000,
    entry: { thinkingLevel: "low" },
    ...changes,
  };
}

export function newChild(changes: Partial<ChildRecord> = {}): ChildRecord {
  return {
    runId: "c1",
    childKey: keyOf("subagent:1"),
    requesterKey: keyOf("main"),
    state: "running",
    createdAt: 1_000,
    body: { task: "look" },
    ...changes,
  };
}

export function newCall(changes: Partial<JournalEntry> = {}): JournalEntry {
  return {
    id: "c1",
    at: 1_000,
    tool: "read",
    agentId: "main",
    sessionKey: "agent:main:main",
    caller: "http",
    outcome: "ok",
    ...changes,
  };
}

/** JSON values that survive a round trip: -0 is left out, because JSON cannot represent it. */
export const anyBody: fc.Arbitrary<unknown> = fc
  .jsonValue({ maxDepth: 4 })
  .map((value) => JSON.parse(JSON.stringify(value)) as unknown);

export const anyEntry: fc.Arbitrary<TranscriptEntry> = fc.record({
  id: fc.stringMatching(/^[0-9a-f]{8}$/),
  type: fc.constantFrom("message", "model_change", "compaction", "custom"),
  at: fc.integer({ min: 0, max: 4_102_444_800_000 }),
  body: anyBody,
});
