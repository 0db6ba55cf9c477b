// `/compact` and `sessions.compact`: summarizes a session on request.
import type { RunEvent } from "../core/event.ts";
import type { SessionKey } from "../core/names.ts";
import { agentOfSession } from "../config/agents.ts";
import { newId } from "../base/ids.ts";
import { createTurnModel } from "./turn-model.ts";
import type { RunContext } from "./outcome.ts";
import { compactSession } from "./fit-context.ts";

export async function compactNow(
  runContext: RunContext,
  sessionKey: SessionKey,
  instructions: string | undefined,
  publish: (event: RunEvent) => void,
): Promise<{ compacted: boolean; kept: number; note: string }> {
  const { deps, histories, streamModel, readBootstrap, budgets } = runContext;
  const record = await deps.store.sessions.get(sessionKey);
  if (record === undefined) return { compacted: false, kept: 0, note: "there is no such session yet" };
  const agentId = agentOfSession(sessionKey, deps.config());
  const [primary] = await deps.models.candidates({ agentId });
  const kept = await deps.store.transcript.count(record.sessionId);
  if (primary === undefined) return { compacted: false, kept, note: "no model configured, and a summary needs one" };
  const sessionRef = { record };
  const budget = budgets.open(deps.config(), agentId, sessionKey);
  const turnModel = createTurnModel(
    { runtime: deps, streamModel, readBootstrap, budget },
    { agentId, sessionRef, primary, override: undefined, thinking: "off" },
  );
  const runId = newId();
  let seq = 0;
  const { signal } = new AbortController();
  const made = await compactSession(
    sessionRef,
    {
      store: deps.store,
      histories,
      clock: deps.clock,
      emit: (body) => publish({ runId, sessionKey, seq: ++seq, ts: deps.clock.now(), body }),
      beforeCompaction: async () => deps.beforeCompaction?.({ sessionKey, agentId }),
    },
    { contextWindow: deps.models.facts(primary).contextWindow, ask: (plain) => turnModel.ask(plain, signal) },
    { instructions, keepTokens: KEEP_WHEN_ASKED },
  ).finally(() => budget.close());
  return made.ok ? { compacted: true, kept: made.kept, note: made.note } : { compacted: false, kept, note: made.note };
}

/** A requested compaction keeps little besides the summary. */
const KEEP_WHEN_ASKED = 4000;
