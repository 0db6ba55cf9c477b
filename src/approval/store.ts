// Where approvals are kept: all in memory, each change durable first, closed ones for the trail up to a number.
import { isApproval, isClosed, type Approval } from "./record.ts";
import type { Store } from "../store/store.ts";

const SPACE = "approvals";

export interface Shelf {
  /** Reads what an earlier process left; `unreadable` are the keys that could not be understood. */
  load(): Promise<{ readonly unreadable: readonly string[] }>;
  /** Durable when it resolves; only then is it seen. */
  put(approval: Approval): Promise<void>;
  get(id: string): Approval | undefined;
  /** Oldest first. */
  all(): readonly Approval[];
}

export function createShelf(kv: Store["kv"], keep: number): Shelf {
  const held = new Map<string, Approval>();
  const shelf: Shelf = {
    async load() {
      const unreadable: string[] = [];
      for (const { key, value } of await kv.list(SPACE)) {
        if (!isApproval(value) || value.id !== key) unreadable.push(key);
        else if (!held.has(key)) held.set(key, value);
      }
      return { unreadable };
    },
    async put(approval) {
      await kv.set(SPACE, approval.id, approval);
      held.set(approval.id, approval);
      if (isClosed(approval)) await drop();
    },
    get: (id) => held.get(id),
    all: () => [...held.values()].sort((a, b) => a.createdAtMs - b.createdAtMs),
  };
  return shelf;

  async function drop(): Promise<void> {
    const closed = shelf.all().filter(isClosed);
    const surplus = closed.slice(0, Math.max(0, closed.length - keep));
    for (const { id } of surplus) held.delete(id);
    await Promise.all(surplus.map(({ id }) => kv.set(SPACE, id, undefined)));
  }
}
