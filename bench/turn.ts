// Turns: from chat.send to the model, with and without history, tool gaps, throughput, streaming, bytes and memory.
import { spawn } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { WebSocket } from "ws";

import type { SessionKey, AgentId } from "../src/core/names.ts";
import { openStore } from "../src/store/builtin.ts";
import {
  dispose,
  operator,
  root,
  startGateway,
  tempHome,
  type TestGateway,
  type Wire,
} from "../test/harness/gateway.ts";
import { benchConfig, deltas, plainAnswer, startBenchModel, toolAnswer, type BenchModel } from "./model-server.ts";
import { cpuTicks, residentMb } from "./serve.ts";
import { bareRun } from "./exec.ts";
import { atLeast, atMost, median, type Row } from "./table.ts";

let run = 0;

export async function benchTurn(): Promise<Row[]> {
  const model = await startBenchModel();
  const home = tempHome();
  await fillSessions(home);
  const gateway = await startGateway({ home, config: benchConfig(model.url) });
  const wire = await operator(gateway);
  const first = await toModel(wire, model, "agent:main:first");
  const bytes = model.arrivals.at(-1)?.bytes ?? 0;
  for (let i = 0; i < 30; i++) await toModel(wire, model, `agent:main:warm-${i}`);
  const fresh = await many(60, (i) => toModel(wire, model, `agent:main:fresh-${i}`));
  const historyMs = await many(20, () => toModel(wire, model, "agent:main:history"));
  const historySent = model.arrivals.at(-1)?.body.messages.length ?? 0;
  const long = await many(30, () => toModel(wire, model, "agent:main:long"));
  const sent = model.arrivals.at(-1)?.body.messages.length ?? 0;
  mkdirSync(gateway.workspace, { recursive: true });
  writeFileSync(join(gateway.workspace, "small.txt"), "small\n");
  const gap = median((await toolGaps(wire, model, "read", { path: "small.txt" })).gaps);
  const command = await toolGaps(wire, model, "exec", { command: "true" });
  const before = cpuTicks(gateway.pid);
  const rate = await throughput(gateway, model);
  const cpuMs = ((cpuTicks(gateway.pid) - before) * 10) / (rate * 5);
  const memory = await memoryGrowth(wire, model, gateway);
  const streaming = await streamCpu(gateway, model);
  wire.end();
  await dispose(gateway);
  model.close();
  return [
    atMost("chat.send to the model, fresh session, p50", fresh, 10, " ms"),
    atMost("chat.send to the model, 1,000 messages sent, p50", historyMs, 25, " ms", `${historySent} messages`),
    atMost(
      "20,000 entries of which few are sent, against fresh",
      long / fresh,
      2,
      "x",
      `${sent} messages, ${long.toFixed(1)} ms`,
    ),
    atMost("first turn after start, to the model", first, 250, " ms"),
    atMost("tool call of read to the follow-up request, p50", gap, 10, " ms"),
    atMost(
      "tool call of exec true to the follow-up request, against bare spawn, p50",
      median(command.gaps) / median(command.bare),
      3,
      "x",
      `${median(command.gaps).toFixed(1)} ms; bare ${median(command.bare).toFixed(1)} ms`,
    ),
    atLeast("16 sessions at once, durable", rate, 100, " turns/s"),
    atMost("CPU of a turn, 16 sessions at once", cpuMs, 15, " ms"),
    atMost("2,000 deltas to 10 clients, CPU against a bare relay", streaming, 3, "x"),
    atMost("first model request, default tools, fresh session", bytes, 24_000, " bytes"),
    atMost("memory after 1,000 turns against after 100", memory, 1.2, "x"),
  ];
}

async function many(count: number, work: (i: number) => Promise<number>): Promise<number> {
  const times: number[] = [];
  for (let i = 0; i < count; i++) times.push(await work(i));
  return median(times);
}

/** One turn to its end; answers how long the request took to reach the model. */
async function toModel(wire: Wire, model: BenchModel, sessionKey: string): Promise<number> {
  const seen = model.arrivals.length;
  const runId = `bench-${++run}`;
  const from = performance.now();
  await wire.request("chat.send", { sessionKey, message: "hello there", idempotencyKey: runId });
  await wire.request("agent.wait", { runId, timeoutMs: 20_000 });
  wire.frames.length = 0;
  return (model.arrivals[seen]?.at ?? Number.NaN) - from;
}

/** Two sessions with a past: a thousand messages all of which are sent, and 20,000 summed up so that few are. */
async function fillSessions(home: string): Promise<void> {
  const state = join(home, ".openclaw");
  mkdirSync(state, { recursive: true, mode: 0o700 });
  const store = await openStore({ file: join(state, "openclaw.sqlite") });
  const now = Date.now();
  const message = (i: number) => {
    const content = [{ type: "text", text: `${i % 2 === 0 ? "question" : "answer"} ${i}: ${"words ".repeat(20)}` }];
    return {
      id: `e${i}`,
      type: "message",
      at: now,
      body: { role: i % 2 === 0 ? "user" : "assistant", content, timestamp: now },
    };
  };
  for (const [name, count] of [
    ["history", 1000],
    ["long", 20_000],
  ] as const) {
    const key = `agent:main:${name}` as SessionKey;
    await store.sessions.put({
      key,
      agentId: "main" as AgentId,
      sessionId: name,
      createdAt: now,
      updatedAt: now,
      entry: {},
    });
    for (let i = 0; i < count; i += 1000)
      await store.transcript.append(
        name,
        Array.from({ length: 1000 }, (_, j) => message(i + j)),
      );
  }
  const body = { summary: "what was said before", firstKeptEntryId: "e19950", tokensBefore: 400_000 };
  await store.transcript.append("long", [{ id: "sum", type: "compaction", at: now, body }]);
  await store.close();
}

/** From the end of the model's answer to its next request; a bare command takes turns with each. */
async function toolGaps(
  wire: Wire,
  model: BenchModel,
  tool: string,
  args: Record<string, unknown>,
): Promise<{ gaps: number[]; bare: number[] }> {
  model.answer = ({ body }) => (body.messages.at(-1)?.role === "tool" ? plainAnswer() : toolAnswer(tool, args));
  const [gaps, bare]: [number[], number[]] = [[], []];
  for (let i = 0; i < 40; i++) {
    const from = performance.now();
    await bareRun("sh", ["-c", "true"]);
    bare.push(performance.now() - from);
    const [answered, arrived] = [model.answeredAt.length, model.arrivals.length];
    await toModel(wire, model, `agent:main:gap-${tool}-${i}`);
    gaps.push((model.arrivals[arrived + 1]?.at ?? Number.NaN) - (model.answeredAt[answered] ?? Number.NaN));
  }
  model.answer = () => plainAnswer();
  return { gaps, bare };
}

async function throughput(gateway: TestGateway, model: BenchModel): Promise<number> {
  const wires = await Promise.all(Array.from({ length: 16 }, () => operator(gateway)));
  const until = performance.now() + 5000;
  let turns = 0;
  await Promise.all(
    wires.map(async (wire, i) => {
      for (let n = 0; performance.now() < until; n++) {
        await toModel(wire, model, `agent:main:many-${i}-${n % 8}`);
        turns += 1;
      }
    }),
  );
  for (const wire of wires) wire.end();
  return turns / 5;
}

async function memoryGrowth(wire: Wire, model: BenchModel, gateway: TestGateway): Promise<number> {
  const turnsTo = async (count: number): Promise<number> => {
    for (let i = 0; i < count; i++) await toModel(wire, model, `agent:main:mem-${i % 100}`);
    await sleep(500);
    return residentMb(gateway.pid);
  };
  const early = await turnsTo(100);
  return (await turnsTo(900)) / early;
}

async function streamCpu(gateway: TestGateway, model: BenchModel): Promise<number> {
  const relay = spawn(process.execPath, [join(root, "bench", "relay-server.ts"), model.url], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const port = await new Promise<number>((resolve) =>
    relay.stdout.once("data", (bytes: Buffer) => resolve(Number(bytes.toString()))),
  );
  model.answer = () => deltas(2000, "some words ");
  const rounds = 5;
  const listeners = await Promise.all(Array.from({ length: 10 }, () => operator(gateway)));
  const [speaker] = listeners;
  if (speaker === undefined) return Number.NaN;
  await toModel(speaker, model, "agent:main:stream-warm");
  const ours = await cpuOf(gateway.pid, async () => {
    for (let i = 0; i < rounds; i++) await toModel(speaker, model, `agent:main:stream-${i}`);
  });
  const clients = await Promise.all(Array.from({ length: 10 }, () => openSocket(port)));
  await relayOnce(clients);
  const bare = await cpuOf(relay.pid ?? 0, async () => {
    for (let i = 0; i < rounds; i++) await relayOnce(clients);
  });
  for (const socket of clients) socket.terminate();
  for (const wire of listeners) wire.end();
  relay.kill();
  model.answer = () => plainAnswer();
  return ours / Math.max(bare, 0.01);
}

function openSocket(port: number): Promise<WebSocket> {
  return new Promise((resolve) => {
    const socket = new WebSocket(`ws://127.0.0.1:${port}/`);
    socket.once("open", () => resolve(socket));
  });
}

async function relayOnce(clients: readonly WebSocket[]): Promise<void> {
  const ended = clients.map(
    (socket) =>
      new Promise<void>((resolve) => {
        const onMessage = (bytes: Buffer): void => {
          if (bytes.toString() !== "end") return;
          socket.off("message", onMessage);
          resolve();
        };
        socket.on("message", onMessage);
      }),
  );
  clients[0]?.send("go");
  await Promise.all(ended);
}

/** CPU seconds a process used while the work ran. */
async function cpuOf(pid: number, work: () => Promise<void>): Promise<number> {
  const before = cpuTicks(pid);
  await work();
  return (cpuTicks(pid) - before) / 100;
}
