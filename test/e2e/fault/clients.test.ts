// Many clients, and clients that ask without reading: what they cost the gateway is bounded, and the others are served.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { connect } from "node:net";
import { after, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { dispose, operator, startGateway, type Frame, type Wire } from "../../harness/gateway.ts";

const gateway = await startGateway();
after(() => dispose(gateway));

const rowsOf = (frame: Frame | undefined): { readonly mode: string; readonly instanceId?: string }[] =>
  (frame?.payload as { presence: { mode: string }[] } | undefined)?.presence ?? [];

/** Memory of the gateway in MB, or undefined where the system does not tell. */
function residentMb(): number | undefined {
  try {
    return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${gateway.pid}/status`, "utf8"))?.[1]) / 1024;
  } catch {
    return undefined;
  }
}

test("announces clients that connect together in one event, and the last list names all of them", async () => {
  const first = await operator(gateway);
  const from = performance.now();
  const others: Wire[] = [];
  for (let i = 0; i < 40; i += 10)
    others.push(...(await Promise.all(Array.from({ length: 10 }, () => operator(gateway, { identity: null })))));
  const names = (): number => rowsOf(first.frames.findLast(({ event }) => event === "presence")).length;
  while (names() < 42) await sleep(20);
  const frames = first.frames.filter(({ event }) => event === "presence").length;
  const most = 2 + (performance.now() - from) / 250;
  assert.ok(frames <= most, `${frames} presence frames for 40 clients; at most ${most.toFixed(1)} in that time`);
  for (const wire of [first, ...others]) wire.end();
});

test("a hello lists at most 64 instances, and system-presence lists more", async () => {
  const wires: Wire[] = [];
  for (let i = 0; i < 90; i += 15)
    wires.push(...(await Promise.all(Array.from({ length: 15 }, () => operator(gateway, { identity: null })))));
  const last = await operator(gateway, { identity: null });
  const hello = last.frames.find(({ type }) => type === "res");
  const payload = hello?.payload as { snapshot: { presence: unknown[] } } | undefined;
  assert.equal(payload?.snapshot.presence.length, 64);
  const all = await last.call("system-presence");
  assert.ok(all.length > 90, `${all.length} rows`);
  for (const wire of [last, ...wires]) wire.end();
});

test("a client that requests large answers without reading takes no memory and gets all of them later", async () => {
  const [greedy, other] = [await operator(gateway), await operator(gateway)];
  await greedy.request("config.schema");
  const before = residentMb();
  const total = 120;
  greedy.socket.pause();
  const asked = Array.from({ length: total }, (_, i) => greedy.request("config.schema", {}, `q${i}`));
  for (let i = 0; i < 100; i++) assert.equal((await other.request("health")).ok, true);
  const grown = (residentMb() ?? 0) - (before ?? 0);
  assert.ok(grown < 40, `the gateway grew by ${grown.toFixed(0)} MB for 60 MB of unread answers`);
  greedy.socket.resume();
  for (const frame of await Promise.all(asked)) assert.equal(frame.ok, true);
  greedy.end();
  other.end();
});

test("an HTTP client that does not read takes no memory either", async () => {
  const other = await operator(gateway);
  const body = JSON.stringify({ tool: "agents_list", args: {} });
  const request = `POST /tools/invoke HTTP/1.1\r\nhost: 127.0.0.1:${gateway.port}\r\nauthorization: Bearer ${gateway.token}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
  const socket = connect(gateway.port, "127.0.0.1");
  socket.on("error", () => {});
  socket.pause();
  const before = residentMb();
  for (let i = 0; i < 5000; i++) socket.write(request);
  for (let i = 0; i < 100; i++) assert.equal((await other.request("health")).ok, true);
  const grown = (residentMb() ?? 0) - (before ?? 0);
  assert.ok(grown < 80, `the gateway grew by ${grown.toFixed(0)} MB`);
  socket.destroy();
  other.end();
});

test("builds config.schema once for a config, and again after it changed", async () => {
  const wire = await operator(gateway);
  const generatedAt = async (): Promise<string> => (await wire.call("config.schema")).generatedAt;
  const before = await generatedAt();
  await sleep(5);
  assert.equal(await generatedAt(), before);
  const { hash } = await wire.call("config.get");
  const raw = JSON.stringify({ agents: { defaults: { userTimezone: "Europe/Vienna" } } });
  const changed = await wire.request("config.patch", { raw, baseHash: hash, restartDelayMs: 3_600_000 });
  assert.equal(changed.ok, true, JSON.stringify(changed));
  while ((await generatedAt()) === before) await sleep(20);
  wire.end();
});
