// A web server on loopback whose pages tests write; it keeps what it was sent.
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";

export interface WebRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
}

export type Handler = (request: WebRequest, response: ServerResponse) => void;

export interface FakeWeb {
  readonly port: number;
  readonly url: string;
  readonly requests: WebRequest[];
  /** Sets or replaces what a path answers. */
  on(path: string, handler: Handler): void;
  page(path: string, body: string | Buffer, type?: string, headers?: Record<string, string>): void;
  close(): Promise<void>;
}

/** Unknown paths answer 404. */
export async function startFakeWeb(): Promise<FakeWeb> {
  const handlers = new Map<string, Handler>();
  const requests: WebRequest[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((incoming, response) => {
    void receive(incoming).then((request) => {
      requests.push(request);
      const handler = handlers.get(request.url.split("?")[0] ?? "");
      if (handler === undefined) response.writeHead(404, { "content-type": "text/plain" }).end("no such page");
      else handler(request, response);
    });
  });
  server.on("connection", (socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  server.unref();
  const { port } = server.address() as AddressInfo;
  return {
    port,
    url: `http://127.0.0.1:${port}`,
    requests,
    on: (path, handler) => void handlers.set(path, handler),
    page(path, body, type = "text/html; charset=utf-8", headers = {}) {
      handlers.set(path, (_request, response) =>
        response.writeHead(200, { "content-type": type, ...headers }).end(body),
      );
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}

async function receive(incoming: IncomingMessage): Promise<WebRequest> {
  const parts: Buffer[] = [];
  for await (const part of incoming) parts.push(part as Buffer);
  const { method = "", url = "", headers } = incoming;
  return { method, url, headers, body: Buffer.concat(parts).toString("utf8") };
}
