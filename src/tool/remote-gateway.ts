// A tool call handed to another gateway: only to this machine or the configured remote, only with the token it was given.
import { ToolError } from "../core/error.ts";
import type { Block } from "../core/message.ts";
import type { ToolCall, ToolResult } from "./tool.ts";

export interface RemoteTarget {
  readonly gatewayUrl?: string | undefined;
  readonly gatewayToken?: string | undefined;
  readonly timeoutMs?: number | undefined;
}

const DEFAULT_TIMEOUT_MS = 30_000;
const MAX_ANSWER_BYTES = 2_000_000;

/** Undefined when no other gateway is meant. Throws for one that may not be spoken to. */
export function remoteUrl(
  { gatewayUrl, gatewayToken }: RemoteTarget,
  { config }: Pick<ToolCall, "config">,
): URL | undefined {
  if (gatewayUrl === undefined) {
    if (gatewayToken === undefined) return undefined;
    throw refused("gatewayToken is for a gatewayUrl, and none is given");
  }
  const url = URL.parse(gatewayUrl);
  if (url === null || !/^wss?:$/.test(url.protocol)) throw refused("gatewayUrl must be a ws:// or wss:// address");
  if (url.username !== "" || url.password !== "") throw refused("gatewayUrl must not carry credentials");
  const own = URL.parse(config.gateway?.remote?.url ?? "");
  const isOwn = own !== null && own.origin === url.origin && own.protocol === url.protocol && own.host === url.host;
  if (!isOwn && !isLoopback(url.hostname))
    throw refused(
      "gatewayUrl may only name this machine or gateway.remote.url",
      "openclaw config set gateway.remote.url <url>",
    );
  // Nothing is taken from the config or the environment for an address somebody else chose (ruling 20).
  if (gatewayToken === undefined || gatewayToken === "")
    throw refused(
      "gatewayUrl needs an explicit gatewayToken; none is inherited",
      "give gatewayToken, or leave out gatewayUrl",
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
  const words = typeof error?.message === "string" ? error.message.slice(0, 2000) : "it gave no result";
  throw new ToolError("tool.remote-failed", `the gateway at ${url.host} refused: ${words}`);
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
    const why = signal.aborted ? "it did not answer in time" : "it cannot be reached, or does not speak our protocol";
    throw new ToolError("tool.remote-failed", `the gateway at ${endpoint.host}: ${why}`, { cause });
  }
}

async function readBounded(response: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length;
    if (bytes > MAX_ANSWER_BYTES) throw new Error("the answer is too long");
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
