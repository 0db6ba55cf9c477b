// Connections: reused ones that became stale, redirects, servers that accept but do not answer.
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { createServer as createPlainServer, type AddressInfo, type Socket } from "node:net";
import { test } from "node:test";

import { startWatchdog } from "./deadline.ts";
import { createFetch } from "./fetch.ts";

const quiet = { connected: () => undefined };

test("retries on a connection that the server closed meanwhile", async () => {
  const used = new Map<Socket, number>();
  const server = createServer((request, response) => {
    const count = (used.get(request.socket) ?? 0) + 1;
    used.set(request.socket, count);
    if (count > 1) return void request.socket.destroy();
    request.resume();
    request.on("end", () => response.end("fine"));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const fetch = createFetch(quiet);
  for (let round = 0; round < 3; round += 1) {
    const response = await fetch(url, { method: "POST", body: "{}" });
    assert.equal(await response.text(), "fine");
    await new Promise((resolve) => setImmediate(resolve));
  }
  server.closeAllConnections();
  server.close();
});

test("does not follow a redirect, so that keys reach only the configured host", async () => {
  const hits: string[] = [];
  const server = createServer((request, response) => {
    hits.push(request.url ?? "");
    response.writeHead(307, { location: "/elsewhere" }).end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const response = await createFetch(quiet)(`http://127.0.0.1:${(server.address() as AddressInfo).port}/first`, {
    headers: { authorization: "Bearer x" },
  });
  assert.equal(response.status, 307);
  assert.deepEqual(hits, ["/first"]);
  server.closeAllConnections();
  server.close();
});

test("misses the connect deadline when a server accepts but never completes the handshake", async () => {
  const sockets: Socket[] = [];
  const server = createPlainServer((socket) => void sockets.push(socket.on("error", () => undefined)));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const dog = startWatchdog({ connectMs: 100, firstTokenMs: 60_000, stallMs: 60_000 }, new AbortController().signal);
  const call = createFetch(dog)(`https://127.0.0.1:${(server.address() as AddressInfo).port}/`, { signal: dog.signal });
  await assert.rejects(call);
  assert.equal(dog.missed(), "connect");
  dog.close(false);
  for (const socket of sockets) socket.destroy();
  server.close();
});
