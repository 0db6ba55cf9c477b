// MCP over standard input and output, passed on to POST /mcp line by line; a cancelled request is cut, and so stopped.
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";

import { isRecord } from "../core/record.ts";
import { encodeHeader, headerNameOf } from "../mcp/message.ts";
import type { Target } from "./target.ts";

export interface BridgePlan {
  readonly target: Target;
  readonly headers: Readonly<Record<string, string>>;
  readonly input: Readable;
  readonly write: (line: string) => void;
}

/** Resolves when the input ends: nobody reads any more, so what is under way is stopped. */
export async function bridgeMcp({ target, headers, input, write }: BridgePlan): Promise<void> {
  const underWay = new Map<unknown, AbortController>();
  const pass = async (line: string): Promise<void> => {
    const { id, method, params } = shapeOf(line);
    if (method === "notifications/cancelled" && isRecord(params)) underWay.get(params["requestId"])?.abort();
    const control = new AbortController();
    if (id !== undefined) underWay.set(id, control);
    try {
      const answer = await post(target, { ...headers, ...headersOf({ method, params }) }, line, control.signal);
      if (answer !== "") write(`${answer}\n`);
    } catch (error) {
      if (id === undefined || control.signal.aborted) return;
      const message = error instanceof Error ? error.message : String(error);
      write(`${JSON.stringify({ jsonrpc: "2.0", id, error: { code: -32603, message } })}\n`);
    } finally {
      underWay.delete(id);
    }
  };
  for await (const line of createInterface({ input })) if (line.trim() !== "") void pass(line);
  for (const control of underWay.values()) control.abort();
}

function shapeOf(line: string): { readonly id?: unknown; readonly method?: unknown; readonly params?: unknown } {
  try {
    const value: unknown = JSON.parse(line);
    return isRecord(value) ? value : {};
  } catch {
    return {}; // the gateway answers what is wrong with it
  }
}

/** HTTP repeats in headers what a request since 2026-07-28 states in its body; earlier ones state nothing. */
function headersOf({ method, params }: Pick<ReturnType<typeof shapeOf>, "method" | "params">): Record<string, string> {
  const meta = isRecord(params) ? params["_meta"] : undefined;
  const revision = isRecord(meta) ? meta["io.modelcontextprotocol/protocolVersion"] : undefined;
  if (typeof revision !== "string" || typeof method !== "string" || !isRecord(params)) return {};
  const name = headerNameOf(method, params);
  return {
    "mcp-protocol-version": encodeHeader(revision),
    "mcp-method": encodeHeader(method),
    ...(name === undefined ? {} : { "mcp-name": encodeHeader(name) }),
  };
}

/** By hand instead of by fetch, which gives up on answers after five minutes; a tool may take longer. */
function post(
  { url, token, password }: Target,
  headers: Readonly<Record<string, string>>,
  body: string,
  signal: AbortSignal,
): Promise<string> {
  const address = new URL("/mcp", url.replace(/^ws/, "http"));
  const { request } = process.getBuiltinModule(address.protocol === "https:" ? "node:https" : "node:http");
  return new Promise((resolve, reject) => {
    const sent = request(address, {
      method: "POST",
      signal,
      headers: {
        ...headers,
        authorization: `Bearer ${token ?? password ?? ""}`,
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
      },
    });
    sent.on("error", (cause: Error) =>
      reject(new Error(`no gateway answers at ${address.origin} (${cause.message}); start it: openclaw gateway run`)),
    );
    sent.on("response", (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("error", reject);
      response.on("end", () => {
        const text = Buffer.concat(chunks).toString("utf8");
        const trouble = troubleOf(response.statusCode ?? 0, response.headers["content-type"] ?? "", text);
        if (trouble === undefined) resolve(text.replaceAll("\n", " "));
        else reject(new Error(trouble));
      });
    });
    sent.end(body);
  });
}

/** Undefined when it is an answer of MCP, a refusal too. */
function troubleOf(status: number, type: string, text: string): string | undefined {
  if (status === 202 || (type.startsWith("application/json") && text.includes('"jsonrpc"'))) return undefined;
  if (status === 401) return "the gateway does not know this secret; see: openclaw config get gateway.auth";
  if (status === 429) return "too many wrong secrets; wait a few minutes";
  if (status === 404 || status === 405 || status === 200)
    return "the gateway does not speak MCP yet: openclaw config set gateway.http.endpoints.mcp.enabled true";
  return `the gateway answered ${status}`;
}
