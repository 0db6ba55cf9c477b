// A forward proxy on loopback for programs that load pages themselves, such as a browser: every connection of theirs is
// checked by the guard and goes to the checked address.
import { createServer, request, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { connect, type AddressInfo, type Socket } from "node:net";
import type { Duplex } from "node:stream";

import type { OpenClawError } from "../../core/error.ts";
import { guardError, isGuardError, isRefusal } from "./reasons.ts";
import type { Address } from "./resolve.ts";
import { hostOf, readTarget, type Target } from "./target.ts";

export interface GuardProxy {
  readonly port: number;
  /** Why the last request to this `host:port` failed; undefined when it did not. */
  refusal(authority: string): OpenClawError | undefined;
  close(): Promise<void>;
}

export interface GuardProxyOptions {
  readonly admit: (target: Target) => Promise<readonly Address[]>;
  /** The port to listen on; default: a free one. */
  readonly port?: number | undefined;
}

/** In responses of the proxy itself: the code of the reason. Removed from what servers send. */
export const GUARD_HEADER = "x-openclaw-guard";

const MAX_REFUSALS = 200;
const CONNECT_MS = 30_000;

/** Rejects with EADDRINUSE when the port is taken. */
export async function openGuardProxy({ admit, port = 0 }: GuardProxyOptions): Promise<GuardProxy> {
  const refusals = new Map<string, OpenClawError>();
  const sockets = new Set<Duplex>();
  const keep = (authority: string, error: unknown): OpenClawError => {
    const reason = isGuardError(error) ? error : guardError("guard.connect", authority, error);
    refusals.delete(authority);
    refusals.set(authority, reason);
    for (const oldest of refusals.keys()) if (refusals.size > MAX_REFUSALS) refusals.delete(oldest);
    return reason;
  };
  const connectTo = async (target: Target): Promise<Socket> => {
    const socket = await connectFirst(target, await admit(target));
    refusals.delete(authorityOf(target.url));
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
    return socket;
  };
  const server = createServer((incoming, outgoing) => {
    const { url = "" } = incoming;
    forward(url, incoming, outgoing, connectTo).catch((error: unknown) => {
      if (outgoing.headersSent) return outgoing.destroy();
      const reason = keep(authorityIn(url), error);
      outgoing.writeHead(statusOf(reason), {
        "content-type": "text/plain; charset=utf-8",
        connection: "close",
        [GUARD_HEADER]: reason.code,
      });
      outgoing.end(`OpenClaw: ${reason.message}\n`);
    });
  });
  // node:http types the socket of CONNECT as a Duplex.
  server.on("connect", ({ url = "" }, client, head) => {
    tunnel(url, client, head, connectTo).catch((error: unknown) => {
      const reason = keep(authorityIn(`https://${url}`), error);
      client.end(
        `HTTP/1.1 ${statusOf(reason)} Refused\r\n${GUARD_HEADER}: ${reason.code}\r\nconnection: close\r\n\r\n`,
      );
    });
  });
  server.on("connection", (socket) => {
    sockets.add(socket);
    // From CONNECT on, node:http no longer handles errors of the socket: one would end the process.
    socket.on("error", () => socket.destroy());
    socket.once("close", () => sockets.delete(socket));
  });
  await listen(server, port);
  return {
    port: (server.address() as AddressInfo).port,
    refusal: (authority) => refusals.get(authority),
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

/** `host:port` as refusals are kept by. */
export function authorityOf(url: URL): string {
  const host = hostOf(url);
  const port = url.port === "" ? (url.protocol === "https:" ? 443 : 80) : url.port;
  return `${host.includes(":") ? `[${host}]` : host}:${port}`;
}

function authorityIn(text: string): string {
  const url = URL.parse(text);
  return url === null ? text.slice(0, 300) : authorityOf(url);
}

const statusOf = ({ code }: OpenClawError): number => (isRefusal(code) ? 403 : 502);

type Connect = (target: Target) => Promise<Socket>;

/** A plain HTTP request in absolute form. */
async function forward(
  url: string,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  connectTo: Connect,
): Promise<void> {
  // Only the host decides. The rest is as the browser wrote it: it may be long and contain backslashes.
  const [, origin = "", path = ""] = /^(http:\/\/[^/?#\\]+)([/?].*)?$/.exec(url) ?? [];
  const target = readTarget(origin);
  const socket = await connectTo(target);
  const upstream = request({
    createConnection: () => socket,
    method: incoming.method,
    path: path.startsWith("/") ? path : `/${path}`,
    headers: [...withoutHopHeaders(incoming.rawHeaders, "host"), "host", target.url.host],
  });
  const { promise: ended, resolve, reject } = Promise.withResolvers<void>();
  upstream.on("response", (answer) => {
    outgoing.writeHead(answer.statusCode ?? 502, answer.statusMessage, withoutHopHeaders(answer.rawHeaders));
    answer.pipe(outgoing);
    answer.once("error", () => outgoing.destroy());
  });
  upstream.once("error", reject);
  // A server that switches protocols ends the request without a response.
  upstream.once("close", () => reject(new Error("the connection was closed without a response")));
  outgoing.once("close", () => {
    socket.destroy();
    resolve();
  });
  incoming.pipe(upstream);
  await ended;
}

/** HTTPS and WebSockets: bytes pass unchanged between the client and the checked address. */
async function tunnel(authority: string, client: Duplex, head: Buffer, connectTo: Connect): Promise<void> {
  const upstream = await connectTo(readTarget(`https://${authority}`));
  if (client.destroyed) return void upstream.destroy();
  client.write("HTTP/1.1 200 Connection Established\r\n\r\n");
  if (head.length > 0) upstream.write(head);
  const end = (): void => {
    client.destroy();
    upstream.destroy();
  };
  for (const socket of [client, upstream]) {
    socket.on("error", end);
    socket.once("close", end);
  }
  upstream.pipe(client);
  client.pipe(upstream);
}

async function connectFirst({ host, port }: Target, addresses: readonly Address[]): Promise<Socket> {
  let failure: unknown;
  for (const { address } of addresses)
    try {
      return await connectSocket(address, port);
    } catch (error) {
      failure = error;
    }
  throw guardError("guard.connect", host, failure);
}

function connectSocket(host: string, port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port, timeout: CONNECT_MS });
    socket.once("connect", () => {
      socket.setTimeout(0);
      socket.off("error", reject);
      // Whoever takes the socket listens too; without a listener an early error would end the process.
      socket.on("error", () => socket.destroy());
      resolve(socket);
    });
    socket.once("timeout", () => socket.destroy(new Error("the connection timed out")));
    socket.once("error", reject);
  });
}

const hopHeaders: readonly string[] = [
  "proxy-connection",
  "connection",
  "keep-alive",
  "proxy-authorization",
  "te",
  "trailer",
  "upgrade",
  GUARD_HEADER,
];

/** As pairs, so that repeated headers such as set-cookie stay. */
function withoutHopHeaders(raw: readonly string[], ...others: readonly string[]): string[] {
  const dropped = new Set([...hopHeaders, ...others]);
  return raw.filter((_, index) => !dropped.has((raw[index - (index % 2)] ?? "").toLowerCase()));
}

function listen(server: Server, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, "127.0.0.1", () => {
      server.off("error", reject);
      server.unref();
      resolve();
    });
  });
}
