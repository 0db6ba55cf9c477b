// One request over node:http to checked addresses: redirects, time, size, header and decompression limits.
import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import type { LookupFunction } from "node:net";
import { Readable } from "node:stream";
import type { ReadableStream } from "node:stream/web";

import { errnoOf } from "../../core/error.ts";
import { guardError, isGuardError } from "./reasons.ts";
import type { Address } from "./resolve.ts";
import { readTarget, type Target } from "./target.ts";

export interface RequestOptions {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
  /** Default 3; 0 refuses every redirect. */
  readonly maxRedirects?: number;
  /** Of the decompressed body; default 5 MB. */
  readonly maxBytes?: number;
  /** From the first lookup to the last byte; default 30 s. */
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal | undefined;
}

export interface GuardedResponse {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** Where the last redirect led. */
  readonly url: string;
  readonly redirects: number;
  /** As the server states it, in lower case and without parameters. */
  readonly mimeType: string | undefined;
  /** Throws `guard.too-large` over the limit. */
  bytes(): Promise<Buffer>;
  /** The first bytes up to the limit. */
  head(): Promise<{ readonly bytes: Buffer; readonly isCut: boolean }>;
  toResponse(): Response;
  /** Ends the connection without reading the body. */
  discard(): void;
}

const MAX_BYTES = 5_000_000;
const MAX_HEADER_BYTES = 32_768;
const TIMEOUT_MS = 30_000;
/** Interim responses (1xx) before the real one. Each costs as much as a response, and their number has no limit of its own. */
const MAX_INTERIM = 32;

/** What compression may add to data that cannot be compressed. */
const TRANSFER_SLACK = 65_536;
/** 8 MB. */
const MAX_ZSTD_WINDOW_LOG = 23;

/** `admit` is asked for each hop and gives the addresses to connect to. */
export async function openRequest(
  url: string,
  options: RequestOptions,
  admit: (target: Target) => Promise<readonly Address[]>,
): Promise<GuardedResponse> {
  const { maxRedirects = 3, timeoutMs = TIMEOUT_MS, signal } = options;
  const deadline = AbortSignal.timeout(timeoutMs);
  const limits = { deadline, signal, all: signal === undefined ? deadline : AbortSignal.any([deadline, signal]) };
  let hop = firstHop(url, options);
  for (let redirects = 0; ; redirects++) {
    const message = await send(hop, limits, admit).catch((error: unknown) => fail(error, limits, hop.target.host));
    const next = nextHop(hop, message);
    if (next === undefined) return toGuarded(message, hop.target.url.href, redirects, options, limits);
    message.destroy();
    if (redirects >= maxRedirects) throw guardError("guard.redirects", `more than ${maxRedirects}`);
    hop = next;
  }
}

interface Hop {
  readonly target: Target;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Buffer | undefined;
}

interface Limits {
  readonly deadline: AbortSignal;
  readonly signal: AbortSignal | undefined;
  readonly all: AbortSignal;
}

function firstHop(url: string, { method = "GET", headers = {}, body }: RequestOptions): Hop {
  const lower = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value] as const);
  return {
    target: readTarget(url),
    method,
    headers: { "user-agent": "openclaw", accept: "*/*", ...Object.fromEntries(lower) },
    body,
  };
}

/** Undefined for a response that is no redirect. Another origin gets no header that could be a credential, and no body. */
function nextHop({ target, method, headers, body }: Hop, message: IncomingMessage): Hop | undefined {
  const { statusCode = 0 } = message;
  const { location } = message.headers;
  if (!redirectCodes.has(statusCode) || location === undefined) return undefined;
  // Node reads headers as Latin-1; browsers read addresses in them as UTF-8.
  const next = readTarget(Buffer.from(location, "latin1").toString("utf8"), target.url);
  const isSame = next.url.origin === target.url.origin;
  const becomesGet = statusCode === 303 || (statusCode < 307 && method === "POST");
  const kept = Object.entries(headers).filter(
    ([name]) => (isSame || plainHeaders.has(name)) && !(becomesGet && name.startsWith("content-")),
  );
  const keepsBody = !becomesGet && isSame;
  return {
    target: next,
    method: becomesGet || (!isSame && body !== undefined) ? "GET" : method,
    headers: Object.fromEntries(kept),
    body: keepsBody ? body : undefined,
  };
}

const redirectCodes: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);
const plainHeaders: ReadonlySet<string> = new Set(["accept", "accept-language", "user-agent"]);

async function send(
  { target, method, headers, body }: Hop,
  { all }: Limits,
  admit: (target: Target) => Promise<readonly Address[]>,
): Promise<IncomingMessage> {
  const addresses = await unlessAborted(admit(target), all);
  const { url } = target;
  const module = process.getBuiltinModule(url.protocol === "https:" ? "node:https" : "node:http");
  return new Promise((resolve, reject) => {
    const request = module.request(url, {
      method,
      // A connection of its own: neither a proxy of the environment nor a socket that was checked by other rules.
      agent: new module.Agent({ keepAlive: false }),
      signal: all,
      lookup: pinned(addresses),
      maxHeaderSize: MAX_HEADER_BYTES,
      headers: {
        "accept-encoding": "gzip, deflate, br, zstd",
        ...headers,
        ...(body === undefined ? {} : { "content-length": String(Buffer.byteLength(body)) }),
      },
    });
    let interim = 0;
    request.on("information", () => {
      if (++interim > MAX_INTERIM)
        request.destroy(guardError("guard.protocol", `more than ${MAX_INTERIM} of status 1xx`));
    });
    // Without a listener Node closes the connection and reports no error.
    request.on("upgrade", (_message, socket) => {
      socket.destroy();
      reject(guardError("guard.protocol", "it switches to another protocol"));
    });
    request.on("response", resolve);
    request.on("error", reject);
    request.end(body);
  });
}

function pinned(addresses: readonly Address[]): LookupFunction {
  return (_host, { all }, done) => {
    const [first] = addresses;
    if (all === true) done(null, [...addresses]);
    else done(null, first?.address ?? "", first?.family);
  };
}

/** A lookup of the system cannot be stopped, but its caller need not wait for it. */
function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(new DOMException("aborted", "AbortError"));
    if (signal.aborted) return onAbort();
    signal.addEventListener("abort", onAbort, { once: true });
    void work.then(resolve, reject).finally(() => signal.removeEventListener("abort", onAbort));
  });
}

function toGuarded(
  message: IncomingMessage,
  url: string,
  redirects: number,
  { maxBytes = MAX_BYTES }: RequestOptions,
  limits: Limits,
): GuardedResponse {
  const { statusCode = 0, headers } = message;
  const { host } = new URL(url);
  const chunks = (): AsyncGenerator<Buffer> => decoded(message, limits, host, maxBytes);
  return {
    status: statusCode,
    headers,
    url,
    redirects,
    mimeType: headers["content-type"]?.split(";")[0]?.trim().toLowerCase(),
    async bytes() {
      const { bytes, isCut } = await readUpTo(chunks(), maxBytes);
      if (isCut) throw guardError("guard.too-large", `more than ${maxBytes} bytes`);
      return bytes;
    },
    head: () => readUpTo(chunks(), maxBytes),
    toResponse() {
      const shown = statusCode < 200 || statusCode > 599 ? 502 : statusCode;
      const fields = Object.entries(headers).filter(
        ([name]) => !/^(?:content-(?:encoding|length)|set-cookie)$/.test(name),
      );
      const init = { status: shown, headers: Object.fromEntries(fields.map(([name, value]) => [name, String(value)])) };
      if (shown === 204 || shown === 304) return new Response(null, init);
      return new Response(
        Readable.toWeb(Readable.from(bounded(chunks(), maxBytes))) as ReadableStream<Uint8Array>,
        init,
      );
    },
    discard: () => void message.destroy(),
  };
}

async function readUpTo(
  chunks: AsyncGenerator<Buffer>,
  maxBytes: number,
): Promise<{ readonly bytes: Buffer; readonly isCut: boolean }> {
  const kept: Buffer[] = [];
  let size = 0;
  for await (const chunk of chunks) {
    kept.push(chunk);
    size += chunk.length;
    if (size > maxBytes) break;
  }
  const bytes = Buffer.concat(kept);
  return size > maxBytes ? { bytes: bytes.subarray(0, maxBytes), isCut: true } : { bytes, isCut: false };
}

async function* bounded(chunks: AsyncGenerator<Buffer>, maxBytes: number): AsyncGenerator<Buffer> {
  let size = 0;
  for await (const chunk of chunks) {
    size += chunk.length;
    if (size > maxBytes) throw guardError("guard.too-large", `more than ${maxBytes} bytes`);
    yield chunk;
  }
}

/** Decompressed chunk by chunk, so that a reader that stops early stops the decompression too. */
async function* decoded(
  message: IncomingMessage,
  limits: Limits,
  host: string,
  maxBytes: number,
): AsyncGenerator<Buffer> {
  const encoding = message.headers["content-encoding"]?.trim().toLowerCase() ?? "identity";
  try {
    const stream = encoding === "identity" || encoding === "" ? message : message.pipe(decompressor(encoding));
    message.on("error", (error) => stream.destroy(error));
    if (stream !== message) boundTransfer(message, maxBytes);
    for await (const chunk of stream as AsyncIterable<Buffer>) yield chunk;
  } catch (error) {
    fail(error, limits, host);
  } finally {
    message.destroy();
  }
}

/** Compressed data can go on without end and decompress to nothing, so the reader's own limit is not enough. */
function boundTransfer(message: IncomingMessage, maxBytes: number): void {
  let size = 0;
  message.on("data", (chunk: Buffer) => {
    size += chunk.length;
    if (size > maxBytes + TRANSFER_SLACK)
      message.destroy(guardError("guard.too-large", `more than ${maxBytes} compressed bytes`));
  });
}

function decompressor(encoding: string): NodeJS.ReadWriteStream & { destroy(error?: Error): unknown } {
  const zlib = process.getBuiltinModule("node:zlib");
  if (encoding === "gzip" || encoding === "x-gzip") return zlib.createGunzip();
  if (encoding === "deflate") return zlib.createInflate();
  if (encoding === "br") return zlib.createBrotliDecompress();
  // A stream chooses how much memory it needs; browsers grant no more either (RFC 9659).
  if (encoding === "zstd")
    return zlib.createZstdDecompress({ params: { [zlib.constants.ZSTD_d_windowLogMax]: MAX_ZSTD_WINDOW_LOG } });
  throw guardError("guard.encoding", encoding.slice(0, 40));
}

function fail(error: unknown, { deadline, signal }: Limits, host: string): never {
  if (isGuardError(error)) throw error;
  if (signal?.aborted === true) throw signal.reason;
  if (deadline.aborted) throw guardError("guard.timeout", host, error);
  const code = errnoOf(error) ?? "";
  if (code === "HPE_HEADER_OVERFLOW") throw guardError("guard.headers-too-large", host, error);
  if (/^(?:Z_|ERR_BROTLI|ERR__ERROR|ZSTD_|ERR_PADDING|ERR_ZLIB)/.test(code))
    throw guardError("guard.encoding", host, error);
  const why = error instanceof Error ? error.message : String(error);
  throw guardError("guard.connect", `${host}: ${why.slice(0, 200)}`, error);
}
