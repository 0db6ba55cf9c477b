// The loopback HTTP server under every stand-in model: keeps what it was sent, plays frames, can be slow, cut or dead.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo, Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

import type { Reply } from "./reply.ts";

export interface FakeRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Parsed JSON; an empty object when there was none. */
  readonly body: Readonly<Record<string, unknown>>;
  readonly at: number;
  /** Settles when the client's connection closes before the answer was complete. */
  readonly cut: Promise<void>;
}

export type Script = readonly Reply[] | ((request: FakeRequest, index: number) => Reply | Promise<Reply>);

export interface FakeServer {
  readonly url: string;
  readonly port: number;
  readonly requests: FakeRequest[];
  /** Connections open now. */
  open(): number;
  close(): Promise<void>;
}

/** What goes over the line: frames in order, then an end, a cut, or nothing more. */
export interface Performance {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly frames: readonly string[];
  readonly delayMs?: number;
  readonly shredBytes?: number;
  readonly after: "end" | "cut" | "stay" | "repeat";
}

export interface Tls {
  readonly key: string;
  readonly cert: string;
}

/** `answer` gets every request and says what to play; undefined answers never, "drop" cuts at once. */
export async function startFakeServer(
  answer: (request: FakeRequest) => Promise<Performance | "hang" | "drop">,
  {
    prefix = "",
    tls,
    port: wanted = 0,
  }: { readonly prefix?: string; readonly tls?: Tls | undefined; readonly port?: number | undefined } = {},
): Promise<FakeServer> {
  const requests: FakeRequest[] = [];
  const sockets = new Set<Socket>();
  const take = (incoming: IncomingMessage, response: ServerResponse): void => {
    void receive(incoming, response)
      .then(async (request) => {
        requests.push(request);
        const performance = await answer(request);
        if (performance === "drop") incoming.socket.destroy();
        else if (performance !== "hang") await play(performance, response);
      })
      .catch((error: unknown) => {
        if (!response.headersSent) response.writeHead(500, { "content-type": "text/plain" });
        response.end(`the stand-in failed: ${error instanceof Error ? error.message : String(error)}`);
      });
  };
  const server: Server = tls === undefined ? createServer(take) : createTlsServer({ ...tls }, take);
  server.on("connection", (socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(wanted, "127.0.0.1", resolve));
  // One that a failed test left open must not keep its file from ending.
  server.unref();
  const { port } = server.address() as AddressInfo;
  return {
    url: `${tls === undefined ? "http" : "https"}://127.0.0.1:${port}${prefix}`,
    port,
    requests,
    open: () => sockets.size,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}

/** Takes the script's next reply; a list is played in order and its last entry again and again. */
export async function nextReply(script: Script, request: FakeRequest, index: number): Promise<Reply> {
  if (typeof script === "function") return script(request, index);
  const reply = script[Math.min(index, script.length - 1)];
  if (reply === undefined) throw new Error("the script is empty");
  return reply;
}

export function json(status: number, body: unknown, headers: Record<string, string> = {}): Performance {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  const type = typeof body === "string" ? "text/plain" : "application/json";
  return { status, headers: { "content-type": type, ...headers }, frames: [text], after: "end" };
}

export const eventStream = { "content-type": "text/event-stream; charset=utf-8", "cache-control": "no-cache" };

async function receive(incoming: IncomingMessage, response: ServerResponse): Promise<FakeRequest> {
  const { promise: cut, resolve } = Promise.withResolvers<void>();
  response.on("close", () => {
    if (!response.writableFinished) resolve();
  });
  const parts: Buffer[] = [];
  for await (const part of incoming) parts.push(part as Buffer);
  const text = Buffer.concat(parts).toString("utf8");
  const headers = Object.fromEntries(Object.entries(incoming.headers).map(([name, value]) => [name, String(value)]));
  const body = text === "" ? {} : (JSON.parse(text) as Record<string, unknown>);
  return { method: incoming.method ?? "", path: incoming.url ?? "", headers, body, at: Date.now(), cut };
}

async function play(performance: Performance, response: ServerResponse): Promise<void> {
  const { status, headers, frames, delayMs = 0, shredBytes, after } = performance;
  response.writeHead(status, headers);
  response.flushHeaders();
  do {
    for (const frame of frames) {
      if (response.destroyed) return;
      for (const bytes of shred(Buffer.from(frame, "utf8"), shredBytes)) {
        if (!response.write(bytes)) await drained(response);
        // Without a turn of the event loop the pieces would leave as one packet.
        if (shredBytes !== undefined) await new Promise((resolve) => setImmediate(resolve));
      }
      if (delayMs > 0) await nap(response, delayMs);
    }
  } while (after === "repeat" && !response.destroyed);
  if (after === "end") response.end();
  if (after !== "cut") return;
  // What was said must arrive before the line goes dead.
  await sleep(20);
  response.socket?.destroy();
}

/** Ends early when the client is gone, so that a slow answer keeps no test alive. */
function nap(response: ServerResponse, durationMs: number): Promise<void> {
  return new Promise((resolve) => {
    const wake = (): void => {
      clearTimeout(timer);
      response.off("close", wake);
      resolve();
    };
    const timer = setTimeout(wake, durationMs);
    response.once("close", wake);
  });
}

function drained(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    response.once("drain", resolve);
    response.once("close", resolve);
  });
}

function shred(bytes: Buffer, size: number | undefined): Buffer[] {
  if (size === undefined) return [bytes];
  return Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) => bytes.subarray(at * size, (at + 1) * size));
}
