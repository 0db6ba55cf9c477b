// Whether a turn is the owner's: nobody else's words, no hook, no heartbeat and no job led to it.
import { turnOf } from "../session/inbox.ts";
import type { TurnRequest } from "../session/turns.ts";
import type { House } from "./house.ts";

/** Also false when a stranger's words came into it on the way: joined to it, or heard while it ran. */
export async function isOwnersTurn({ store }: Pick<House, "store">, turn: string): Promise<boolean> {
  const own = await store.inbox.get(turn);
  // No turn at all: an authenticated caller used the tool directly.
  if (own === undefined) return true;
  const run = await store.runs.get(turn);
  const { merged = [], overheard = [] } = (run?.body ?? {}) as Partial<Record<"merged" | "overheard", string[]>>;
  const others = await Promise.all([...merged, ...overheard].map((id) => store.inbox.get(id)));
  return [own, ...others].every((letter) => letter === undefined || turnOf<TurnRequest>(letter)?.authorised === true);
}
