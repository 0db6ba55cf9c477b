// F1: kill -9 under load, through the front door: everything acknowledged is there afterwards, in order, and the store verifies.
// The full rounds: OPENCLAW_FAULT_ROUNDS=5000 node --test test/e2e/fault/gateway.test.ts
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { verifyStore } from "../../../src/store/verify.ts";
import { call, say, startFakeOpenAI } from "../../fakes/openai.ts";
import { dispose, operator, startGateway, type TestGateway, type Wire } from "../../harness/gateway.ts";
import { startWithModel } from "../../harness/model.ts";
import { textOf as contentText } from "../../../src/core/message.ts";

const rounds = Number(process.env["OPENCLAW_FAULT_ROUNDS"] ?? 6);
const SESSIONS = 20;

/** What the gateway said it has taken, per session and in the order it said so. */
interface Acknowledged {
  readonly notes: Map<string, string[]>;
  readonly files: Map<string, string>;
  count: number;
}

test(
  `${rounds} kills at random moments under load lose no acknowledged write`,
  { timeout: 300_000 + rounds * 30_000 },
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

test(
  `${Math.ceil(rounds / 3)} kills while 20 agents run tools: every accepted message is stored once, in order, with one end`,
  { timeout: 300_000 + rounds * 30_000 },
  async (t) => {
    const server = await startFakeOpenAI(({ body }) => {
      const { messages } = body as { messages: { role: string; content: unknown }[] };
      const said = JSON.stringify(messages.at(-1)?.content);
      const word = /turn (\d+)/.exec(said)?.[1] ?? "0";
      return messages.at(-1)?.role === "tool"
        ? say("done")
        : call("write", { path: `agents/${word}.txt`, content: word });
    });
    // What a queue leaves out by its own rule is not what this is about.
    let gateway = await startWithModel(server, { more: { messages: { queue: { cap: 10_000 } } } });
    t.after(async () => {
      await dispose(gateway);
      await server.close();
    });
    const taken = new Map<string, string[]>();
    let count = 0;
    for (let round = 0; round < Math.ceil(rounds / 3); round++) {
      const wire = await operator(gateway);
      const sessions = Array.from({ length: SESSIONS }, (_, index) => `agent:main:tool-${index}`);
      const work = sessions.map(async (sessionKey, index) => {
        for (let i = 0; ; i++) {
          const id = `${round * 1_000_000 + index * 1000 + i}`;
          const sent = await wire.request("chat.send", {
            sessionKey,
            message: `turn ${id}`,
            idempotencyKey: `run-${id}`,
          });
          if (sent.ok !== true) return;
          taken.set(sessionKey, [...(taken.get(sessionKey) ?? []), id]);
          count += 1;
          await sleep(5 + Math.random() * 40);
        }
      });
      await sleep(100 + Math.random() * 600);
      await gateway.stop("SIGKILL");
      await Promise.all(work);
      wire.end();
      gateway = await startGateway({ home: gateway.home });
    }
    await checkTurns(gateway, taken);
    await gateway.stop();
    const report = await verifyStore(join(gateway.state, "openclaw.sqlite"));
    assert.equal(report.ok, true, JSON.stringify(report));
    t.diagnostic(
      `${Math.ceil(rounds / 3)} kills, ${count} messages taken in ${taken.size} sessions, each on record once and ended`,
    );
  },
);

/** What was taken before the kill and had not begun is done after it; what was under way has an end that says so. */
async function checkTurns(gateway: TestGateway, taken: ReadonlyMap<string, readonly string[]>): Promise<void> {
  const wire = await operator(gateway);
  for (const [sessionKey, ids] of taken) {
    const acknowledged = new Set(ids);
    let found: string[] = [];
    // Those that waited are run one after the other, in order: when the last is there, all are.
    for (let tries = 0; tries < 3000; tries++) {
      found = await toldIn(wire, sessionKey);
      if (found.includes(ids.at(-1) ?? "")) break;
      await sleep(100);
    }
    const kept = found.filter((id) => acknowledged.has(id));
    // A history of a thousand messages is not shown from its beginning.
    const missing = ids.slice(kept.length < 400 ? 0 : -kept.length).filter((id) => !kept.includes(id));
    assert.deepEqual(missing, [], `${sessionKey}: of ${ids.length} taken, these are not on record`);
    assert.deepEqual(
      kept,
      ids.filter((id) => kept.includes(id)),
      `${sessionKey}: in their order`,
    );
    assert.equal(new Set(found).size, found.length, `${sessionKey}: none twice`);
  }
  wire.end();
}

/** The numbers of the messages in a history, oldest first. */
async function toldIn(wire: Wire, sessionKey: string): Promise<string[]> {
  const { messages } = await wire.call("chat.history", { sessionKey, limit: 1000 });
  const told = messages.filter(({ role }) => role === "user").map(({ content }) => JSON.stringify(content));
  return told.flatMap((text) => [...text.matchAll(/turn (\d+)/g)].map(([, id = ""]) => id));
}

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
    const { messages } = await wire.call("chat.history", { sessionKey: key, limit: 1000 });
    const found = messages.map(({ content }) => contentText(content));
    const wanted = expected.slice(-900);
    // What was in flight may be there too; what was acknowledged must be, in its order.
    let at = 0;
    for (const note of found) if (note === wanted[at]) at += 1;
    assert.equal(at, wanted.length, `${key}: ${wanted.length - at} acknowledged notes are missing or out of order`);
  }
  for (const [path, content] of files) assert.equal(readFileSync(join(gateway.workspace, path), "utf8"), content, path);
  wire.end();
}
