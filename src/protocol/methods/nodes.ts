// Nodes over the wire: what operators ask of them, and what they answer and report.
import { Type } from "../../core/schema.ts";
import { closed, maybe, method, none, word } from "../method.ts";
import { ApprovalsFileSchema } from "./approvals.ts";

const one = Type.Object({ nodeId: word }, closed);

export const nodeList = method("node.list", "operator.read", none);
export const nodeDescribe = method("node.describe", "operator.read", one);
/** Acts on the record of the paired device (ruling 33). */
export const nodeRename = method(
  "node.rename",
  "operator.pairing",
  Type.Object({ nodeId: word, displayName: word }, closed),
);
export const nodeInvoke = method(
  "node.invoke",
  "operator.write",
  Type.Object(
    {
      nodeId: word,
      command: word,
      params: maybe(Type.Unknown()),
      timeoutMs: maybe(Type.Integer({ minimum: 0 })),
      idempotencyKey: word,
    },
    closed,
  ),
);
export const nodeInvokeResult = method(
  "node.invoke.result",
  "node",
  Type.Object(
    {
      id: word,
      nodeId: word,
      ok: Type.Boolean(),
      payload: maybe(Type.Unknown()),
      payloadJSON: maybe(Type.Unknown()),
      error: maybe(
        Type.Union([Type.Object({ code: maybe(Type.String()), message: maybe(Type.String()) }), Type.Null()]),
      ),
    },
    closed,
  ),
);
export const nodeEvent = method(
  "node.event",
  "node",
  Type.Object({ event: word, payload: maybe(Type.Unknown()), payloadJSON: maybe(Type.String()) }, closed),
);
export const approvalsNodeGet = method("exec.approvals.node.get", "operator.admin", one);
export const approvalsNodeSet = method(
  "exec.approvals.node.set",
  "operator.admin",
  Type.Object({ nodeId: word, file: ApprovalsFileSchema, baseHash: maybe(word) }, closed),
);
