import assert from "node:assert/strict";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { test } from "node:test";

import { WebSocketServer } from "ws";

import { isEscape, openTransport } from "./transport.ts";

test("drops a download whose id is a path, because its file would be read and deleted by that name", () => {
  const begins = (guid: unknown): boolean => isEscape({ method: "Browser.downloadWillBegin", params: { guid } });
  assert.equal(begins("2f1c9c5e-1e0b-4c53-9d57-2a6f0f1c7a11"), false);
  for (const guid of ["../../etc/passwd", "/etc/passwd", "a/b", "", undefined, "x".repeat(65)])
    assert.equal(begins(guid), true, String(guid));
  assert.equal(isEscape({ method: "Page.frameNavigated" }), false);
});

for (const garbage of ["not json", "[]", "null", '{"id":1}'])
  test(`closes the connection on ${garbage} instead of throwing`, async (t) => {
    const server = new WebSocketServer({ host: "127.0.0.1", port: 0 });
    t.after(() => server.close());
    await once(server, "listening");
    server.on("connection", (socket) => socket.on("message", () => socket.send(garbage)));
    const transport = await openTransport(`ws://127.0.0.1:${(server.address() as AddressInfo).port}`, 5000);
    // Playwright throws for an answer to a request that it did not send.
    transport.onmessage = () => {
      throw new Error("unexpected answer");
    };
    const closed = new Promise<string | undefined>((resolve) => (transport.onclose = resolve));
    transport.send({ id: 1, method: "Browser.getVersion" });
    assert.equal(await closed, "the browser closed the connection");
  });
