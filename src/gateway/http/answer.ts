// HTTP responses: JSON, text, the security headers of every response, and bodies read within limits.
import type { IncomingMessage, ServerResponse } from "node:http";

import { OpenClawError } from "../../core/error.ts";
import { clientLeft } from "../client.ts";

export const alwaysHeaders: Readonly<Record<string, string>> = {
  "x-frame-options": "DENY",
  "content-security-policy":
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self' ws: wss:; font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "permissions-policy": "camera=(), microphone=(), geolocation=()",
  "cross-origin-opener-policy": "same-origin",
};

export function setSecurityHeaders(response: ServerResponse): void {
  for (const name in alwaysHeaders) response.setHeader(name, alwaysHeaders[name] ?? "");
}

/** Aborts when the exchange is over, with or without a response. */
export function goneSignal(response: ServerResponse): AbortSignal {
  const gone = new AbortController();
  response.on("close", () => gone.abort(clientLeft));
  return gone.signal;
}

export function sendJson(response: ServerResponse, status: number, value: unknown): void {
  const body = JSON.stringify(value);
  response.writeHead(status, {
    "content-type": "application/json; charset=utf-8",
    "content-length": Buffer.byteLength(body),
    "cache-control": "no-store",
  });
  response.end(body);
}

export function sendText(
  response: ServerResponse,
  status: number,
  text: string,
  headers: Readonly<Record<string, string>> = {},
): void {
  response.writeHead(status, {
    "content-type": "text/plain; charset=utf-8",
    "content-length": Buffer.byteLength(text),
    ...headers,
  });
  response.end(text);
}

/** The error of the whole request, in the recorded shape. */
export function sendError(response: ServerResponse, status: number, type: string, message: string): void {
  sendJson(response, status, { error: { message, type } });
}

const BODY_DEADLINE_MS = 20_000;

/** Rejects with `http.too-large` or `http.slow`; the rest of the body is then not read. */
export function readBody(request: IncomingMessage, maxBytes: number): Promise<Buffer> {
  const declared = Number(request.headers["content-length"] ?? 0);
  const tooLarge = (): OpenClawError =>
    new OpenClawError("http.too-large", `the body is larger than ${maxBytes} bytes`);
  if (declared > maxBytes) return Promise.reject(tooLarge());
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const deadline = setTimeout(
      () => fail(new OpenClawError("http.slow", "the body did not arrive in time")),
      BODY_DEADLINE_MS,
    );
    const fail = (error: OpenClawError): void => {
      clearTimeout(deadline);
      request.removeAllListeners("data");
      request.pause();
      reject(error);
    };
    request.on("data", (chunk: Buffer) => {
      size += chunk.length;
      if (size > maxBytes) fail(tooLarge());
      else chunks.push(chunk);
    });
    request.on("end", () => {
      clearTimeout(deadline);
      resolve(chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks));
    });
    request.on("error", (cause) =>
      fail(new OpenClawError("http.broken", "the connection broke while the body was read", { cause })),
    );
    request.on("close", () => clearTimeout(deadline));
  });
}
