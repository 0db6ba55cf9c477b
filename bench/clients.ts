// Many clients, and greedy ones: what connecting costs, what a thousand cost together, what the others feel meanwhile.
import { spawn } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import {
  connectParams,
  dispose,
  freePort,
  newIdentity,
  operator,
  startGateway,
  tempHome,
  Wire,
  type Identity,
  type TestGateway,
} from "../test/harness/gateway.ts";
import { besideIdle, idleNote } from "./idle-loop.ts";
import { loadHttp, loadSocket, type HttpTarget } from "./load.ts";
import { benchConfig, deltas, startBenchModel } from "./model-server.ts";
import { residentMb, startBare } from "./serve.ts";
import { atLeast, atMost, median, quantile, type Row } from "./table.ts";

interface Target {
  readonly port: number;
  readonly token: string;
  /** Answers each message with the same message, and sends no challenge. */
  readonly isBare?: boolean;
}

export async function benchClients(): Promise<Row[]> {
  const model = await startBenchModel();
  const gateway = await startGateway({
    config: { ...benchConfig(model.url), tools: { exec: { host: "gateway", security: "full", ask: "off" } } },
  });
  // First, on a gateway that did nothing before: what it takes when idle is what the rest is measured against.
  const rows = [...(await burst(gateway)), ...(await connecting(gateway)), ...(await greedy(gateway))];
  const { idle, ...crowd } = await thousand(gateway);
  rows.push(...crowd.rows);
  // Longer than what is measured: eight runs that grow all the time.
  model.answer = () => deltas(2000, "some words ");
  model.paceMs = 5;
  const speaker = await operator(gateway);
  for (let i = 0; i < 8; i++)
    await speaker.request("chat.send", { sessionKey: `agent:main:s${i}`, message: "go", idempotencyKey: `s${i}` });
  const calls: number[] = [];
  const { p99, p50, idleMs } = await felt(gateway, async () => {
    for (const until = performance.now() + 8000; performance.now() < until;)
      calls.push(500 / (await loadHttp(agentsList(gateway), 8, 500)).seconds);
  });
  rows.push(
    atMost(
      "8 chats streaming, 1,000 idle clients: health p99",
      p99,
      50,
      " ms",
      `p50 ${p50.toFixed(1)} ms; ${idleNote(p99, idleMs)}; /tools/invoke meanwhile ${median(calls).toFixed(0)}/s`,
    ),
  );
  for (const wire of [speaker, ...idle]) wire.end();
  await dispose(gateway);
  model.close();
  return rows;
}

/** With a paired device; against a bare `ws` server, and the gateway of `OPENCLAW_BENCH_PEER` when one is named. */
async function connecting(gateway: TestGateway): Promise<Row[]> {
  const bare = await startBare();
  const peer = process.env["OPENCLAW_BENCH_PEER"] === undefined ? undefined : await startPeer();
  const identity = newIdentity();
  const targets: Target[] = [
    gateway,
    { port: bare.port, token: "", isBare: true },
    ...(peer === undefined ? [] : [peer]),
  ];
  const single = targets.map(() => [] as number[]);
  const many = targets.map(() => [] as number[]);
  for (const target of targets) await connectAll(target, identity, 50, 4);
  for (let round = 0; round < 5; round++) {
    for (const [i, target] of targets.entries()) {
      single[i]?.push(median((await connectAll(target, identity, 60, 1)).latencies));
      many[i]?.push((await connectAll(target, identity, 200, 16)).perSecond);
    }
  }
  bare.child.kill();
  peer?.stop();
  const [ours, raw, theirs] = single.map((values) => median(values));
  const [oursMany, rawMany, theirsMany] = many.map((values) => median(values));
  const ms = (value = Number.NaN): string => `${value.toFixed(2)} ms`;
  const rate = (value = Number.NaN): string => `${value.toFixed(0)}/s`;
  const no = Number.NaN;
  return [
    atMost(
      "connect with a device, against a bare ws connect",
      (ours ?? no) / (raw ?? no),
      4,
      "x",
      `${ms(ours)}; bare ${ms(raw)}`,
    ),
    atLeast(
      "16 connect at once, against bare ws",
      (oursMany ?? no) / (rawMany ?? no),
      0.25,
      "x",
      `${rate(oursMany)}; bare ${rate(rawMany)}`,
    ),
    ...(theirs === undefined
      ? []
      : [
          atLeast(
            "connect with a device, faster than the peer",
            theirs / (ours ?? no),
            2,
            "x",
            `${ms(ours)}; peer ${ms(theirs)}`,
          ),
          atLeast(
            "16 connect at once, faster than the peer",
            (oursMany ?? no) / (theirsMany ?? no),
            2,
            "x",
            `${rate(oursMany)}; peer ${rate(theirsMany)}`,
          ),
        ]),
  ];
}

async function connectAll(
  target: Target,
  identity: Identity,
  total: number,
  atOnce: number,
): Promise<{ latencies: number[]; perSecond: number }> {
  const latencies: number[] = [];
  let left = total;
  const from = performance.now();
  const client = async (): Promise<void> => {
    while (left-- > 0) latencies.push(await connectOnce(target, identity));
  };
  await Promise.all(Array.from({ length: atOnce }, client));
  return { latencies, perSecond: total / ((performance.now() - from) / 1000) };
}

async function connectOnce({ port, token, isBare = false }: Target, identity: Identity): Promise<number> {
  const from = performance.now();
  const wire = new Wire(port, { perMessageDeflate: false });
  if (isBare) {
    await new Promise((resolve) => wire.socket.once("open", resolve));
    const answered = new Promise((resolve) => wire.socket.once("message", resolve));
    wire.send(
      JSON.stringify({ type: "req", id: "c", method: "connect", params: connectParams({ token, identity }, "n") }),
    );
    await answered;
  } else {
    const answer = await wire.connect({ token, identity });
    if (answer.ok !== true) throw new Error(`refused: ${JSON.stringify(answer)}`);
  }
  const took = performance.now() - from;
  wire.end();
  return took;
}

async function startPeer(): Promise<Target & { stop(): void }> {
  const [home, port, token] = [tempHome(), await freePort(), "bench-token-0123456789abcdef"];
  mkdirSync(join(home, ".openclaw"), { recursive: true, mode: 0o700 });
  const config = { gateway: { mode: "local", port, auth: { mode: "token", token } } };
  writeFileSync(join(home, ".openclaw", "openclaw.json"), JSON.stringify(config), { mode: 0o600 });
  const words = [process.env["OPENCLAW_BENCH_PEER"] ?? "", "gateway", "run", "--port", String(port)];
  const child = spawn(process.execPath, words, {
    cwd: home,
    env: { PATH: process.env["PATH"], HOME: home, NO_COLOR: "1" },
    stdio: ["ignore", "pipe", "inherit"],
  });
  await new Promise<void>((resolve, reject) => {
    child.stdout.on("data", (chunk: Buffer) => chunk.toString().includes("listening on ws") && resolve());
    child.on("exit", () => reject(new Error("the peer ended before it listened")));
  });
  return { port, token, stop: () => void child.kill() };
}

/** Memory a minute after some seconds of requests as fast as they go. */
async function burst(gateway: TestGateway): Promise<Row[]> {
  await sleep(5000);
  const before = residentMb(gateway.pid);
  await loadHttp(agentsList(gateway), 64, 15_000);
  await loadHttp(invoking(gateway, "exec", { command: "true" }), 64, 2000);
  const wire = await operator(gateway);
  await loadSocket(wire.socket, 64, 30_000, (i) => `{"type":"req","id":"r${i}","method":"health","params":{}}`);
  wire.end();
  const peak = residentMb(gateway.pid);
  await sleep(60_000);
  const after = residentMb(gateway.pid);
  const note = `${before.toFixed(0)} MB, then ${peak.toFixed(0)} MB, now ${after.toFixed(0)} MB`;
  return [
    atMost("memory a minute after 45,000 requests and 2,000 commands, against idle", after / before, 1.5, "x", note),
  ];
}

const agentsList = (gateway: TestGateway): HttpTarget => invoking(gateway, "agents_list", {});

function invoking({ port, token }: TestGateway, tool: string, args: object): HttpTarget {
  const headers = { "content-type": "application/json", authorization: `Bearer ${token}` };
  return { port, path: "/tools/invoke", headers, body: JSON.stringify({ tool, args }) };
}

/** One client asks for large answers and reads none of them. */
async function greedy(gateway: TestGateway): Promise<Row[]> {
  const wire = await operator(gateway);
  await wire.request("config.schema");
  const before = residentMb(gateway.pid);
  wire.socket.pause();
  const { p99, idleMs } = await felt(gateway, async () => {
    for (let i = 0; i < 4000; i++) wire.send(`{"type":"req","id":"q${i}","method":"config.schema","params":{}}`);
    await sleep(4000);
  });
  const grown = residentMb(gateway.pid) - before;
  wire.end();
  return [
    atMost("4,000 large answers nobody reads: health p99 of others", p99, 50, " ms", idleNote(p99, idleMs)),
    atMost("4,000 large answers nobody reads: memory growth", grown, 40, " MB"),
  ];
}

async function thousand(gateway: TestGateway): Promise<{ rows: Row[]; idle: Wire[] }> {
  const idle: Wire[] = [];
  let bytes = 0;
  const from = performance.now();
  for (let i = 0; i < 1000; i += 50) {
    const some = Array.from({ length: 50 }, () => new Wire(gateway.port));
    for (const wire of some) wire.socket.on("message", (data: Buffer) => (bytes += data.length));
    await Promise.all(some.map((wire) => wire.connect({ token: gateway.token, identity: null })));
    idle.push(...some);
  }
  const seconds = (performance.now() - from) / 1000;
  await sleep(8000);
  return {
    idle,
    rows: [
      atMost("1,000 clients connecting", seconds, 3, " s"),
      atMost("1,000 clients connecting: sent to all of them", bytes / 1e6, 100, " MB"),
    ],
  };
}

interface Felt {
  readonly p99: number;
  readonly p50: number;
  readonly idleMs: number;
}

/** What another client waits for `health` while the work runs, beside the loop delay of an idle Node. */
async function felt(gateway: TestGateway, work: () => Promise<unknown>): Promise<Felt> {
  const wire = await operator(gateway);
  const latencies: number[] = [];
  let isOver = false;
  const asking = (async () => {
    while (!isOver) {
      const from = performance.now();
      await wire.request("health");
      latencies.push(performance.now() - from);
      wire.frames.length = 0;
      await sleep(10);
    }
  })();
  const { idleMs } = await besideIdle(work);
  isOver = true;
  await asking;
  wire.end();
  return { p99: quantile(latencies, 0.99), p50: median(latencies), idleMs };
}
