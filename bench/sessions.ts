// Sessions that work together: lists and histories of many sessions, and two hundred subagents at once.
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import type { AgentId, SessionKey } from "../src/core/names.ts";
import { openStore } from "../src/store/builtin.ts";
import type { SessionRecord, Store } from "../src/store/store.ts";
import { dispose, operator, startGateway, tempHome, type TestGateway, type Wire } from "../test/harness/gateway.ts";
import { benchConfig, plainAnswer, startBenchModel } from "./model-server.ts";
import { atMost, quantile, type Row } from "./table.ts";

const SESSIONS = 100_000;
const ENTRIES = 100_000;
const CHILDREN = 200;
const WARM_ROUNDS = 4;
/** Each hears of some: one that hears of all would be a bench of long histories. */
const PARENTS = 20;
const rests = ["telegram:group:", "dm:", "hook:", "subagent:", "notes-"];

export async function benchSessions(): Promise<Row[]> {
  const model = await startBenchModel();
  model.answer = () => plainAnswer("done");
  const home = tempHome();
  await fill(home);
  const gateway = await startGateway({ home, config: benchConfig(model.url) });
  const wire = await operator(gateway);
  const lists = await timesOf(wire, "sessions_list", [
    {},
    { limit: 200 },
    { kinds: ["cron"] },
    { kinds: ["group", "hook"], limit: 100 },
    { kinds: ["main", "other"], activeMinutes: 60 },
  ]);
  const histories = await timesOf(wire, "sessions_history", [{ sessionKey: "agent:main:long", limit: 50 }]);
  // The heap of a fresh process grows with its first thousand turns of any kind; what is asked is whether it goes on.
  for (let round = 0; round < WARM_ROUNDS; round++) await children(wire, home, `agent:main:warm-${round}`);
  const before = await settledMb(gateway);
  const ended = await children(wire, home, "agent:main:many");
  const after = await settledMb(gateway);
  wire.end();
  await dispose(gateway);
  model.close();
  return [
    atMost(`sessions_list among ${SESSIONS} sessions, p99`, quantile(lists, 0.99), 20, " ms", p50(lists)),
    atMost(`sessions_history, last 50 of ${ENTRIES} entries, p99`, quantile(histories, 0.99), 5, " ms", p50(histories)),
    atMost(`${CHILDREN} subagents at once, without exactly one end`, CHILDREN - ended, 0, ""),
    atMost(`memory after ${CHILDREN} subagents against before`, after / before, 1.1, "x", `${after.toFixed(0)} MB`),
  ];
}

const p50 = (times: readonly number[]): string => `p50 ${quantile(times, 0.5).toFixed(2)} ms`;

async function fill(home: string): Promise<void> {
  const state = join(home, ".openclaw");
  mkdirSync(state, { recursive: true, mode: 0o700 });
  const store = await openStore({ file: join(state, "openclaw.sqlite") });
  const now = Date.now();
  for (let from = 0; from < SESSIONS; from += 5000)
    await Promise.all(Array.from({ length: 5000 }, (_, index) => store.sessions.put(sessionOf(from + index, now))));
  await store.sessions.put({ ...sessionOf(0, now), key: "agent:main:long" as SessionKey, sessionId: "long" });
  for (let from = 0; from < ENTRIES; from += 5000) await appendSome(store, from, now);
  await store.close();
}

function sessionOf(index: number, now: number): SessionRecord {
  const key = `agent:main:${rests[index % rests.length]}${index}` as SessionKey;
  const at = now - index * 1000;
  const entry = { model: "bench", totalTokens: index, lastChannel: "webchat", systemSent: true };
  return { key, agentId: "main" as AgentId, sessionId: `s-${index}`, createdAt: at, updatedAt: at, entry };
}

async function appendSome(store: Store, from: number, now: number): Promise<void> {
  const entries = Array.from({ length: 5000 }, (_, index) => {
    const role = ["user", "assistant", "toolResult"][index % 3];
    const content = [{ type: "text", text: `line ${from + index}: ${"words ".repeat(30)}` }];
    return { id: `e${from + index}`, type: "message", at: now, body: { role, content, timestamp: now } };
  });
  await store.transcript.append("long", entries);
}

/** Through the front door: the socket, the policy, the journal and the answer are all in it. */
async function timesOf(wire: Wire, tool: string, asked: readonly object[]): Promise<number[]> {
  const times: number[] = [];
  for (let round = 0; round < 220; round++) {
    const from = performance.now();
    const { ok } = await wire.request("tools.invoke", { tool, args: asked[round % asked.length] });
    if (ok !== true) throw new Error(`${tool} was refused`);
    if (round >= 20) times.push(performance.now() - from);
  }
  return times;
}

/** How many ended exactly once and were told. */
async function children(wire: Wire, home: string, name: string): Promise<number> {
  const parents = Array.from({ length: PARENTS }, (_, index) => `${name}-${index}` as SessionKey);
  await Promise.all(
    Array.from({ length: CHILDREN }, (_, index) =>
      wire.request("tools.invoke", {
        tool: "sessions_spawn",
        sessionKey: parents[index % PARENTS],
        args: { task: `piece ${index}` },
      }),
    ),
  );
  const file = join(home, ".openclaw", "openclaw.sqlite");
  for (let wait = 0; wait < 600; wait++) {
    await sleep(200);
    const store = await openStore({ file, readOnly: true });
    const rows = (await Promise.all(parents.map((parent) => store.children.ofRequester(parent, CHILDREN)))).flat();
    await store.close();
    const done = rows.filter(({ state, status }) => state === "told" && status === "ok").length;
    if (done >= CHILDREN) return rows.length === CHILDREN ? done : 0;
  }
  return 0;
}

async function settledMb({ pid }: TestGateway): Promise<number> {
  await sleep(5000);
  const kb = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
  return Number(kb) / 1024;
}
