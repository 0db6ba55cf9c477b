// Passes a tool call to another gateway: only on this machine or gateway.remote.url, only with the token of the call.
import { ToolError } from "../core/error.ts";
import type { Block } from "../core/message.ts";
import { Type } from "../core/schema.ts";
import type { ToolCall, ToolResult } from "./tool.ts";

export interface RemoteTarget {
  readonly gatewayUrl?: string | undefined;
  readonly gatewayToken?: string | undefined;
  readonly timeoutMs?: number | undefined;
}

const DEFAULT_TIMEOUT_MS = 30_000;

/** Parameters of every tool that can act on another gateway. */
export const remoteParameters = {
  gatewayUrl: Type.Optional(Type.String({ description: "URL of another gateway (default: this one)." })),
  gatewayToken: Type.Optional(Type.String({ description: "Token of that gateway." })),
  timeoutMs: Type.Optional(Type.Number({ description: "Milliseconds to wait for it (default 30000)." })),
};

const MAX_ANSWER_BYTES = 2_000_000;

/** Undefined for this gateway. Throws for a URL that is not allowed. */
export function remoteUrl(
  { gatewayUrl, gatewayToken }: RemoteTarget,
  { config }: Pick<ToolCall, "config">,
): URL | undefined {
  if (gatewayUrl === undefined) {
    if (gatewayToken === undefined) return undefined;
    throw refused('missing "gatewayUrl": gatewayToken is for another gateway');
  }
  const url = URL.parse(gatewayUrl);
  if (url === null || !/^wss?:$/.test(url.protocol)) throw refused("gatewayUrl must be a ws:// or wss:// URL");
  if (url.username !== "" || url.password !== "") throw refused("gatewayUrl must not contain credentials");
  const own = URL.parse(config.gateway?.remote?.url ?? "");
  const isOwn = own !== null && own.origin === url.origin && own.protocol === url.protocol && own.host === url.host;
  if (!isOwn && !isLoopback(url.hostname))
    throw refused(
      "gatewayUrl must be on this machine or equal gateway.remote.url",
      "openclaw config set gateway.remote.url <url>",
    );
  // No token from the config or the environment goes to a URL that the model chose (docs/decisions/0020-no-inherited-gateway-secret.md).
  if (gatewayToken === undefined || gatewayToken === "")
    throw refused(
      'missing "gatewayToken": gatewayUrl needs one, and none is inherited',
      "add gatewayToken, or leave out gatewayUrl",
    );
  return url;
}

/** The other gateway decides by its own rules, for the session of the same name. */
export async function callRemote(
  url: URL,
  { gatewayToken = "", timeoutMs = DEFAULT_TIMEOUT_MS }: RemoteTarget,
  tool: string,
  args: Readonly<Record<string, unknown>>,
  call: Pick<ToolCall, "session" | "signal">,
): Promise<ToolResult> {
  const endpoint = new URL("/tools/invoke", `${url.protocol === "wss:" ? "https" : "http"}://${url.host}`);
  const signal = AbortSignal.any([call.signal, AbortSignal.timeout(Math.min(Math.max(1, timeoutMs), 600_000))]);
  const answer = await ask(endpoint, gatewayToken, { tool, args, sessionKey: call.session }, signal);
  const { result, error } = answer as {
    result?: { content?: unknown; details?: unknown };
    error?: { message?: unknown };
  };
  if (result !== undefined && Array.isArray(result.content))
    return {
      content: result.content.filter(isText),
      ...(result.details === undefined ? {} : { details: result.details }),
    };
  const reason = typeof error?.message === "string" ? error.message.slice(0, 2000) : "it returned no result";
  throw new ToolError("tool.remote-failed", `the gateway at ${url.host} refused: ${reason}`);
}

async function ask(endpoint: URL, token: string, body: unknown, signal: AbortSignal): Promise<unknown> {
  try {
    const response = await fetch(endpoint, {
      method: "POST",
      redirect: "error",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      body: JSON.stringify(body),
      signal,
    });
    const text = await readBounded(response);
    const parsed: unknown = JSON.parse(text);
    return typeof parsed === "object" && parsed !== null ? parsed : {};
  } catch (cause) {
    const why = signal.aborted ? "it did not answer in time" : "it cannot be reached or is not an OpenClaw gateway";
    throw new ToolError("tool.remote-failed", `the gateway at ${endpoint.host}: ${why}`, { cause });
  }
}

async function readBounded(response: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length;
    if (bytes > MAX_ANSWER_BYTES) throw new Error("the response is too long");
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

function isText(block: unknown): block is Extract<Block, { type: "text" }> {
  const { type, text } = (block ?? {}) as { type?: unknown; text?: unknown };
  return type === "text" && typeof text === "string";
}

function isLoopback(hostname: string): boolean {
  return hostname === "localhost" || hostname === "[::1]" || /^127(?:\.\d{1,3}){3}$/.test(hostname);
}

function refused(message: string, hint?: string): ToolError {
  return new ToolError("tool.bad-gateway-url", message, {
    ...(hint === undefined ? {} : { hint }),
    details: { refused: true },
  });
}
