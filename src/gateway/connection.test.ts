// A connection under pressure: a client that does not read is served only up to a limit, and loses nothing.
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { after, test } from "node:test";
import { WebSocket, WebSocketServer } from "ws";

import { systemClock } from "../base/clock.ts";
import { createMask } from "../base/mask.ts";
import { silentLog } from "../exec/engine.cases.ts";
import { returns, uncheckedMethod } from "../protocol/method.ts";
import { serveConnection } from "./connection.ts";
import { createDispatch, serve } from "./dispatch.ts";
import { createFairQueue } from "./fair-queue.ts";
import { PreparedJson } from "./frame-bytes.ts";

const LARGE = 100_000;

/** A gateway's socket with two methods that admits every client. */
async function open() {
  let answered = 0;
  const dispatch = createDispatch(
    [
      serve(uncheckedMethod("large", "operator.read", returns<unknown>()))(() => {
        answered += 1;
        return { text: "x".repeat(LARGE) };
      }),
      serve(uncheckedMethod("prepared", "operator.read", returns<unknown>()))(() => {
        answered += 1;
        return prepared;
      }),
    ],
    { log: silentLog, mask: createMask() },
  );
  const prepared = new PreparedJson({ text: "x".repeat(LARGE) });
  const server = createServer().listen(0, "127.0.0.1");
  const sockets = new WebSocketServer({ noServer: true, perMessageDeflate: false, autoPong: false });
  const queue = createFairQueue(systemClock);
  server.on("upgrade", (request, raw, head) =>
    sockets.handleUpgrade(request, raw, head, (socket) =>
      serveConnection(socket, raw, { address: "127.0.0.1", local: true } as never, {
        clock: systemClock,
        log: silentLog,
        dispatch,
        queue,
        judge: () =>
          Promise.resolve({
            ok: true,
            role: "operator",
            scopes: ["operator.read"],
            deviceId: undefined,
            issued: undefined,
          }),
        hello: () => "{}",
        joined: () => {},
        left: () => {},
        refused: () => {},
        settled: () => {},
      }),
    ),
  );
  await once(server, "listening");
  const socket = new WebSocket(`ws://127.0.0.1:${(server.address() as AddressInfo).port}`);
  after(() => {
    socket.terminate();
    server.close();
  });
  await once(socket, "message");
  const client = { id: "test", version: "1", platform: "linux", mode: "test" };
  socket.send(
    JSON.stringify({ type: "req", id: "c", method: "connect", params: { minProtocol: 3, maxProtocol: 3, client } }),
  );
  await once(socket, "message");
  return { socket, answered: () => answered };
}

const ask = (socket: WebSocket, method: string, count: number): void => {
  for (let i = 0; i < count; i++) socket.send(JSON.stringify({ type: "req", id: `q${i}`, method }));
};

/** Resolves with the ids in the order of the responses. */
function answers(socket: WebSocket, count: number): Promise<string[]> {
  const ids: string[] = [];
  return new Promise((resolve) =>
    socket.on("message", (bytes: Buffer) => {
      ids.push((JSON.parse(bytes.toString()) as { id: string }).id);
      if (ids.length === count) resolve(ids);
    }),
  );
}

/** The number after it has stopped growing. */
async function settled(count: () => number): Promise<number> {
  for (let last = -1, same = 0; ;) {
    await new Promise((resolve) => setTimeout(resolve, 20));
    same = count() === last ? same + 1 : 0;
    last = count();
    if (same >= 10) return last;
  }
}

for (const method of ["large", "prepared"]) {
  test(`starts few requests of a client that does not read (${method} responses), and the rest when it reads`, async () => {
    const { socket, answered } = await open();
    const total = 600;
    socket.pause();
    ask(socket, method, total);
    const started = await settled(answered);
    // The system's own buffer for a connection is not under our control; 60 MB of responses do not fit in it.
    assert.ok(started < total / 2, `${started} of ${total} requests were started for a client that does not read`);
    const read = answers(socket, total);
    socket.resume();
    assert.deepEqual(
      await read,
      Array.from({ length: total }, (_, i) => `q${i}`),
    );
    assert.equal(answered(), total);
  });
}

test("answers a ping, but does not queue pongs for a client that does not read", async () => {
  const { socket } = await open();
  socket.ping("there?");
  const [data] = (await once(socket, "pong")) as [Buffer];
  assert.equal(data.toString(), "there?");
  let pongs = 0;
  socket.on("pong", () => (pongs += 1));
  socket.pause();
  // 25 MB of responses: more than the system buffers for a connection.
  const total = 200_000;
  const payload = Buffer.alloc(125);
  for (let i = 0; i < total; i++) socket.ping(payload);
  while (socket.bufferedAmount > 0) await new Promise((resolve) => setTimeout(resolve, 20));
  const read = answers(socket, 1);
  socket.resume();
  ask(socket, "large", 1);
  await read;
  assert.ok(pongs < total, `all ${pongs} pongs were queued`);
});
