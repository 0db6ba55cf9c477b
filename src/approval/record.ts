// One approval as it is stored: what was asked, who answered it, how far it got.
import { checker, Type } from "../core/schema.ts";
import type {
  Answerer,
  ApprovalDecision,
  ApprovalRequested,
  ApprovalResolved,
  ApprovalState,
  ClosedApproval,
} from "../protocol/approval.ts";

export type { Answerer, ApprovalState };

/** The parts of the gateway that ask for approvals. */
export type HandlerName = "exec" | "node" | "config" | "cron";

export interface Approval extends ClosedApproval {
  /** Who made the body and runs it. Null: a client asked for itself, and the body is unchecked. */
  readonly handler: HandlerName | null;
  /** Plain JSON, exactly as given; removed when the approval is closed. */
  readonly body?: unknown;
  /** Who asked, as plain JSON; removed when the approval is closed. */
  readonly asker?: unknown;
}

const oneOf = (words: readonly string[]) => Type.String({ pattern: `^(?:${words.join("|")})$` });
const nullable = Type.Union([Type.String(), Type.Null()]);
const maybe = { word: Type.Optional(Type.String()), moment: Type.Optional(Type.Number()) };

/** Rejects rows that are damaged or were written by a later version. */
const storedChecker = checker(
  Type.Object({
    id: Type.String({ minLength: 1 }),
    kind: oneOf(["exec", "config", "node"]),
    handler: Type.Union([oneOf(["exec", "node", "config", "cron"]), Type.Null()]),
    agent: nullable,
    session: nullable,
    request: Type.Object({ command: Type.String() }),
    card: Type.Object({
      title: Type.String(),
      text: Type.String(),
      rows: Type.Array(Type.Object({ label: Type.String(), value: Type.String() })),
      always: maybe.word,
    }),
    createdAtMs: Type.Number(),
    expiresAtMs: Type.Number(),
    state: oneOf(["pending", "allowed", "denied", "expired", "started", "done"]),
    decision: Type.Optional(oneOf(["allow-once", "allow-always", "deny"])),
    answeredAtMs: maybe.moment,
    answeredBy: Type.Optional(Type.Object({ clientId: Type.String(), surface: Type.String() })),
    closedAtMs: maybe.moment,
  }),
);

export function isApproval(value: unknown): value is Approval {
  return storedChecker.issues(value).length === 0;
}

export const isClosed = ({ state }: Approval): boolean => state === "denied" || state === "expired" || state === "done";

export function toRequested({ id, kind, request, card, createdAtMs, expiresAtMs }: Approval): ApprovalRequested {
  return { id, kind, request, card, createdAtMs, expiresAtMs };
}

export function toResolved({
  id,
  kind,
  decision,
  answeredBy,
  reason,
  answeredAtMs,
  closedAtMs,
  expiresAtMs,
}: Approval): ApprovalResolved {
  return {
    id,
    kind,
    decision: decision ?? "deny",
    resolvedBy: answeredBy?.sender ?? answeredBy?.clientId ?? "gateway",
    ...(reason === undefined ? {} : { reason }),
    ts: answeredAtMs ?? closedAtMs ?? expiresAtMs,
  };
}

/** A closed approval for clients. */
export function toTrail({ handler: _handler, body: _body, asker: _asker, ...approval }: Approval): ClosedApproval {
  return approval;
}

export function isDecision(word: string): word is ApprovalDecision {
  return word === "allow-once" || word === "allow-always" || word === "deny";
}

/** What is stored of a closed approval: readable, without secrets and without what could be run again. */
export function redactClosed(approval: Approval, mask: (text: string) => string): Approval {
  const short = (text: string): string => clip(mask(text));
  const maybeShort = (text: string | null): string | null => (text === null ? null : short(text));
  const { request, card, reason } = approval;
  return {
    ...approval,
    ...(reason === undefined ? {} : { reason: short(reason) }),
    body: undefined,
    asker: undefined,
    request: {
      ...request,
      command: short(request.command),
      cwd: maybeShort(request.cwd),
      resolvedPath: maybeShort(request.resolvedPath),
    },
    card: {
      ...card,
      text: short(card.text),
      rows: card.rows.map(({ label, value }) => ({ label, value: short(value) })),
      ...(card.always === undefined ? {} : { always: short(card.always) }),
    },
  };
}

const MAX_TRAIL_CHARS = 2_000;

function clip(text: string): string {
  if (text.length <= MAX_TRAIL_CHARS) return text;
  return `${text.slice(0, MAX_TRAIL_CHARS).toWellFormed()}… (${text.length} characters)`;
}
