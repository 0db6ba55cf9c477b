// The exec approvals file of this host.
import { Type } from "../../core/schema.ts";
import { closed, maybe, method, none, word } from "../method.ts";

const level = {
  security: maybe(Type.String()),
  ask: maybe(Type.String()),
  askFallback: maybe(Type.String()),
  autoAllowSkills: maybe(Type.Boolean()),
};
const allowEntry = Type.Object(
  {
    id: maybe(Type.String()),
    pattern: Type.String(),
    lastUsedAt: maybe(Type.Number({ minimum: 0 })),
    lastUsedCommand: maybe(Type.String()),
    lastResolvedPath: maybe(Type.String()),
  },
  closed,
);

export const ApprovalsFileSchema = Type.Object(
  {
    version: Type.Literal(1),
    socket: maybe(Type.Object({ path: maybe(Type.String()), token: maybe(Type.String()) }, closed)),
    defaults: maybe(Type.Object(level, closed)),
    agents: maybe(
      Type.Record(Type.String(), Type.Object({ ...level, allowlist: maybe(Type.Array(allowEntry)) }, closed)),
    ),
  },
  closed,
);

export const approvalsGet = method("exec.approvals.get", "operator.admin", none);
export const approvalsSet = method(
  "exec.approvals.set",
  "operator.admin",
  Type.Object({ file: ApprovalsFileSchema, baseHash: maybe(word) }, closed),
);
