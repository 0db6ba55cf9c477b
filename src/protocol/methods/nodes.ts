// Nodes over the wire: what operators ask of them, and what they answer and report.
import { Type } from "../../core/schema.ts";
import { closed, method, noParams, nonEmpty, optional, returns } from "../method.ts";
import { ApprovalsFileSchema } from "./approvals.ts";

const one = Type.Object({ nodeId: nonEmpty }, closed);

export const nodeList = method(
  "node.list",
  "operator.read",
  noParams,
  returns<{ readonly ts: number; readonly nodes: readonly NodeRow[] }>(),
);
export const nodeDescribe = method("node.describe", "operator.read", one, returns<NodeRow & { readonly ts: number }>());
/** Changes the record of the paired device (docs/decisions/0033-one-pairing-record.md). */
export const nodeRename = method(
  "node.rename",
  "operator.pairing",
  Type.Object({ nodeId: nonEmpty, displayName: nonEmpty }, closed),
  returns<{ readonly nodeId: string; readonly displayName: string }>(),
);
export const nodeInvoke = method(
  "node.invoke",
  "operator.write",
  Type.Object(
    {
      nodeId: nonEmpty,
      command: nonEmpty,
      params: optional(Type.Unknown()),
      timeoutMs: optional(Type.Integer({ minimum: 0 })),
      idempotencyKey: nonEmpty,
    },
    closed,
  ),
  returns<NodeInvokeResult>(),
);
export const nodeInvokeResult = method(
  "node.invoke.result",
  "node",
  Type.Object(
    {
      id: nonEmpty,
      nodeId: nonEmpty,
      ok: Type.Boolean(),
      payload: optional(Type.Unknown()),
      payloadJSON: optional(Type.Unknown()),
      error: optional(
        Type.Union([Type.Object({ code: optional(Type.String()), message: optional(Type.String()) }), Type.Null()]),
      ),
    },
    closed,
  ),
  returns<{ readonly ok: true; readonly ignored?: true }>(),
);
export const nodeEvent = method(
  "node.event",
  "node",
  Type.Object({ event: nonEmpty, payload: optional(Type.Unknown()), payloadJSON: optional(Type.String()) }, closed),
  returns<{ readonly ok: true; readonly handled?: true; readonly runId?: string }>(),
);
/** The result of this and the next is what the node sent; the gateway does not check it. */
export const approvalsNodeGet = method("exec.approvals.node.get", "operator.admin", one, returns<unknown>());
export const approvalsNodeSet = method(
  "exec.approvals.node.set",
  "operator.admin",
  Type.Object({ nodeId: nonEmpty, file: ApprovalsFileSchema, baseHash: optional(nonEmpty) }, closed),
  returns<unknown>(),
);

/** A row of `node.list`; `commands` and `caps` are empty while the node is not connected. */
export interface NodeRow {
  readonly nodeId: string;
  readonly displayName?: string;
  /** `linux`, `macos 26.1`, `windows` … as the node reports it. */
  readonly platform: string;
  readonly version?: string;
  readonly deviceFamily?: string;
  readonly modelIdentifier?: string;
  readonly remoteIp?: string;
  readonly pathEnv?: string;
  readonly caps: readonly string[];
  readonly commands: readonly string[];
  readonly permissions?: Readonly<Record<string, boolean>>;
  readonly connectedAtMs?: number;
  readonly paired: boolean;
  readonly connected: boolean;
}

export interface NodeInvokeResult {
  readonly ok: true;
  readonly nodeId: string;
  readonly command: string;
  readonly payload: unknown;
  readonly payloadJSON: string | undefined;
}
