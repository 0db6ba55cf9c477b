// kill -9 under load, through the front door: everything acknowledged is there afterwards, in order, and the store verifies.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { verifyStore } from "../../src/store/verify.ts";
import { dispose, operator, startGateway, type TestGateway, type Wire } from "../kit.ts";

const rounds = Number(process.env["OPENCLAW_FAULT_ROUNDS"] ?? 12);
const SESSIONS = 20;

/** What the gateway said it has taken, per session and in the order it said so. */
interface Acknowledged {
  readonly notes: Map<string, string[]>;
  readonly files: Map<string, string>;
  count: number;
}

test(
  `${rounds} kills at random moments under load lose nothing that was acknowledged`,
  { timeout: 30_000 + rounds * 6000 },
  async (t) => {
    const acknowledged: Acknowledged = { notes: new Map(), files: new Map(), count: 0 };
    let gateway = await startGateway();
    const home = gateway.home;
    let slowest = 0;
    for (let round = 0; round < rounds; round++) {
      const stop = new AbortController();
      const wires = await Promise.all([operator(gateway), operator(gateway), operator(gateway)]);
      const work = wires.map((wire, index) => load(wire, index, round, acknowledged, stop.signal));
      await sleep(Math.random() * 400);
      await gateway.stop("SIGKILL");
      stop.abort();
      await Promise.all(work);
      for (const wire of wires) wire.end();
      const from = performance.now();
      gateway = await startGateway({ home });
      slowest = Math.max(slowest, performance.now() - from);
      await check(gateway, acknowledged);
    }
    await gateway.stop();
    const report = await verifyStore(join(gateway.state, "openclaw.sqlite"));
    assert.equal(report.ok, true, JSON.stringify(report));
    t.diagnostic(
      `${rounds} kills, ${acknowledged.count} acknowledged writes, 0 lost; slowest restart ${slowest.toFixed(0)} ms`,
    );
    await dispose(gateway);
  },
);

/** Notes into transcripts and files through the one path, as fast as the answers come. */
async function load(
  wire: Wire,
  index: number,
  round: number,
  acknowledged: Acknowledged,
  stop: AbortSignal,
): Promise<void> {
  for (let i = 0; !stop.aborted; i++) {
    const key = `agent:main:load-${(index * 7 + i) % SESSIONS}-${index}`;
    if (!acknowledged.notes.has(key) && (await wire.request("sessions.patch", { key, label: key })).ok === true)
      acknowledged.notes.set(key, []);
    const note = `${round}/${index}/${i}`;
    const said = await wire.request("chat.inject", { sessionKey: key, message: note });
    if (said.type === "closed") return;
    if (said.ok === true) {
      acknowledged.notes.get(key)?.push(note);
      acknowledged.count += 1;
    }
    if (i % 5 !== 0) continue;
    const path = `load/${index}-${i % 10}.txt`;
    const wrote = await wire.request("tools.invoke", { tool: "write", args: { path, content: note } });
    // A write that was not acknowledged may still have happened; what the file must hold is then unknown.
    if (wrote.ok === true) acknowledged.files.set(path, note);
    else acknowledged.files.delete(path);
    if (wrote.ok === true) acknowledged.count += 1;
  }
}

async function check(gateway: TestGateway, { notes, files }: Acknowledged): Promise<void> {
  const wire = await operator(gateway);
  for (const [key, expected] of notes) {
    const { messages } = (await wire.request("chat.history", { sessionKey: key, limit: 1000 })).payload as unknown as {
      messages: { content: { text: string }[] }[];
    };
    const found = messages.map(({ content }) => content[0]?.text ?? "");
    const wanted = expected.slice(-900);
    // What was in flight may be there too; what was acknowledged must be, in its order.
    let at = 0;
    for (const note of found) if (note === wanted[at]) at += 1;
    assert.equal(at, wanted.length, `${key}: ${wanted.length - at} acknowledged notes are missing or out of order`);
  }
  for (const [path, content] of files) assert.equal(readFileSync(join(gateway.workspace, path), "utf8"), content, path);
  wire.end();
}
