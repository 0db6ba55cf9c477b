// Presence events: changes gathered into few frames, limited bytes, the recorded shape.
import assert from "node:assert/strict";
import { test } from "node:test";

import { fakeClient, fakeTime } from "../../test/harness/frames.ts";
import type { Client } from "./client.ts";
import { createHub } from "./hub.ts";
import type { PresenceEntry } from "../protocol/methods/system.ts";
import { createPresence } from "./presence.ts";
import { createPresenceEvents } from "./presence-events.ts";

interface SentEvent {
  readonly event: string;
  readonly seq: number;
  readonly payload: { readonly presence: PresenceEntry[] };
  readonly stateVersion: { readonly presence: number; readonly health: number };
}

function open() {
  const time = fakeTime();
  const hub = createHub(time);
  const presence = createPresence(time, "1.0");
  const events = createPresenceEvents(hub, presence, time, time);
  const watcher = fakeClient();
  hub.add(watcher);
  const join = (at: number, mode = "backend"): Client => {
    const client = fakeClient({
      connId: `c${at}`,
      info: { id: "page", version: "1", platform: "linux", mode },
      address: "127.0.0.1",
      local: true,
    } as unknown as Partial<Client>);
    hub.add(client);
    presence.seen(client, "connect");
    events.changed();
    return client;
  };
  const sent = () => watcher.received as SentEvent[];
  const close = (): void => {
    for (const client of hub.clients) hub.remove(client);
  };
  return { time, hub, presence, events, join, sent, close };
}

test("sends the first change immediately, in the recorded shape", () => {
  const { time, presence, join, sent, close } = open();
  join(1);
  time.advance(0);
  const [first] = sent();
  assert.equal(sent().length, 1);
  assert.deepEqual(first?.payload.presence, presence.list());
  assert.deepEqual(
    [first.event, first.stateVersion, typeof first.seq],
    ["presence", { presence: 2, health: 1 }, "number"],
  );
  close();
});

test("gathers changes within a quarter of a second", () => {
  const { time, join, sent, close } = open();
  for (let i = 0; i < 50; i++) {
    join(i);
    time.advance(10);
  }
  time.advance(250);
  assert.ok(sent().length <= 4, `${sent().length} frames for 50 clients in half a second`);
  assert.equal(sent().at(-1)?.payload.presence.length, 51);
  close();
});

test("limits the bytes for a thousand clients, and sends the last state in the end", () => {
  const { time, hub, join, events, close } = open();
  let bytes = 0;
  const broadcast = hub.broadcastJson.bind(hub);
  hub.broadcastJson = (event, payload, options) => {
    bytes += payload.length * hub.clients.size;
    broadcast(event, payload, options);
  };
  let hellos = 0;
  for (let i = 0; i < 1000; i++) {
    hellos += events.list().length;
    join(i);
    time.advance(3);
  }
  time.advance(60_000);
  assert.ok(bytes < 40e6, `${bytes} bytes of events`);
  assert.ok(hellos < 30e6, `${hellos} bytes of lists in greetings`);
  close();
});

test("lists nodes and pages first when not all fit", () => {
  const { join, events, presence, close } = open();
  join(0, "ui");
  join(1, "node");
  for (let i = 2; i < 120; i++) join(i);
  const rows = JSON.parse(events.list()) as PresenceEntry[];
  assert.equal(rows.length, 64);
  assert.deepEqual(
    rows.slice(0, 4).map(({ mode }) => mode),
    ["gateway", "node", "ui", "backend"],
  );
  assert.equal(presence.list().length, 121, "system-presence lists them all");
  close();
});
