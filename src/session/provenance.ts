// Whose a turn is: the owner's only when nobody else's words, no hook, no heartbeat and no job led to it.
import { turnOf } from "./inbox.ts";
import type { TurnRequest } from "./turns.ts";
import type { InboxEntry, Store } from "../store/store.ts";

/**
 * Also false when a stranger's words came into it on the way: joined to it, or heard while it ran. Who posts a turn must
 * say that it is the owner's; a turn that says nothing is nobody's.
 */
export async function isOwnerTurn({ store }: { readonly store: Store }, turn: string): Promise<boolean> {
  return (await wordsIn(store, turn)).every(
    (words) => words !== undefined && isTrue(words.authorised) && isTrue(words.admin),
  );
}

/** The door by which words came into a turn that may not use directives; undefined when there were none. */
export async function untrustedSource(store: Store, turn: string): Promise<string | undefined> {
  return doorsOf(await wordsIn(store, turn))[0];
}

/** Whether words of people nobody knows led to it. What heartbeats and jobs do by themselves is the agent's own. */
export async function isUntrustedTurn(store: Store, turn: string): Promise<boolean> {
  const words = await wordsIn(store, turn);
  if (words.some((one) => isTrue(one?.outside))) return true;
  const doors = doorsOf(words);
  return doors.some((door) => openDoors.has(door)) || (doors.length > 0 && (await readsOutside(store, turn)));
}

const openDoors: ReadonlySet<string> = new Set(["voice", "node", "hook", "sessions_send", "unknown"]);

/** All of them: words may have been joined to it on the way. */
function doorsOf(words: readonly (TurnRequest | undefined)[]): readonly string[] {
  return words.flatMap((one) => (one === undefined ? "unknown" : isTrue(one.authorised) ? [] : one.source));
}

/** A line of a webhook that waited for it. */
async function readsOutside(store: Store, turn: string): Promise<boolean> {
  const { outside } = ((await store.runs.get(turn))?.body ?? {}) as { outside?: unknown };
  return isTrue(outside);
}

/** Empty without any turn: an authenticated caller used the tool directly. Undefined: a letter nobody can read. */
async function wordsIn(store: Store, turn: string): Promise<(TurnRequest | undefined)[]> {
  const own = await store.inbox.get(turn);
  if (own === undefined) return [];
  const run = await store.runs.get(turn);
  const { merged = [], overheard = [] } = (run?.body ?? {}) as Partial<Record<"merged" | "overheard", string[]>>;
  const others = await Promise.all([...merged, ...overheard].map((id) => store.inbox.get(id)));
  return [own, ...others.filter((entry): entry is InboxEntry => entry !== undefined)].map((entry) =>
    turnOf<TurnRequest>(entry),
  );
}

/** A row is what somebody wrote, whatever its type says. */
const isTrue = (flag: unknown): boolean => flag === true;
