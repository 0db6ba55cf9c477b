// A running gateway under load: tool calls over HTTP, RPC over WebSocket, many idle clients, memory and idle CPU.
import { spawn, type ChildProcess } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { WebSocket } from "ws";

import {
  dispose,
  newIdentity,
  operator,
  root,
  startGateway,
  type TestGateway,
  type Wire,
} from "../test/harness/gateway.ts";
import { loadHttp, loadSocket, type HttpTarget } from "./load.ts";
import { atLeast, atMost, median, quantile, type Row } from "./table.ts";

export async function benchServe(): Promise<Row[]> {
  const bare = await startBare();
  const gateway = await startGateway();
  const rows = [
    ...(await benchIdle(gateway)),
    ...(await benchHttp(gateway, bare.port)),
    ...(await benchSocket(gateway, bare.port)),
    ...(await benchClients(gateway)),
  ];
  bare.child.kill();
  await dispose(gateway);
  return rows;
}

export async function startBare(): Promise<{ child: ChildProcess; port: number }> {
  const child = spawn(process.execPath, [join(root, "bench", "bare-server.ts")], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const port = await new Promise<number>((resolve) =>
    child.stdout?.once("data", (chunk: Buffer) => resolve(Number(chunk.toString()))),
  );
  return { child, port };
}

async function benchIdle(gateway: TestGateway): Promise<Row[]> {
  const bare = spawn(process.execPath, ["-e", "setInterval(() => {}, 1e6)"]);
  await sleep(Number(process.env["BENCH_IDLE_MS"] ?? 30_000));
  const before = cpuTicks(gateway.pid);
  const from = performance.now();
  await sleep(10_000);
  const seconds = (performance.now() - from) / 1000;
  const cpu = ((cpuTicks(gateway.pid) - before) / 100 / seconds) * 100;
  const [ours, theirs] = [residentMb(gateway.pid), residentMb(bare.pid ?? 0)];
  bare.kill();
  return [
    atMost(
      "gateway resident memory after 30 s idle, against node -e 0",
      ours / theirs,
      2.2,
      "x",
      `${ours.toFixed(0)} MB; bare ${theirs.toFixed(0)} MB`,
    ),
    atMost("gateway idle CPU", cpu, 0.2, "%"),
  ];
}

async function benchHttp(gateway: TestGateway, barePort: number): Promise<Row[]> {
  const body = JSON.stringify({ tool: "agents_list", args: {} });
  const headers = { "content-type": "application/json", authorization: `Bearer ${gateway.token}` };
  const bare: HttpTarget = { port: barePort, path: "/", headers, body };
  const ours: HttpTarget = { port: gateway.port, path: "/tools/invoke", headers, body };
  for (const target of [bare, ours]) await loadHttp(target, 16, 3000);
  const single = { bare: [] as number[], ours: [] as number[] };
  const many = { bare: [] as number[], ours: [] as number[] };
  for (let round = 0; round < 5; round++) {
    single.bare.push(median((await loadHttp(bare, 1, 800)).latencies));
    single.ours.push(median((await loadHttp(ours, 1, 800)).latencies));
    many.bare.push(5000 / (await loadHttp(bare, 64, 5000)).seconds);
    many.ours.push(5000 / (await loadHttp(ours, 64, 5000)).seconds);
  }
  const [b1, o1, b64, o64] = [median(single.bare), median(single.ours), median(many.bare), median(many.ours)];
  return [
    atMost(
      "/tools/invoke agents_list, 1 client, latency p50",
      o1 / b1,
      2.2,
      "x",
      `${o1.toFixed(3)} ms; bare ${b1.toFixed(3)} ms`,
    ),
    atLeast(
      "/tools/invoke agents_list, 64 clients, throughput",
      o64 / b64,
      0.4,
      "x",
      `${o64.toFixed(0)}/s; bare ${b64.toFixed(0)}/s`,
    ),
  ];
}

async function benchSocket(gateway: TestGateway, barePort: number): Promise<Row[]> {
  const wire = await operator(gateway);
  const echo = new WebSocket(`ws://127.0.0.1:${barePort}/`);
  await new Promise((resolve) => echo.once("open", resolve));
  const frame = (i: number): string => `{"type":"req","id":"r${i}","method":"health","params":{}}`;
  const rates = { bare: [] as number[], ours: [] as number[] };
  for (let round = 0; round < 6; round++) {
    rates.bare.push(await loadSocket(echo, 64, 20_000, frame));
    rates.ours.push(await loadSocket(wire.socket, 64, 20_000, frame));
    wire.frames.length = 0;
  }
  echo.terminate();
  wire.end();
  const [theirs, ours] = [median(rates.bare), median(rates.ours)];
  return [
    atLeast(
      "WebSocket health, 64 in flight, against a bare ws echo",
      ours / theirs,
      0.4,
      "x",
      `${ours.toFixed(0)}/s; bare ${theirs.toFixed(0)}/s`,
    ),
  ];
}

async function benchClients(gateway: TestGateway): Promise<Row[]> {
  const idle: Wire[] = [];
  for (let i = 0; i < 1000; i += 50)
    idle.push(
      ...(await Promise.all(
        Array.from({ length: 50 }, () => operator(gateway, { client: { mode: "cli", id: "cli" } })),
      )),
    );
  await loopDelay(gateway); // starts the measuring
  const before = residentMb(gateway.pid);
  const active = await Promise.all(
    Array.from({ length: 100 }, () =>
      operator(gateway, { client: { mode: "cli", id: "cli" }, identity: newIdentity() }),
    ),
  );
  const latencies: number[] = [];
  const until = performance.now() + 10_000;
  await Promise.all(
    active.map(async (wire) => {
      while (performance.now() < until) {
        const from = performance.now();
        await wire.request("health");
        latencies.push(performance.now() - from);
        wire.frames.length = 0;
        await sleep(40 + Math.random() * 20);
      }
    }),
  );
  const grown = residentMb(gateway.pid) - before;
  const lag = await loopDelay(gateway);
  for (const wire of [...idle, ...active]) wire.end();
  return [
    atMost(
      "1,000 idle + 100 active clients: loop delay p99",
      lag,
      50,
      " ms",
      `answer p99 ${quantile(latencies, 0.99).toFixed(1)} ms`,
    ),
    atMost("1,000 idle + 100 active clients: memory growth under load", grown, 25, " MB"),
  ];
}

/** Asks the gateway itself, which measures its loop while it is asked to. */
async function loopDelay(gateway: TestGateway): Promise<number> {
  const wire = await operator(gateway);
  const answer = await wire.request("health", { probe: true });
  wire.end();
  return (answer.payload as unknown as { loopDelayP99Ms?: number }).loopDelayP99Ms ?? Number.NaN;
}

export function residentMb(pid: number): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? Number.NaN) / 1024;
}

export function cpuTicks(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
  return Number(fields[11]) + Number(fields[12]);
}
