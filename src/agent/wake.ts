// Wakes a session: one turn for whatever the house has to tell it. Several reasons close together make one turn.
import { splitSessionKey, type SessionKey } from "../core/names.ts";
import { newId } from "../base/ids.ts";
import type { Log } from "../base/log.ts";
import type { ModelBook } from "../model/model.ts";
import type { SystemEvents } from "../session/system-events.ts";
import type { Agents } from "./agent.ts";

export interface WakeDeps {
  readonly agents: () => Pick<Agents, "post">;
  readonly models: Pick<ModelBook, "candidates">;
  readonly events: SystemEvents;
  readonly log: Log;
}

export interface Wake {
  /** Keeps the line durably, then asks for a turn. Without a model the line waits for the next message. */
  readonly tell: (session: SessionKey, text: string) => Promise<void>;
  close(): void;
}

export const WAKE_PROMPT =
  "[heartbeat] Something you started has news: see the System lines above. Go on with what depended on it. If nothing needs doing or saying, answer HEARTBEAT_OK.";
const GATHER_MS = 250;

export function createWake({ agents, models, events, log }: WakeDeps): Wake {
  const asked = new Map<SessionKey, NodeJS.Timeout>();
  const wake = async (session: SessionKey): Promise<void> => {
    asked.delete(session);
    const [model] = await models.candidates({ agentId: splitSessionKey(session).agentId });
    // A turn of somebody else may have told it already.
    if (model === undefined || (await events.peek(session)).length === 0) return;
    await agents().post({
      runId: newId(),
      sessionKey: session,
      text: WAKE_PROMPT,
      source: "heartbeat",
      authorised: false,
    });
  };
  return {
    async tell(session, text) {
      await events.add(session, text);
      if (asked.has(session)) return;
      const timer = setTimeout(() => {
        wake(session).catch((error: unknown) => log.warn("a session could not be woken", { session, error }));
      }, GATHER_MS);
      asked.set(session, timer.unref());
    },
    close() {
      for (const timer of asked.values()) clearTimeout(timer);
      asked.clear();
    },
  };
}
