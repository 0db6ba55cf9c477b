// JSON-RPC as MCP uses it over HTTP: what a message is, which revision it speaks, and answers with their status.
import { isRecord } from "../core/record.ts";

export type RpcId = string | number;

export interface RpcRequest {
  /** Undefined: a notification, which gets no answer. */
  readonly id: RpcId | undefined;
  readonly method: string;
  readonly params: Readonly<Record<string, unknown>>;
  /** Since 2026-07-28 each request says its revision itself; before, `initialize` agreed on one. */
  readonly revision: string | undefined;
}

export interface RpcAnswer {
  readonly status: number;
  /** Undefined where the protocol wants an empty body. */
  readonly body?: object;
}

/** What HTTP headers say about the body; they must not say otherwise, or a proxy judged another message than we do. */
export interface HeaderClaims {
  readonly revision?: string | undefined;
  readonly method?: string | undefined;
  readonly name?: string | undefined;
}

/** Newest first. Agreed on by `initialize`. */
export const SHAKEN = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"] as const;
/** Newest first. Stated by every request. */
export const STATED = ["2026-07-28"] as const;

export const RPC = {
  parse: -32700,
  invalid: -32600,
  unknownMethod: -32601,
  badParams: -32602,
  internal: -32603,
  headerMismatch: -32020,
  badRevision: -32022,
} as const;

/** A request or notification; or the answer to what is neither. */
export function readMessage(value: unknown, claims: HeaderClaims): RpcRequest | RpcAnswer {
  if (Array.isArray(value)) return refusal(400, RPC.invalid, "one message a request: batches are not taken");
  if (!isRecord(value) || value["jsonrpc"] !== "2.0") return refusal(400, RPC.invalid, "no JSON-RPC 2.0 message");
  const { id, method, params = {} } = value;
  // An answer to a question of ours: we ask none.
  if (method === undefined && ("result" in value || "error" in value)) return { status: 202 };
  if (typeof method !== "string") return refusal(400, RPC.invalid, "method must be a string");
  if (id !== undefined && typeof id !== "string" && typeof id !== "number")
    return refusal(400, RPC.invalid, "id must be a string or a number");
  if (!isRecord(params)) return refusal(200, RPC.badParams, "params must be an object", id);
  const meta = params["_meta"];
  const said = isRecord(meta) ? meta["io.modelcontextprotocol/protocolVersion"] : undefined;
  const request = { id, method, params, revision: typeof said === "string" ? said : undefined };
  return misfit(request, claims) ?? request;
}

function misfit({ id, method, params, revision }: RpcRequest, claims: HeaderClaims): RpcAnswer | undefined {
  const known: readonly string[] = revision === undefined ? SHAKEN : STATED;
  const asked = revision ?? claims.revision;
  if (asked !== undefined && !known.includes(asked) && method !== "initialize")
    return refusal(400, RPC.badRevision, `this revision of MCP is not spoken here: ${asked.slice(0, 40)}`, id, {
      supported: [...STATED, ...SHAKEN],
      requested: asked.slice(0, 40),
    });
  if (revision === undefined) return undefined;
  const isTrue =
    (claims.revision ?? revision) === revision &&
    (claims.method ?? method) === method &&
    (method !== "tools/call" || claims.name === undefined || claims.name === params["name"]);
  return isTrue ? undefined : refusal(400, RPC.headerMismatch, "the mcp- headers say otherwise than the body", id);
}

export function result({ id, revision }: RpcRequest, value: Readonly<Record<string, unknown>>): RpcAnswer {
  const whole = revision === undefined ? value : { resultType: "complete", ...value };
  return { status: 200, body: { jsonrpc: "2.0", id, result: whole } };
}

export function refusal(status: number, code: number, message: string, id?: RpcId, more?: unknown): RpcAnswer {
  const error = { code, message, ...(more === undefined ? {} : { data: more }) };
  return { status, body: { jsonrpc: "2.0", id: id ?? null, error } };
}
