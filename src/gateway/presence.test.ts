import assert from "node:assert/strict";
import { test } from "node:test";

import type { Client } from "./client.ts";
import { createPresence, type Presence } from "./presence.ts";

let now = 1000;
const presence = (): Presence => createPresence({ now: () => now, ticks: () => now }, "1.0");
const client = (more: Partial<Client> & { instanceId?: string; mode?: string } = {}): Client => {
  const { instanceId, mode = "ui", ...rest } = more;
  return {
    connId: "c1",
    role: "operator",
    scopes: [],
    deviceId: undefined,
    info: { id: "page", version: "1", platform: "linux", mode, ...(instanceId === undefined ? {} : { instanceId }) },
    address: "127.0.0.1",
    local: true,
    ...rest,
  } as unknown as Client;
};
const others = (book: Presence) => book.list().slice(1);

test("shows one row per instance, in any case of its id", () => {
  const book = presence();
  book.seen(client({ instanceId: "Mac-1" }), "connect");
  book.beacon({ instanceId: "mac-1", text: "beacon", host: "Mac" }, "x");
  assert.deepEqual(
    others(book).map(({ host, text }) => [host, text]),
    [["Mac", "beacon"]],
  );
});

test("shows a device that is operator and node as one row with both roles, while one connection is open", () => {
  const book = presence();
  const operator = client({ deviceId: "d1", instanceId: "a" });
  const node = client({ deviceId: "d1", connId: "c2", role: "node", mode: "node", instanceId: "b" });
  book.seen(operator, "connect");
  book.seen(node, "connect");
  assert.deepEqual(
    others(book).map(({ roles }) => roles),
    [["operator", "node"]],
  );
  book.seen(node, "disconnect");
  now += 3_600_000;
  assert.deepEqual(
    others(book).map(({ roles, reason }) => [roles, reason]),
    [[["operator"], "connect"]],
  );
  book.seen(operator, "disconnect");
  now += 5 * 60_000 + 1;
  assert.deepEqual(others(book), []);
});

test("forgets a beacon after five minutes; a later one starts again", () => {
  const book = presence();
  book.beacon({ instanceId: "phone", text: "here", lastInputSeconds: 3 }, "x");
  now += 5 * 60_000 - 1;
  assert.equal(others(book).length, 1);
  now += 2;
  assert.equal(others(book).length, 0);
});

test("keeps two hundred rows: the oldest one without a connection is dropped first", () => {
  const book = presence();
  book.seen(client({ instanceId: "page" }), "connect");
  for (let at = 0; at < 250; at++) book.beacon({ instanceId: `phone-${at}`, text: "here" }, "x");
  const rows = others(book);
  assert.deepEqual([rows.length, rows[0]?.instanceId, rows[1]?.instanceId], [200, "page", "phone-51"]);
});

test("never replaces a reported address by one of this machine", () => {
  const book = presence();
  book.beacon({ instanceId: "p", text: "here", ip: "10.0.0.7" }, "x");
  book.beacon({ instanceId: "p", text: "here", ip: "127.0.0.1" }, "x");
  book.seen(client({ instanceId: "p" }), "connect");
  assert.deepEqual(
    others(book).map(({ ip }) => ip),
    ["10.0.0.7"],
  );
  book.seen(client({ instanceId: "p", local: false, address: "10.0.0.8" }), "connect");
  assert.deepEqual(
    others(book).map(({ ip }) => ip),
    ["10.0.0.8"],
  );
});

test("shows no row for short-lived command lines", () => {
  const book = presence();
  assert.equal(book.seen(client({ mode: "cli" }), "connect"), false);
  assert.deepEqual(others(book), []);
});
