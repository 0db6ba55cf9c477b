// Responds to a request that is not valid HTTP with the reason, written directly to the socket.
import type { Duplex } from "node:stream";

import { visible } from "../../core/visible.ts";
import { alwaysHeaders } from "./answer.ts";

/** What Node's parser reports; `rawPacket` is its last input. */
export interface ParserError extends Error {
  readonly code?: string;
  readonly reason?: string;
  readonly rawPacket?: Uint8Array;
}

export function answerMalformed(error: ParserError, socket: Duplex): void {
  // A response that has started cannot be followed by another one.
  const { _httpMessage: begun } = socket as { _httpMessage?: { readonly headersSent: boolean } | null };
  if (error.code === "ECONNRESET" || !socket.writable || begun?.headersSent === true) return void socket.destroy(error);
  endWith(socket, statusOf(error), explain(error));
}

/** Writes the whole response at once and closes the connection. */
export function endWith(socket: Duplex, status: number, message: string, headers: Record<string, string> = {}): void {
  const body = JSON.stringify({ error: { message, type: status >= 500 ? "unavailable" : "invalid_request_error" } });
  const lines = Object.entries({
    ...alwaysHeaders,
    ...headers,
    "content-type": "application/json; charset=utf-8",
    "content-length": String(Buffer.byteLength(body)),
    connection: "close",
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(`HTTP/1.1 ${status} ${phrases[status] ?? ""}\r\n${lines.join("")}\r\n${body}`);
}

const phrases: Readonly<Record<number, string>> = {
  400: "Bad Request",
  408: "Request Timeout",
  431: "Request Header Fields Too Large",
  503: "Service Unavailable",
};

function statusOf({ code }: ParserError): number {
  if (code === "HPE_HEADER_OVERFLOW") return 431;
  return code === "ERR_HTTP_REQUEST_TIMEOUT" ? 408 : 400;
}

const TLS_HANDSHAKE = 0x16;

function explain({ code, reason, message, rawPacket }: ParserError): string {
  if (code === "HPE_HEADER_OVERFLOW") return "the headers are larger than 16 KB; send fewer or shorter ones";
  if (code === "ERR_HTTP_REQUEST_TIMEOUT") return "the request did not arrive in time; send it again";
  if (rawPacket?.[0] === TLS_HANDSHAKE)
    return "this port serves plain HTTP, and the request started with a TLS handshake; use http:// or ws://";
  return `malformed HTTP request: ${visible(reason ?? message, 120)}; send HTTP/1.1 with one Host header and CRLF line ends`;
}
