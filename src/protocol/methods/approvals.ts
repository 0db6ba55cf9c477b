// The exec approvals file of this host, and approvals that wait for a person.
import { Type } from "../../core/schema.ts";
import { closed, maybe, method, none, word } from "../method.ts";

const level = {
  security: maybe(Type.String()),
  ask: maybe(Type.String()),
  askFallback: maybe(Type.String()),
  autoAllowSkills: maybe(Type.Boolean()),
};
/** People, companion apps and other versions write to this file too: what we do not know stays in it. */
const open = { additionalProperties: true } as const;

const allowEntry = Type.Object(
  {
    id: maybe(Type.String()),
    pattern: Type.String(),
    argPattern: maybe(Type.String()),
    args: maybe(Type.Array(Type.String())),
    cwd: maybe(Type.String()),
    sha256: maybe(Type.String()),
    lastUsedAt: maybe(Type.Number({ minimum: 0 })),
    lastUsedCommand: maybe(Type.String()),
    lastResolvedPath: maybe(Type.String()),
  },
  open,
);

export const ApprovalsFileSchema = Type.Object(
  {
    version: Type.Literal(1),
    socket: maybe(Type.Object({ path: maybe(Type.String()), token: maybe(Type.String()) }, open)),
    defaults: maybe(Type.Object(level, open)),
    agents: maybe(
      Type.Record(Type.String(), Type.Object({ ...level, allowlist: maybe(Type.Array(allowEntry)) }, open)),
    ),
  },
  open,
);

/** The keys that mean something, by where they stand. */
export const approvalsKeys = {
  file: Object.keys(ApprovalsFileSchema.properties),
  rules: [...Object.keys(level), "allowlist"],
  entry: Object.keys(allowEntry.properties),
} as const;

export const approvalsGet = method("exec.approvals.get", "operator.admin", none);
export const approvalsSet = method(
  "exec.approvals.set",
  "operator.admin",
  Type.Object({ file: ApprovalsFileSchema, baseHash: maybe(word) }, closed),
);

const nullable = maybe(Type.Union([Type.String(), Type.Null()]));

/** Answers when a person has, or when the time is over. */
export const approvalRequest = method(
  "exec.approval.request",
  "operator.approvals",
  Type.Object(
    {
      id: maybe(word),
      command: word,
      cwd: nullable,
      host: nullable,
      security: nullable,
      ask: nullable,
      agentId: nullable,
      resolvedPath: nullable,
      sessionKey: nullable,
      timeoutMs: maybe(Type.Integer({ minimum: 1 })),
    },
    closed,
  ),
);
export const approvalResolve = method(
  "exec.approval.resolve",
  "operator.approvals",
  Type.Object({ id: word, decision: word }, closed),
);
/** What waits, oldest first, and the time here; `recent` adds that many closed ones, newest first. */
export const approvalsPending = method(
  "exec.approvals.pending",
  "operator.approvals",
  Type.Object({ recent: maybe(Type.Integer({ minimum: 0, maximum: 500 })) }, closed),
);
