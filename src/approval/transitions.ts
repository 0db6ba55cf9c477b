// The transitions of an approval. Pure: a record and the time in, the next record or a typed error out.
import { OpenClawError } from "../core/error.ts";
import { newId } from "../base/ids.ts";
import type { ApprovalCard, ApprovalDecision, ApprovalKind, ApprovalRequest } from "../protocol/approval.ts";
import { visibleCard, visibleFields } from "./card.ts";
import type { Answerer, Approval, HandlerName } from "./record.ts";

export interface AskRequest {
  /** Default: a new UUID. */
  readonly id?: string | undefined;
  readonly agent: string | null;
  readonly session: string | null;
  /** Default 120,000. */
  readonly timeoutMs?: number | undefined;
  /** Plain JSON: the frozen plan, or the change. Exactly this is done when it is allowed. */
  readonly body: unknown;
  /** Plain JSON: who asked, for the rechecks. */
  readonly asker?: unknown;
  /** The recorded fields of the wire, where they are known. */
  readonly request?: {
    readonly [Field in "command" | "cwd" | "host" | "security" | "ask" | "resolvedPath"]?:
      | ApprovalRequest[Field]
      | undefined;
  };
}

/** What the handler adds to a request. */
export interface RequestForm {
  readonly handler: HandlerName | null;
  readonly kind: ApprovalKind;
  readonly card: ApprovalCard;
}

const DEFAULT_TIMEOUT_MS = 120_000;
const MAX_TIMEOUT_MS = 24 * 3_600_000;
export const NOT_STARTED_IN_TIME = "it was allowed, but not started in time";
/** How long an allowed approval can be started. */
export const GRANT_LIFE_MS = 60_000;
const MAX_BODY_CHARS = 1_000_000;
const idPattern = /^[A-Za-z0-9][A-Za-z0-9._:-]{0,127}$/;

export function opened(ask: AskRequest, { handler, kind, card: given }: RequestForm, now: number): Approval {
  const { id = newId(), agent, session, timeoutMs = DEFAULT_TIMEOUT_MS } = ask;
  if (!idPattern.test(id))
    throw new OpenClawError("approval.bad-id", "approval id: letters, digits and . _ : - only, at most 128");
  const card = visibleCard(given);
  const { command = card.text, cwd = null, host = null, security = null } = ask.request ?? {};
  const { ask: asks = null, resolvedPath = null } = ask.request ?? {};
  return {
    id,
    kind,
    handler,
    agent,
    session,
    request: visibleFields({
      command,
      cwd,
      host,
      security,
      ask: asks,
      agentId: agent,
      resolvedPath,
      sessionKey: session,
    }),
    card,
    body: copyOf(ask.body),
    ...(ask.asker === undefined ? {} : { asker: copyOf(ask.asker) }),
    createdAtMs: now,
    expiresAtMs: now + Math.min(Math.max(1, timeoutMs), MAX_TIMEOUT_MS),
    state: "pending",
  };
}

/** A copy, so that the caller cannot change what was asked. */
function copyOf(body: unknown): unknown {
  const text = JSON.stringify(body ?? null);
  if (text.length <= MAX_BODY_CHARS) return JSON.parse(text) as unknown;
  throw new OpenClawError(
    "approval.too-long",
    `cannot ask for approval: the request has ${text.length} characters (at most ${MAX_BODY_CHARS})`,
  );
}

export interface Answer {
  readonly decision: ApprovalDecision;
  readonly by: Answerer;
}

export function answered(current: Approval, { decision, by }: Answer, now: number): Approval {
  if (current.state !== "pending") throw unknownId();
  if (now >= current.expiresAtMs) return expired(current, now);
  const next = { ...current, decision, answeredAtMs: now, answeredBy: by };
  return decision === "deny" ? { ...next, state: "denied", closedAtMs: now } : { ...next, state: "allowed" };
}

export function expired(current: Approval, now: number): Approval {
  if (current.state !== "pending") return current;
  return { ...current, state: "expired", reason: "the approval expired without an answer", closedAtMs: now };
}

export function withdrawn(current: Approval, reason: string, now: number): Approval {
  if (current.state !== "pending") return current;
  return { ...current, state: "denied", decision: "deny", reason, closedAtMs: now };
}

/** Allowed and not started. The answer stays on record; the outcome is a denial. */
export function lapsed(current: Approval, reason: string, now: number): Approval {
  return current.state === "allowed" ? { ...current, state: "denied", reason, closedAtMs: now } : current;
}

/** Allowed by a person, but not by the rules in force. */
export function refused(current: Approval, reason: string, now: number): Approval {
  if (current.state !== "allowed") return current;
  return { ...current, state: "denied", decision: "deny", reason, closedAtMs: now };
}

export function started(current: Approval, now: number): Approval {
  if (current.state !== "allowed") return current;
  if (now >= grantEnd(current)) return lapsed(current, NOT_STARTED_IN_TIME, now);
  return { ...current, state: "started", startedAtMs: now };
}

export function finished(current: Approval, outcome: string | undefined, now: number): Approval {
  if (current.state !== "started") return current;
  return { ...current, state: "done", closedAtMs: now, ...(outcome === undefined ? {} : { reason: outcome }) };
}

export const grantEnd = ({ answeredAtMs = 0 }: Approval): number => answeredAtMs + GRANT_LIFE_MS;

/** The recorded text, the same for answered and for unknown ids. */
export function unknownId(): OpenClawError {
  return new OpenClawError("approval.unknown", "unknown approval id", {
    hint: "it was already answered, expired or never existed: openclaw approvals pending",
  });
}
