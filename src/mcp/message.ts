// JSON-RPC as MCP uses it over HTTP: what a message is, which revision it speaks, and answers with their status.
import { isRecord } from "../core/record.ts";

export type RpcId = string | number;

export interface RpcRequest {
  /** Undefined: a notification, which gets no answer. */
  readonly id: RpcId | undefined;
  readonly method: string;
  readonly params: Readonly<Record<string, unknown>>;
  /** Since 2026-07-28 each request states its revision itself; before, `initialize` agreed on one. */
  readonly revision: string | undefined;
}

/** The answer of a client to a question of ours. */
export interface RpcReply {
  readonly replyTo: unknown;
  /** Undefined when the client answered with an error. */
  readonly result: Readonly<Record<string, unknown>> | undefined;
  readonly error: string | undefined;
}

export interface RpcAnswer {
  readonly status: number;
  /** Undefined where the protocol wants an empty body. */
  readonly body?: object;
  /** Of the session that `initialize` opened. */
  readonly sessionId?: string;
}

/** What HTTP headers state about the body. A proxy may have decided by them, so they must agree with the body. */
export interface HeaderClaims {
  readonly revision?: string | undefined;
  readonly method?: string | undefined;
  readonly name?: string | undefined;
  /** `Mcp-Param-<name>`: an argument of a tool, repeated for proxies. */
  param?(name: string): string | undefined;
}

/** Newest first. Agreed on by `initialize`. */
export const HANDSHAKE_REVISIONS = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"] as const;
/** Newest first. Stated by every request. */
export const STATELESS_REVISIONS = ["2026-07-28"] as const;

/** The only revision with batches. Requests without the version header count as this one. */
const BATCH_REVISION = "2025-03-26";
const MAX_BATCH = 50;

export const RPC = {
  parse: -32700,
  invalid: -32600,
  unknownMethod: -32601,
  badParams: -32602,
  internal: -32603,
  /** Until 2025-11-25; later ones are bad parameters. */
  unknownResource: -32002,
  headerMismatch: -32020,
  missingCapability: -32021,
  badRevision: -32022,
} as const;

export const META = "io.modelcontextprotocol/";
const metaKeys = ["protocolVersion", "clientInfo", "clientCapabilities"].map((name) => `${META}${name}`);

/** The messages of a batch, undefined for a body that is no batch, or the refusal of the whole batch. */
export function readBatch(value: unknown, { revision }: HeaderClaims): readonly unknown[] | RpcAnswer | undefined {
  if (!Array.isArray(value)) return undefined;
  if ((revision ?? BATCH_REVISION) !== BATCH_REVISION)
    return refusal(400, RPC.invalid, `batches exist only in revision ${BATCH_REVISION}; send one message per request`);
  if (value.length === 0 || value.length > MAX_BATCH)
    return refusal(400, RPC.invalid, `a batch holds 1 to ${MAX_BATCH} messages, this one holds ${value.length}`);
  if (value.some((one) => isRecord(one) && (one["method"] === "initialize" || metaOf(one["params"]) !== undefined)))
    return refusal(400, RPC.invalid, "initialize and requests that state their revision cannot be part of a batch");
  return value;
}

/** A request, a notification or a reply; or the answer to what is none of them. */
export function readMessage(value: unknown, claims: HeaderClaims): RpcRequest | RpcReply | RpcAnswer {
  if (!isRecord(value) || value["jsonrpc"] !== "2.0") return refusal(400, RPC.invalid, "no JSON-RPC 2.0 message");
  const { id, method, params = {} } = value;
  if (method === undefined && ("result" in value || "error" in value)) return readReply(value);
  if (typeof method !== "string") return refusal(400, RPC.invalid, "method must be a string");
  if (id !== undefined && typeof id !== "string" && !Number.isSafeInteger(id))
    return refusal(400, RPC.invalid, "id must be a string or an integer");
  const request = { id: id as RpcId | undefined, method, params: isRecord(params) ? params : {}, revision: undefined };
  const meta = metaOf(params);
  if (meta === undefined && !isStateless(claims.revision)) return readHandshake(request, params, claims);
  // Notifications have no header rules and get no answer, so nothing is to be checked.
  return id === undefined ? request : readStateless(request, meta ?? {}, claims);
}

function readReply({ id, result: given, error }: Readonly<Record<string, unknown>>): RpcReply {
  const message = isRecord(error) && typeof error["message"] === "string" ? error["message"] : "no reason given";
  return { replyTo: id, result: isRecord(given) ? given : undefined, error: isRecord(given) ? undefined : message };
}

function readHandshake(request: RpcRequest, params: unknown, { revision }: HeaderClaims): RpcRequest | RpcAnswer {
  const known: readonly string[] = HANDSHAKE_REVISIONS;
  if (revision !== undefined && !known.includes(revision) && request.method !== "initialize")
    return unknownRevision(revision, request.id);
  return isRecord(params) ? request : refusal(200, RPC.badParams, "params must be an object", request.id);
}

function readStateless(
  request: RpcRequest,
  meta: Readonly<Record<string, unknown>>,
  claims: HeaderClaims,
): RpcRequest | RpcAnswer {
  const { id } = request;
  const stated = meta[`${META}protocolVersion`];
  const wrong = headerProblem(request, stated, claims);
  if (wrong !== undefined) return refusal(400, RPC.headerMismatch, `header mismatch: ${wrong}`, id);
  if (typeof stated !== "string")
    return refusal(400, RPC.badParams, `params._meta needs "${META}protocolVersion", a string`, id);
  if (!isStateless(stated)) return unknownRevision(stated, id);
  if (!isRecord(meta[`${META}clientCapabilities`]))
    return refusal(400, RPC.badParams, `params._meta needs "${META}clientCapabilities", an object`, id);
  return { ...request, revision: stated };
}

/** What is wrong with the headers of a request that states its revision. */
function headerProblem(
  { method, params }: RpcRequest,
  stated: unknown,
  { revision, method: claimed, name }: HeaderClaims,
): string | undefined {
  if (revision === undefined) return "MCP-Protocol-Version is missing";
  if (stated !== undefined && revision !== stated) return "MCP-Protocol-Version is not the revision in params._meta";
  if (claimed === undefined) return "Mcp-Method is missing";
  if (claimed !== method) return "Mcp-Method is not the method of the body";
  const source = namedBy[method];
  if (source === undefined) return undefined;
  if (name === undefined) return "Mcp-Name is missing";
  const decoded = decodeHeader(name);
  if (decoded === undefined) return "Mcp-Name is not valid Base64 of UTF-8 text";
  return decoded === params[source] ? undefined : `Mcp-Name is not params.${source} of the body`;
}

const namedBy: Readonly<Record<string, string | undefined>> = {
  "tools/call": "name",
  "prompts/get": "name",
  "resources/read": "uri",
};

/** The parameter that `Mcp-Name` repeats for this method, if any. */
export function headerNameOf(method: string, params: Readonly<Record<string, unknown>>): string | undefined {
  const value = params[namedBy[method] ?? ""];
  return typeof value === "string" ? value : undefined;
}

/** Text that is not plain ASCII, or looks encoded, travels as Base64 of its UTF-8 bytes. */
export function encodeHeader(text: string): string {
  const isPlain = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(text) && !encoded.test(text);
  return isPlain ? text : `=?base64?${Buffer.from(text, "utf8").toString("base64")}?=`;
}

const encoded = /^=\?base64\?(.*)\?=$/;

export function decodeHeader(value: string): string | undefined {
  const base64 = encoded.exec(value)?.[1];
  if (base64 === undefined) return value;
  const bytes = Buffer.from(base64, "base64");
  if (bytes.toString("base64") !== base64) return undefined;
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined; // not UTF-8: the caller refuses it
  }
}

/** The `_meta` of a request that carries its own protocol fields, as requests since 2026-07-28 do. */
function metaOf(params: unknown): Readonly<Record<string, unknown>> | undefined {
  const meta = isRecord(params) ? params["_meta"] : undefined;
  return isRecord(meta) && metaKeys.some((key) => Object.hasOwn(meta, key)) ? meta : undefined;
}

function isStateless(revision: string | undefined): boolean {
  const known: readonly (string | undefined)[] = STATELESS_REVISIONS;
  return known.includes(revision);
}

function unknownRevision(requested: string, id: RpcId | undefined): RpcAnswer {
  const shown = requested.slice(0, 40);
  return refusal(400, RPC.badRevision, `unsupported protocol version: ${shown}`, id, {
    supported: [...STATELESS_REVISIONS, ...HANDSHAKE_REVISIONS],
    requested: shown,
  });
}

export interface ServerInfo {
  readonly name: string;
  readonly version: string;
}

/** Since 2026-07-28 each result states that it is whole, and who gave it. */
export function result(
  { id, revision }: RpcRequest,
  value: Readonly<Record<string, unknown>>,
  serverInfo: ServerInfo,
): RpcAnswer {
  const own = isRecord(value["_meta"]) ? value["_meta"] : {};
  const whole =
    revision === undefined
      ? value
      : { resultType: "complete", ...value, _meta: { ...own, [`${META}serverInfo`]: serverInfo } };
  return { status: 200, body: { jsonrpc: "2.0", id, result: whole } };
}

/** Without an id when the request's own could not be read: null is no id in MCP. */
export function refusal(status: number, code: number, message: string, id?: RpcId, more?: unknown): RpcAnswer {
  const error = { code, message, ...(more === undefined ? {} : { data: more }) };
  return { status, body: { jsonrpc: "2.0", ...(id === undefined ? {} : { id }), error } };
}
