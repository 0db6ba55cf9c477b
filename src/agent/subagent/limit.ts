// Limits the running subagents of a session; counted here, because the table lags behind many starts at once.
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
  const atWork = new Map<SessionKey, Promise<{ count: number }>>();
  const ask = (session: SessionKey): Promise<{ count: number }> => {
    const asked = table.running(session).then((count) => ({ count }));
    atWork.set(session, asked);
    // A count that could not be read is read again.
    asked.catch(() => atWork.get(session) === asked && atWork.delete(session));
    return asked;
  };
  return {
    async enter(session, config) {
      for (;;) {
        const known = atWork.get(session) ?? ask(session);
        const place = await known;
        // The last subagent ended meanwhile, and its count was removed.
        if (atWork.get(session) !== known) continue;
        requireCapacity(place.count, config);
        place.count += 1;
        return;
      }
    },
    async leave(session) {
      const place = await atWork.get(session);
      if (place === undefined) return;
      place.count -= 1;
      if (place.count <= 0) atWork.delete(session);
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
