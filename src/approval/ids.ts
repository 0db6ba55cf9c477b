// Which approval an id means. A short form must mean one thing, and an id is used once. Pure.
import { OpenClawError } from "../core/error.ts";
import { unknownId } from "./transitions.ts";
import type { Approval } from "./record.ts";

const MIN_PREFIX = 8;
const MAX_PENDING = 200;
/** One session must not be able to fill the desk, or nobody else could ask any more. */
const MAX_OF_SESSION = 100;

/** The whole id, from itself or an unambiguous beginning. */
export function idNamed(given: string, pending: readonly Approval[]): string {
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

export function refuseCrowd(session: string | null, pending: readonly Approval[]): void {
  const own = session === null ? 0 : pending.filter((other) => other.session === session).length;
  if (own < MAX_OF_SESSION) return;
  throw new OpenClawError("approval.too-many", `${own} questions of this session wait already`, {
    hint: "openclaw approvals pending",
  });
}

/** No id may be the beginning of another that waits, or somebody could borrow another's short form. */
export function refuseClash(id: string, isKnown: boolean, pending: readonly Approval[]): void {
  const wanted = id.toLowerCase();
  const isClash = pending.some((other) => {
    const own = other.id.toLowerCase();
    return own.startsWith(wanted) || wanted.startsWith(own);
  });
  if (isClash || isKnown)
    throw new OpenClawError("approval.id-taken", "this approval id is taken", { hint: "leave out the id" });
  if (pending.length < MAX_PENDING) return;
  throw new OpenClawError("approval.too-many", `${pending.length} approvals wait already`, {
    hint: "openclaw approvals pending",
  });
}
