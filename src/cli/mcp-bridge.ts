// MCP over standard input and output, passed on to /mcp: one HTTP request for each line, every message that comes back is a line.
import type { IncomingMessage } from "node:http";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";

import { isRecord } from "../core/record.ts";
import { encodeHeader, headerNameOf, META } from "../mcp/message.ts";
import type { Target } from "./target.ts";

export interface BridgePlan {
  readonly target: Target;
  readonly headers: Readonly<Record<string, string>>;
  readonly input: Readable;
  readonly write: (line: string) => void;
}

const RECONNECT_MS = 1000;

interface Message {
  readonly id?: unknown;
  readonly method?: unknown;
  readonly params?: unknown;
  readonly result?: unknown;
  readonly error?: unknown;
}

/** Resolves when the input ends: the client is gone, so running requests are stopped. */
export async function bridgeMcp({ target, headers, input, write }: BridgePlan): Promise<void> {
  const over = new AbortController();
  const underWay = new Map<unknown, AbortController>();
  let session: Session | undefined;
  /** Requests after `initialize` belong to the session that it opens. */
  let initialized = Promise.resolve();

  const pass = async (line: string): Promise<void> => {
    const message = shapeOf(line);
    const { id, method, params } = message;
    const isStateless = statedRevision(params) !== undefined;
    if (method === "notifications/cancelled" && isRecord(params) && session === undefined)
      underWay.get(params["requestId"])?.abort();
    const control = new AbortController();
    const isRequest = id !== undefined && method !== undefined;
    if (isRequest) underWay.set(id, control);
    try {
      const signal = AbortSignal.any([control.signal, over.signal]);
      const send = async (): Promise<Reply> =>
        post(
          target,
          { ...headers, ...statedHeaders(message), ...(isStateless ? {} : session?.headers) },
          line,
          signal,
          put,
        );
      if (method !== "initialize" || isStateless) {
        const { isSessionGone } = await send();
        // The gateway was restarted: the session is opened again as the client opened it, and the message sent once more.
        if (!isSessionGone || session === undefined) return;
        await openSession(session.line);
        await send();
      } else await openSession(line, put);
    } catch (error) {
      if (!isRequest || control.signal.aborted || over.signal.aborted) return;
      const words = error instanceof Error ? error.message : String(error);
      put({ jsonrpc: "2.0", id, error: { code: -32603, message: words } });
    } finally {
      if (isRequest) underWay.delete(id);
    }
  };

  const put = (message: object): void => write(`${JSON.stringify(message)}\n`);

  const openSession = async (line: string, tell: (message: object) => void = () => {}): Promise<void> => {
    let revision = "";
    const { sessionId } = await post(target, headers, line, over.signal, (answer) => {
      const { result } = answer as Message;
      if (isRecord(result) && typeof result["protocolVersion"] === "string") revision = result["protocolVersion"];
      tell(answer);
    });
    if (sessionId === undefined) return;
    const own = { "mcp-session-id": sessionId, "mcp-protocol-version": revision };
    session = { line, headers: own };
    void followSession(target, { ...headers, ...own }, AbortSignal.any([over.signal]), put);
  };

  for await (const line of createInterface({ input })) {
    if (line.trim() === "") continue;
    // In the order in which they were written until the session is open; then side by side.
    const passed = initialized.then(() => pass(line));
    if (shapeOf(line).method === "initialize") initialized = passed;
  }
  over.abort();
  if (session !== undefined) await endSession(target, { ...headers, ...session.headers });
}

interface Session {
  /** The `initialize` that opened it. */
  readonly line: string;
  readonly headers: Readonly<Record<string, string>>;
}

function shapeOf(line: string): Message {
  try {
    const value: unknown = JSON.parse(line);
    return isRecord(value) ? value : {};
  } catch {
    return {}; // the gateway answers what is wrong with it
  }
}

function statedRevision(params: unknown): string | undefined {
  const meta = isRecord(params) ? params["_meta"] : undefined;
  const revision = isRecord(meta) ? meta[`${META}protocolVersion`] : undefined;
  return typeof revision === "string" ? revision : undefined;
}

/** HTTP repeats in headers what a request since 2026-07-28 states in its body; earlier ones state nothing. */
function statedHeaders({ method, params }: Message): Record<string, string> {
  const revision = statedRevision(params);
  if (revision === undefined || typeof method !== "string" || !isRecord(params)) return {};
  const name = headerNameOf(method, params);
  return {
    "mcp-protocol-version": encodeHeader(revision),
    "mcp-method": encodeHeader(method),
    ...(name === undefined ? {} : { "mcp-name": encodeHeader(name) }),
  };
}

interface Reply {
  readonly sessionId: string | undefined;
  readonly isSessionGone: boolean;
}

/** Gives each message of the answer to `put`: one of a JSON body, any number of an event stream. */
async function post(
  target: Target,
  headers: Readonly<Record<string, string>>,
  body: string,
  signal: AbortSignal,
  put: (message: object) => void,
): Promise<Reply> {
  const response = await open(target, "POST", { ...headers, "content-type": "application/json" }, signal, body);
  const status = response.statusCode ?? 0;
  const type = response.headers["content-type"] ?? "";
  const sessionId = response.headers["mcp-session-id"];
  const reply = { sessionId: typeof sessionId === "string" ? sessionId : undefined, isSessionGone: false };
  if (type.startsWith("text/event-stream")) {
    for await (const { data } of eventsOf(response)) if (data !== "") put(JSON.parse(data) as object);
    return reply;
  }
  let text = "";
  for await (const chunk of response.setEncoding("utf8")) text += String(chunk);
  if (status === 202 || text === "") return reply;
  if (status === 404 && headers["mcp-session-id"] !== undefined) return { ...reply, isSessionGone: true };
  const trouble = troubleOf(status, type, text);
  if (trouble !== undefined) throw new Error(trouble);
  put(JSON.parse(text) as object);
  return reply;
}

/** Messages that belong to no request, until the input ends or the session does; resumed when the connection breaks. */
async function followSession(
  target: Target,
  headers: Readonly<Record<string, string>>,
  signal: AbortSignal,
  put: (message: object) => void,
): Promise<void> {
  let last: string | undefined;
  while (!signal.aborted) {
    try {
      const sent: Record<string, string> = { ...headers };
      if (last !== undefined) sent["last-event-id"] = last;
      const response = await open(target, "GET", sent, signal);
      if (response.statusCode !== 200) return void response.destroy();
      for await (const { id, data } of eventsOf(response)) {
        last = id ?? last;
        if (data !== "") put(JSON.parse(data) as object);
      }
    } catch (error) {
      if (signal.aborted || !(error instanceof Error)) return;
    }
    await new Promise((resolve) => setTimeout(resolve, RECONNECT_MS).unref());
  }
}

async function endSession(target: Target, headers: Readonly<Record<string, string>>): Promise<void> {
  try {
    (await open(target, "DELETE", headers, AbortSignal.timeout(RECONNECT_MS))).destroy();
  } catch {
    // The gateway is gone, and the session with it.
  }
}

interface ServerSentEvent {
  readonly id: string | undefined;
  readonly data: string;
}

async function* eventsOf(response: IncomingMessage): AsyncGenerator<ServerSentEvent> {
  let rest = "";
  for await (const chunk of response.setEncoding("utf8")) {
    const blocks = (rest + String(chunk)).split("\n\n");
    rest = blocks.pop() ?? "";
    for (const block of blocks) {
      const lines = block.split("\n");
      const fields = (name: string): string[] =>
        lines.flatMap((line) => (line.startsWith(`${name}: `) ? [line.slice(name.length + 2)] : []));
      yield { id: fields("id")[0], data: fields("data").join("\n") };
    }
  }
}

/** By hand instead of by fetch, which gives up on answers after five minutes; a tool may take longer. */
function open(
  { url, token, password }: Target,
  method: string,
  headers: Readonly<Record<string, string>>,
  signal: AbortSignal,
  body?: string,
): Promise<IncomingMessage> {
  const address = new URL("/mcp", url.replace(/^ws/, "http"));
  const { request } = process.getBuiltinModule(address.protocol === "https:" ? "node:https" : "node:http");
  return new Promise((resolve, reject) => {
    const sent = request(address, {
      method,
      signal,
      headers: {
        ...headers,
        authorization: `Bearer ${token ?? password ?? ""}`,
        accept: "application/json, text/event-stream",
      },
    });
    sent.on("error", (cause: Error) =>
      reject(new Error(`no gateway answers at ${address.origin} (${cause.message}); start it: openclaw gateway run`)),
    );
    sent.on("response", resolve);
    sent.end(body);
  });
}

/** Undefined when it is an answer of MCP, a refusal too. */
function troubleOf(status: number, type: string, text: string): string | undefined {
  if (type.startsWith("application/json") && text.includes('"jsonrpc"')) return undefined;
  if (status === 401) return "the gateway does not accept this secret; check it with: openclaw config get gateway.auth";
  if (status === 429) return "too many wrong secrets; wait a few minutes";
  if (status === 404 || status === 405 || status === 200)
    return "MCP is not enabled in the gateway; enable it with: openclaw config set gateway.http.endpoints.mcp.enabled true";
  return `the gateway responded with HTTP status ${status}`;
}
