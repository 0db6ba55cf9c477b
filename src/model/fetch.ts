// One HTTP request to a model server over node:http: tells when the line stands, follows no redirect, closes on abort.
import type { Agent, ClientRequest, IncomingMessage, RequestOptions } from "node:http";
import type { Agent as SecureAgent } from "node:https";
import { Readable } from "node:stream";
import type { ReadableStream } from "node:stream/web";

export interface FetchWatch {
  /** The connection stands (for https after the handshake), or an open one is used again. */
  connected(): void;
}

const watches = new WeakMap<AbortSignal, FetchWatch>();

/** From now on `sharedFetch` tells `watch` about the request that carries this signal. */
export function watchRequest(signal: AbortSignal, watch: FetchWatch): void {
  watches.set(signal, watch);
}

/** For a vendor's model that is made once and used for many requests: which one it is, its signal says. */
export const sharedFetch: typeof globalThis.fetch = async (input, init = {}) => {
  const watch = init.signal instanceof AbortSignal ? watches.get(init.signal) : undefined;
  if (watch === undefined) throw new Error("a model request without the signal it was started with");
  return createFetch(watch)(input, init);
};

/** The platform's own fetch neither says when it is connected nor lets go of a dead address before its own time. */
export function createFetch(watch: FetchWatch): typeof globalThis.fetch {
  return async (input, init = {}) => {
    const url = new URL(input instanceof Request ? input.url : input);
    const headers = Object.fromEntries(new Headers(init.headers));
    const body = typeof init.body === "string" ? init.body : undefined;
    const { signal } = init;
    const wish: Request = { url, method: init.method ?? "GET", headers, body, signal: signal ?? undefined, watch };
    const message = await send(wish).catch((error: unknown) => {
      // The server closed a line that had been kept open just as we took it: nothing was read, so ask again.
      if (error instanceof StaleLine) return send(wish);
      throw error;
    });
    return toResponse(message);
  };
}

interface Request {
  readonly url: URL;
  readonly method: string;
  readonly headers: Record<string, string>;
  readonly body: string | undefined;
  readonly signal: AbortSignal | undefined;
  readonly watch: FetchWatch;
}

class StaleLine extends Error {}

function send({ url, method, headers, body, signal, watch }: Request): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted === true) return reject(abortReason(signal));
    const request = start(url, {
      method,
      headers: body === undefined ? headers : { ...headers, "content-length": String(Buffer.byteLength(body)) },
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
      reject(request.reusedSocket && isReset(error) && signal?.aborted !== true ? new StaleLine() : error),
    );
    request.end(body);
  });
}

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
  // Some servers answer with statuses a Response cannot hold; those are failures of the server anyway.
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
