// How many sub-agents one session may have at work: counted here, because the table lags behind many starts at once.
import { ToolError } from "../../core/error.ts";
import type { SessionKey } from "../../core/names.ts";
import type { Config } from "../../config/schema/index.ts";
import type { ChildTable } from "../../store/store.ts";

const DEFAULT_MAX_CHILDREN = 200;

export interface ChildRoom {
  /** Throws `session.too-many-children` when there is no room for one more. */
  enter(session: SessionKey, config: Config): Promise<void>;
  leave(session: SessionKey): Promise<void>;
}

export function createChildRoom(table: Pick<ChildTable, "running">): ChildRoom {
  /** Only sessions that have some. */
  const atWork = new Map<SessionKey, Promise<{ count: number }>>();
  return {
    async enter(session, config) {
      const known = atWork.get(session) ?? table.running(session).then((count) => ({ count }));
      atWork.set(session, known);
      const place = await known;
      requireRoom(place.count, config);
      place.count += 1;
    },
    async leave(session) {
      const place = await atWork.get(session);
      if (place === undefined) return;
      place.count -= 1;
      if (place.count <= 0) atWork.delete(session);
    },
  };
}

function requireRoom(count: number, config: Config): void {
  const most = config.agents?.defaults?.subagents?.maxChildren ?? DEFAULT_MAX_CHILDREN;
  if (count < most) return;
  throw new ToolError("session.too-many-children", `this session already has ${count} sub-agents at work`, {
    hint: "wait for some to end, stop some with /subagents stop, or raise agents.defaults.subagents.maxChildren",
    details: { refused: true, running: count, most },
  });
}
