// Resolves the ids of approvals: a short form must be unambiguous, and an id is used once. Pure.
import { OpenClawError } from "../core/error.ts";
import { unknownId } from "./transitions.ts";
import type { Approval } from "./record.ts";

const MIN_PREFIX = 8;
const MAX_PENDING = 200;
/** Lower than the limit of all, so that one session cannot keep the others from asking. */
const MAX_PENDING_PER_SESSION = 100;

/** The whole id, given itself or an unambiguous beginning of it. */
export function resolveId(given: string, pending: readonly Approval[]): string {
  const wanted = given.trim().toLowerCase();
  const found = pending.filter(({ id }) => {
    const own = id.toLowerCase();
    return own === wanted || (wanted.length >= MIN_PREFIX && own.startsWith(wanted));
  });
  const [first, ...more] = found;
  if (first === undefined) throw unknownId();
  if (more.length === 0) return first.id;
  throw new OpenClawError("approval.ambiguous", `${found.length} approvals begin with "${wanted}"`, {
    hint: "give more of the id: openclaw approvals pending",
  });
}

export function requireSessionCapacity(session: string | null, pending: readonly Approval[]): void {
  const own = session === null ? 0 : pending.filter((other) => other.session === session).length;
  if (own < MAX_PENDING_PER_SESSION) return;
  throw new OpenClawError("approval.too-many", `this session already has ${own} approvals waiting`, {
    hint: "answer them first: openclaw approvals pending",
  });
}

/** An id must not be the beginning of another that waits, or its short form could answer the other one. */
export function requireFreeId(id: string, isKnown: boolean, pending: readonly Approval[]): void {
  const wanted = id.toLowerCase();
  const isClash = pending.some((other) => {
    const own = other.id.toLowerCase();
    return own.startsWith(wanted) || wanted.startsWith(own);
  });
  if (isClash || isKnown)
    throw new OpenClawError("approval.id-taken", "this approval id is taken", { hint: "leave out the id" });
  if (pending.length < MAX_PENDING) return;
  throw new OpenClawError("approval.too-many", `${pending.length} approvals are already waiting`, {
    hint: "answer them first: openclaw approvals pending",
  });
}
