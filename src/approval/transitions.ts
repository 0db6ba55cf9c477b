// The steps an approval can take. Pure: time comes in, a new record or a typed refusal goes out.
import { OpenClawError } from "../core/error.ts";
import { newId } from "../base/ids.ts";
import type { ApprovalCard, ApprovalDecision, ApprovalKind, ApprovalRequest } from "../protocol/approval.ts";
import { fieldsWhole, shownWhole } from "./card.ts";
import type { Answerer, Approval } from "./record.ts";

export interface AskRequest {
  /** Chosen by the caller, or a fresh UUID. */
  readonly id?: string | undefined;
  readonly kind: ApprovalKind;
  /** Who made the body; a client's own words are never a plan of the house. Default `house`. */
  readonly origin?: Approval["origin"];
  readonly agent: string | null;
  readonly session: string | null;
  /** Default 120,000. */
  readonly timeoutMs?: number | undefined;
  /** Plain JSON: the frozen plan, or the change. What was asked is what may be done. */
  readonly body: unknown;
  /** Plain JSON: who asked, for the checks at the answer and at the start. */
  readonly asker?: unknown;
  readonly card: ApprovalCard;
  /** The recorded fields of the wire, where they are known. */
  readonly request?: {
    readonly [Field in "command" | "cwd" | "host" | "security" | "ask" | "resolvedPath"]?:
      | ApprovalRequest[Field]
      | undefined;
  };
}

const DEFAULT_TIMEOUT_MS = 120_000;
const MAX_TIMEOUT_MS = 24 * 3_600_000;
/** A yes is for now: unused, it ends. */
export const GRANT_LIFE_MS = 60_000;
const MAX_BODY_CHARS = 1_000_000;
const idPattern = /^[A-Za-z0-9][A-Za-z0-9._:-]{0,127}$/;

export function opened(ask: AskRequest, now: number): Approval {
  const { id = newId(), kind, origin = "house", agent, session, timeoutMs = DEFAULT_TIMEOUT_MS } = ask;
  if (!idPattern.test(id))
    throw new OpenClawError("approval.bad-id", "approval id: letters, digits and . _ : - only, at most 128");
  const card = shownWhole(ask.card);
  const { command = card.text, cwd = null, host = null, security = null, ask: asks = null } = ask.request ?? {};
  const { resolvedPath = null } = ask.request ?? {};
  return {
    id,
    kind,
    origin,
    agent,
    session,
    request: fieldsWhole({
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

/** The caller keeps no hand on what was asked. */
function copyOf(body: unknown): unknown {
  const text = JSON.stringify(body ?? null);
  if (text.length <= MAX_BODY_CHARS) return JSON.parse(text) as unknown;
  throw new OpenClawError("approval.too-long", `cannot be asked: ${text.length} characters are too many to keep`);
}

export function answered(current: Approval, decision: ApprovalDecision, by: Answerer, now: number): Approval {
  if (current.state !== "pending") throw unknownId();
  if (now >= current.expiresAtMs) return expired(current, now);
  if (current.kind === "config" && decision === "allow-always") {
    throw new OpenClawError("approval.no-always", "invalid decision: this can be allowed once or denied", {
      hint: "allow-once or deny",
    });
  }
  const next = { ...current, decision, answeredAtMs: now, answeredBy: by };
  return decision === "deny" ? { ...next, state: "denied", closedAtMs: now } : { ...next, state: "allowed" };
}

export function expired(current: Approval, now: number): Approval {
  if (current.state !== "pending") return current;
  return { ...current, state: "expired", reason: "nobody answered in time", closedAtMs: now };
}

export function withdrawn(current: Approval, reason: string, now: number): Approval {
  if (current.state !== "pending") return current;
  return { ...current, state: "denied", decision: "deny", reason, closedAtMs: now };
}

/** A yes that was not used. The answer stays on record; the outcome is a denial. */
export function lapsed(current: Approval, reason: string, now: number): Approval {
  return current.state === "allowed" ? { ...current, state: "denied", reason, closedAtMs: now } : current;
}

/** Allowed by a person, and not by the rules in force when it would start. */
export function refused(current: Approval, reason: string, now: number): Approval {
  if (current.state !== "allowed") return current;
  return { ...current, state: "denied", decision: "deny", reason, closedAtMs: now };
}

export function begun(current: Approval, now: number): Approval {
  if (current.state !== "allowed") return current;
  if (now >= grantEnd(current)) return lapsed(current, "it was allowed, but not begun in time", now);
  return { ...current, state: "started", startedAtMs: now };
}

export function finished(current: Approval, outcome: string | undefined, now: number): Approval {
  if (current.state !== "started") return current;
  return { ...current, state: "done", closedAtMs: now, ...(outcome === undefined ? {} : { reason: outcome }) };
}

export const grantEnd = ({ answeredAtMs = 0 }: Approval): number => answeredAtMs + GRANT_LIFE_MS;

/** The recorded words; whoever comes second cannot tell whether the id ever was. */
export function unknownId(): OpenClawError {
  return new OpenClawError("approval.unknown", "unknown approval id", {
    hint: "it was answered, has expired or never was: openclaw approvals pending",
  });
}
