// The exec approvals file of this host, and approvals that wait for an answer.
import { Type, type Static } from "../../core/schema.ts";
import { closed, method, noParams, nonEmpty, optional, returns } from "../method.ts";
import type { ApprovalDecision, ApprovalRequested, ClosedApproval } from "../approval.ts";

const level = {
  security: optional(Type.String()),
  ask: optional(Type.String()),
  askFallback: optional(Type.String()),
  autoAllowSkills: optional(Type.Boolean()),
};
/** People, companion apps and other versions write to this file too, so unknown keys stay in it. */
const open = { additionalProperties: true } as const;

const allowEntry = Type.Object(
  {
    id: optional(Type.String()),
    pattern: Type.String(),
    argPattern: optional(Type.String()),
    args: optional(Type.Array(Type.String())),
    cwd: optional(Type.String()),
    sha256: optional(Type.String()),
    lastUsedAt: optional(Type.Number({ minimum: 0 })),
    lastUsedCommand: optional(Type.String()),
    lastResolvedPath: optional(Type.String()),
  },
  open,
);

export const ApprovalsFileSchema = Type.Object(
  {
    version: Type.Literal(1),
    socket: optional(Type.Object({ path: optional(Type.String()), token: optional(Type.String()) }, open)),
    defaults: optional(Type.Object(level, open)),
    agents: optional(
      Type.Record(Type.String(), Type.Object({ ...level, allowlist: optional(Type.Array(allowEntry)) }, open)),
    ),
  },
  open,
);

/** The known keys, by the object they belong to. */
export const approvalsKeys = {
  file: Object.keys(ApprovalsFileSchema.properties),
  rules: [...Object.keys(level), "allowlist"],
  entry: Object.keys(allowEntry.properties),
} as const;

export const approvalsGet = method("exec.approvals.get", "operator.admin", noParams, returns<ApprovalsSnapshot>());
export const approvalsSet = method(
  "exec.approvals.set",
  "operator.admin",
  Type.Object({ file: ApprovalsFileSchema, baseHash: optional(nonEmpty) }, closed),
  returns<ApprovalsSnapshot>(),
);

const nullable = optional(Type.Union([Type.String(), Type.Null()]));

/** Answers when a person has answered or the request has expired. */
export const approvalRequest = method(
  "exec.approval.request",
  "operator.approvals",
  Type.Object(
    {
      id: optional(nonEmpty),
      command: nonEmpty,
      cwd: nullable,
      host: nullable,
      security: nullable,
      ask: nullable,
      agentId: nullable,
      resolvedPath: nullable,
      sessionKey: nullable,
      timeoutMs: optional(Type.Integer({ minimum: 1 })),
    },
    closed,
  ),
  returns<ApprovalAnswer>(),
);
export const approvalResolve = method(
  "exec.approval.resolve",
  "operator.approvals",
  Type.Object({ id: nonEmpty, decision: nonEmpty }, closed),
  returns<ApprovalResolution>(),
);
/** Pending approvals, oldest first, with the time of the gateway; `recent` adds that many closed ones, newest first. */
export const approvalsPending = method(
  "exec.approvals.pending",
  "operator.approvals",
  Type.Object({ recent: optional(Type.Integer({ minimum: 0, maximum: 500 })) }, closed),
  returns<PendingApprovals>(),
);

export type ApprovalsFile = Static<typeof ApprovalsFileSchema>;

export interface ApprovalsSnapshot {
  readonly path: string;
  readonly exists: boolean;
  readonly hash: string;
  readonly file: ApprovalsFile;
  /** The file existed before and is missing now: `file` has the last known rules, which stay in force. */
  readonly lost?: true;
}

export interface ApprovalAnswer {
  readonly id: string;
  /** Null when the request expired. */
  readonly decision: ApprovalDecision | null;
  readonly createdAtMs: number;
  readonly expiresAtMs: number;
}

export interface ApprovalResolution {
  readonly ok: true;
  /** Set when the rules in force turned an allow into a denial. */
  readonly decision?: "deny";
  readonly reason?: string;
}

export interface PendingApprovals {
  readonly now: number;
  readonly pending: readonly ApprovalRequested[];
  readonly recent?: readonly ClosedApproval[];
}
