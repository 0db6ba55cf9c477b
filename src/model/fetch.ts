// Sends one HTTP request to a model server over node:http: reports the connection, follows no redirect, closes on abort.
import type { Agent, ClientRequest, IncomingMessage, RequestOptions } from "node:http";
import type { Agent as SecureAgent } from "node:https";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { ReadableStream } from "node:stream/web";

export interface FetchWatch {
  /** The connection is established (for https after the handshake), or an open one is reused. */
  connected(): void;
}

const watches = new WeakMap<AbortSignal, FetchWatch>();

/** `sharedFetch` reports the request with this signal to `watch`. */
export function watchRequest(signal: AbortSignal, watch: FetchWatch): void {
  watches.set(signal, watch);
}

/** For a vendor model that serves many requests; the signal identifies each request. */
export const sharedFetch: typeof globalThis.fetch = async (input, init = {}) => {
  const watch = init.signal instanceof AbortSignal ? watches.get(init.signal) : undefined;
  if (watch === undefined) throw new Error("a model request without the signal it was started with");
  return createFetch(watch)(input, init);
};

/** The built-in fetch neither reports the connection nor gives up on a dead address early. */
export function createFetch(watch: FetchWatch): typeof globalThis.fetch {
  return async (input, init = {}) => {
    const url = new URL(input instanceof Request ? input.url : input);
    const headers = Object.fromEntries(new Headers(init.headers));
    const body = typeof init.body === "string" ? init.body : undefined;
    const { signal } = init;
    const request: OutgoingRequest = {
      url,
      method: init.method ?? "GET",
      headers,
      body,
      signal: signal ?? undefined,
      watch,
    };
    return toResponse(await sendFresh(request));
  };
}

function sendFresh(request: OutgoingRequest): Promise<IncomingMessage> {
  return send(request).catch((error: unknown) => {
    // The server closed an idle connection just as it was reused: nothing was read, so the request is sent again.
    if (error instanceof StaleConnection) return send(request);
    throw error;
  });
}

/** A body that is produced while it is sent; opened again when the request is repeated. */
export interface StreamedBody {
  readonly length: number;
  open(): AsyncIterable<Uint8Array>;
}

/** Sends a body that is too large to be held in memory. */
export async function postStream(
  url: string,
  options: {
    readonly headers: Readonly<Record<string, string>>;
    readonly body: StreamedBody;
    readonly signal: AbortSignal;
  },
): Promise<Response> {
  const { headers, body, signal } = options;
  const request = { url: new URL(url), method: "POST", headers: { ...headers }, body, signal, watch: unwatched };
  return toResponse(await sendFresh(request));
}

const unwatched: FetchWatch = { connected() {} };

interface OutgoingRequest {
  readonly url: URL;
  readonly method: string;
  readonly headers: Record<string, string>;
  readonly body: string | StreamedBody | undefined;
  readonly signal: AbortSignal | undefined;
  readonly watch: FetchWatch;
}

class StaleConnection extends Error {}

function send({ url, method, headers, body, signal, watch }: OutgoingRequest): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted === true) return reject(abortReason(signal));
    const request = start(url, {
      method,
      headers: body === undefined ? headers : { ...headers, "content-length": String(lengthOf(body)) },
    });
    const onAbort = (): void => void request.destroy(signal === undefined ? undefined : abortReason(signal));
    signal?.addEventListener("abort", onAbort, { once: true });
    request.on("close", () => signal?.removeEventListener("abort", onAbort));
    request.on("socket", (socket) => {
      if (!socket.connecting) return watch.connected();
      socket.once(url.protocol === "https:" ? "secureConnect" : "connect", () => watch.connected());
    });
    request.on("response", resolve);
    request.on("error", (error) =>
      reject(request.reusedSocket && isReset(error) && signal?.aborted !== true ? new StaleConnection() : error),
    );
    if (typeof body !== "object") request.end(body);
    // Also fails when the server answers before it has read everything: then the answer counts.
    else pipeline(body.open(), request).catch(reject);
  });
}

const lengthOf = (body: string | StreamedBody): number =>
  typeof body === "string" ? Buffer.byteLength(body) : body.length;

function start(url: URL, options: RequestOptions): ClientRequest {
  if (url.protocol === "https:") {
    const https = process.getBuiltinModule("node:https");
    secureLines ??= new https.Agent({ keepAlive: true, keepAliveMsecs: 15_000, timeout: keptOpenMs });
    return https.request(url, { ...options, agent: secureLines });
  }
  const http = process.getBuiltinModule("node:http");
  plainLines ??= new http.Agent({ keepAlive: true, keepAliveMsecs: 15_000, timeout: keptOpenMs });
  return http.request(url, { ...options, agent: plainLines });
}

const keptOpenMs = 30_000;
let plainLines: Agent | undefined;
let secureLines: SecureAgent | undefined;

function toResponse(message: IncomingMessage): Response {
  const status = message.statusCode ?? 502;
  const headers = new Headers();
  for (const [name, value] of Object.entries(message.headers))
    if (value !== undefined) headers.set(name, Array.isArray(value) ? value.join(", ") : value);
  if (status === 204 || status === 304) {
    message.resume();
    return new Response(null, { status, headers });
  }
  // A Response cannot hold every status that servers send; those are server errors anyway.
  const shown = status < 200 || status > 599 ? 502 : status;
  const bytes = Readable.toWeb(message) as ReadableStream<Uint8Array>;
  return new Response(bytes, { status: shown, headers });
}

function isReset(error: unknown): boolean {
  return error instanceof Error && "code" in error && (error.code === "ECONNRESET" || error.code === "EPIPE");
}

function abortReason(signal: AbortSignal): Error {
  return signal.reason instanceof Error ? signal.reason : new DOMException("aborted", "AbortError");
}
