// Limits the running subagents of a session; counted in memory, because the table lags behind concurrent starts.
import { ToolError } from "../../core/error.ts";
import type { SessionKey } from "../../core/names.ts";
import type { Config } from "../../config/schema/index.ts";
import type { ChildTable } from "../../store/store.ts";

const DEFAULT_MAX_CHILDREN = 200;

export interface ChildLimit {
  /** Throws `session.too-many-children` at the limit. */
  enter(session: SessionKey, config: Config): Promise<void>;
  leave(session: SessionKey): Promise<void>;
}

export function createChildLimit(table: Pick<ChildTable, "running">): ChildLimit {
  /** Only sessions with running subagents. */
  const counters = new Map<SessionKey, Promise<{ count: number }>>();
  const readCounter = (session: SessionKey): Promise<{ count: number }> => {
    const reading = table.running(session).then((count) => ({ count }));
    counters.set(session, reading);
    // A count that could not be read is read again.
    reading.catch(() => counters.get(session) === reading && counters.delete(session));
    return reading;
  };
  return {
    async enter(session, config) {
      for (;;) {
        const known = counters.get(session) ?? readCounter(session);
        const counter = await known;
        // The last subagent ended meanwhile, and its counter was removed.
        if (counters.get(session) !== known) continue;
        requireCapacity(counter.count, config);
        counter.count += 1;
        return;
      }
    },
    async leave(session) {
      const counter = await counters.get(session);
      if (counter === undefined) return;
      counter.count -= 1;
      if (counter.count <= 0) counters.delete(session);
    },
  };
}

function requireCapacity(count: number, config: Config): void {
  const most = config.agents?.defaults?.subagents?.maxChildren ?? DEFAULT_MAX_CHILDREN;
  if (count < most) return;
  throw new ToolError("session.too-many-children", `this session already has ${count} running subagents`, {
    hint: "wait for some to end, stop some with /subagents stop, or raise agents.defaults.subagents.maxChildren",
    details: { refused: true, running: count, most },
  });
}
