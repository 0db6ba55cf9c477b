// Stores approvals: each change is durable before it is visible, and a limited number of closed ones stays for the trail.
import { isRecord } from "../core/record.ts";
import type { Store } from "../store/store.ts";
import { isApproval, isClosed, type Approval } from "./record.ts";

const SPACE = "approvals";

export interface ApprovalStore {
  /** Reads what an earlier process stored; `unreadable` are the keys of rows that are not approvals. */
  load(): Promise<{ readonly unreadable: readonly string[] }>;
  /** Durable when it resolves, and visible only then. */
  put(approval: Approval): Promise<void>;
  get(id: string): Approval | undefined;
  /** Oldest first. */
  all(): readonly Approval[];
}

export function createApprovalStore(kv: Store["kv"], maxClosed: number): ApprovalStore {
  const held = new Map<string, Approval>();
  const store: ApprovalStore = {
    async load() {
      const unreadable: string[] = [];
      for (const { key, value: row } of await kv.list(SPACE)) {
        const value = withHandler(row);
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
  return store;

  async function drop(): Promise<void> {
    const closed = store.all().filter(isClosed);
    const surplus = closed.slice(0, Math.max(0, closed.length - maxClosed));
    for (const { id } of surplus) held.delete(id);
    await Promise.all(surplus.map(({ id }) => kv.set(SPACE, id, undefined)));
  }
}

/** An older version stored no handler: what was open then cannot be judged again and is closed. */
function withHandler(row: unknown): unknown {
  if (!isRecord(row) || "handler" in row) return row;
  const { origin: _origin, body: _body, asker: _asker, ...rest } = row;
  const approval = { ...rest, handler: null };
  if (!isApproval(approval) || isClosed(approval)) return approval;
  const reason = "it was asked before this gateway was updated; ask again";
  return { ...approval, state: "denied", decision: "deny", reason, closedAtMs: approval.expiresAtMs };
}
