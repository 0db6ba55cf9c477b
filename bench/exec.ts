// Commands: what the rules, the sandbox and the capture of output cost, against the bare thing measured in the same run.
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import { analyze } from "../src/exec/policy/analyze.ts";
import { effectivePolicy } from "../src/exec/policy/effective.ts";
import { judge } from "../src/exec/policy/decide.ts";
import { defaultSafeBins } from "../src/exec/policy/safe-bins.ts";
import { openTestEngine } from "../src/exec/engine.cases.ts";
import { createGuard } from "../src/exec/guard.ts";
import { noEngine, startEngine } from "../test/harness/docker.ts";
import { exec, proc, until } from "../test/harness/exec.ts";
import { dispose, operator, startGateway } from "../test/harness/gateway.ts";
import { idleNote, startIdleLoop } from "./idle-loop.ts";
import { measuresOwnDelay, ownDelay } from "./own-delay.ts";
import { atLeast, atMost, median, quantile, type Row } from "./table.ts";

const ROUNDS = 200;

export async function benchExec(): Promise<Row[]> {
  return [
    ...(await benchAnalysis()),
    ...(await benchHost()),
    ...(await benchGuard()),
    ...(await benchCrowd()),
    ...(await benchBubblewrap()),
    ...(await benchDocker()),
    ...(await benchCapture()),
    ...(await benchMany()),
  ];
}

async function benchAnalysis(): Promise<Row[]> {
  const command = "git log --oneline -n 20 | grep -v 'a|b' | head -n 5";
  const place = { cwd: tmpdir(), workspace: tmpdir(), home: "/root", path: ["/usr/local/bin", "/usr/bin", "/bin"] };
  const file = {
    version: 1 as const,
    agents: { main: { allowlist: ["/usr/bin/git", "/usr/bin/grep"].map((pattern) => ({ pattern })) } },
  };
  const times: number[] = [];
  for (let round = 0; round < 2000; round++) {
    const from = performance.now();
    const policy = effectivePolicy({ security: "allowlist", ask: "off" }, file, "main");
    const { outcome } = judge({ analysis: await analyze(command, place), policy, safeBins: defaultSafeBins });
    times.push(performance.now() - from);
    if (outcome !== "run") throw new Error(`the pipeline of the bench was not allowed: ${outcome}`);
  }
  const warm = times.slice(200);
  return [
    atMost(
      "rules and analysis of one pipeline, p50",
      median(warm),
      0.5,
      " ms",
      `p99 ${quantile(warm, 0.99).toFixed(3)} ms`,
    ),
  ];
}

/** Bare and ours take turns, so that a busy moment of the machine meets both. */
async function inTurns(
  bare: () => Promise<unknown>,
  ours: () => Promise<unknown>,
): Promise<{ bare: number; ours: number }> {
  const times = { bare: [] as number[], ours: [] as number[] };
  for (let round = 0; round < ROUNDS; round++) {
    times.bare.push(await timed(bare));
    times.ours.push(await timed(ours));
  }
  return { bare: median(times.bare.slice(20)), ours: median(times.ours.slice(20)) };
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const from = performance.now();
  await work();
  return performance.now() - from;
}

export function bareRun(file: string, args: readonly string[], env = process.env): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(file, args, { stdio: ["ignore", "pipe", "pipe"], env });
    child.stdout.resume();
    child.stderr.resume();
    child.on("close", () => resolve());
    child.on("error", reject);
  });
}

async function benchHost(): Promise<Row[]> {
  const gateway = await startGateway({
    config: { tools: { exec: { host: "gateway", security: "full", ask: "off" } } },
  });
  const { bare, ours } = await inTurns(
    () => bareRun("sh", ["-c", "true"]),
    () => exec(gateway, { command: "true" }),
  );
  await dispose(gateway);
  return [
    atMost(
      "exec of true on the host, over HTTP, against bare spawn, p50",
      ours / bare,
      2,
      "x",
      `${ours.toFixed(2)} ms; bare ${bare.toFixed(2)} ms`,
    ),
  ];
}

/** The same program by an allowlist entry, with and without the namespace that hides the gateway's files. */
async function benchGuard(): Promise<Row[]> {
  const home = realpathSync(mkdtempSync(join(tmpdir(), "openclaw-bench-")));
  const state = join(home, ".openclaw");
  const workspace = join(state, "workspace");
  mkdirSync(workspace, { recursive: true });
  const places = { home, state, workspace, configs: [join(state, "openclaw.json")], hidden: [], readOnly: [] };
  const guard = createGuard();
  const engine = openTestEngine();
  const launch = { argv: ["/bin/true"], cwd: workspace, env: { PATH: "/usr/bin:/bin" } };
  const works = await guard.works(places);
  if (!works.works) console.log(`  (guard left out: ${works.reason})`);
  const { bare, ours } = works.works
    ? await inTurns(
        async () => (await engine.start({ pipeline: [{ launch }] })).ended,
        async () => (await engine.start({ pipeline: [{ launch: await guard.wrap(launch, places) }] })).ended,
      )
    : { bare: 0, ours: 0 };
  await engine.close();
  guard.close();
  rmSync(home, { recursive: true });
  return works.works
    ? [
        atMost(
          "time the guard adds to an allowlisted command, p50",
          ours - bare,
          8,
          " ms",
          `${ours.toFixed(2)} ms; unguarded ${bare.toFixed(2)} ms`,
        ),
      ]
    : [];
}

const CROWD = 16;
const EACH = 25;

/** In a gateway that has grown: what it takes to start a program must not grow with it. */
async function benchCrowd(): Promise<Row[]> {
  const gateway = await startGateway({
    config: { tools: { exec: { host: "gateway", security: "full", ask: "off" } } },
    env: measuresOwnDelay,
  });
  await crowd(() => exec(gateway, { command: "head -c 2000000 /dev/zero | tr '\\0' x" }));
  const wire = await operator(gateway);
  const idle = startIdleLoop();
  const rates = { bare: [] as number[], ours: [] as number[] };
  const delays = { idle: [] as number[], working: [] as number[], ours: [] as number[], own: [] as number[] };
  for (let round = 0; round < 5; round++) {
    const working = startIdleLoop({ spinMs: 1 });
    await working.ask();
    rates.bare.push(await crowd(() => bareRun("sh", ["-c", "true"])));
    delays.working.push(await working.ask());
    working.stop();
    // Counts from here.
    await Promise.all([loopDelay(wire), idle.ask(), ownDelay(gateway.pid)]);
    rates.ours.push(await crowd(() => exec(gateway, { command: "true" })));
    delays.own.push(await ownDelay(gateway.pid));
    delays.ours.push(await loopDelay(wire));
    delays.idle.push(await idle.ask());
  }
  idle.stop();
  wire.end();
  const [bare, ours] = [median(rates.bare), median(rates.ours)];
  const memory = Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${gateway.pid}/status`, "utf8"))?.[1]) / 1024;
  await dispose(gateway);
  return [
    atLeast(
      "exec of true over HTTP, 16 at once, against bare spawn",
      ours / bare,
      0.8,
      "x",
      `${ours.toFixed(0)}/s; bare ${bare.toFixed(0)}/s; gateway of ${memory.toFixed(0)} MB`,
    ),
    atMost(
      "event loop delay of the gateway's own work meanwhile, p99",
      median(delays.own),
      5,
      " ms",
      `with waiting for a core ${median(delays.ours).toFixed(1)} ms; an idle Node ${median(delays.idle).toFixed(1)} ms; one that works 1 ms in 3, beside bare spawn: ${median(delays.working).toFixed(1)} ms`,
    ),
  ];
}

/** Runs a second. */
async function crowd(work: () => Promise<unknown>): Promise<number> {
  const from = performance.now();
  await Promise.all(
    Array.from({ length: CROWD }, async () => {
      for (let round = 0; round < EACH; round++) await work();
    }),
  );
  return (CROWD * EACH * 1000) / (performance.now() - from);
}

async function benchBubblewrap(): Promise<Row[]> {
  const gateway = await startGateway({
    config: { agents: { defaults: { sandbox: { mode: "all", backend: "bubblewrap" } } } },
  });
  const first = await exec(gateway, { command: "true" });
  if (first.details["status"] !== "completed") throw new Error(first.text);
  const { bare, ours } = await inTurns(
    () => bareRun("sh", ["-c", "true"]),
    () => exec(gateway, { command: "true" }),
  );
  await dispose(gateway);
  return [
    atMost("the same in bubblewrap", ours / bare, 5, "x", `${ours.toFixed(2)} ms; bare ${bare.toFixed(2)} ms`),
    atMost("time the sandbox adds", ours - bare, 25, " ms"),
  ];
}

async function benchDocker(): Promise<Row[]> {
  const missing = noEngine();
  const engine = missing === false ? await startEngine() : missing;
  if (typeof engine === "string") {
    console.log(`  (docker left out: ${engine})`);
    return [];
  }
  const gateway = await startGateway({
    config: { agents: { defaults: { sandbox: { mode: "all", backend: "docker", docker: { image: engine.image } } } } },
    env: engine.env,
  });
  const first = await exec(gateway, { command: "true" });
  if (first.details["status"] !== "completed") throw new Error(first.text);
  const env = { ...process.env, ...engine.env };
  const name = await containerName(engine.env.DOCKER_HOST);
  const { bare, ours } = await inTurns(
    () => bareRun("docker", ["exec", "-i", name, "sh", "-lc", "true"], env),
    () => exec(gateway, { command: "true" }),
  );
  await dispose(gateway);
  await engine.stop();
  return [
    atMost(
      "the same in a warm container, against bare docker exec",
      ours / bare,
      1.2,
      "x",
      `${ours.toFixed(1)} ms; bare ${bare.toFixed(1)} ms`,
    ),
  ];
}

function containerName(host: string): Promise<string> {
  return new Promise((resolve) => {
    const child = spawn("docker", ["ps", "--format", "{{.Names}}"], { env: { ...process.env, DOCKER_HOST: host } });
    child.stdout.once("data", (chunk: Buffer) => resolve(chunk.toString().trim().split("\n")[0] ?? ""));
  });
}

const MEGABYTES = 100;

async function benchCapture(): Promise<Row[]> {
  const command = `yes 0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcde | head -c ${MEGABYTES * 1_000_000}`;
  const gateway = await startGateway({ config: {} });
  await exec(gateway, { command: "true" });
  const before = residentMb(gateway.pid);
  const wire = await operator(gateway);
  await loopDelay(wire); // the first question starts the measuring
  const bare: number[] = [];
  const ours: number[] = [];
  const idle = startIdleLoop();
  let [peak, delay, idleDelay] = [0, 0, 0];
  for (let round = 0; round < 3; round++) {
    bare.push(await timed(() => bareRun("sh", ["-c", command])));
    const watch = setInterval(() => (peak = Math.max(peak, residentMb(gateway.pid))), 20);
    await Promise.all([loopDelay(wire), idle.ask()]);
    ours.push(await timed(() => exec(gateway, { command, yieldMs: 600_000 })));
    clearInterval(watch);
    delay = Math.max(delay, await loopDelay(wire));
    idleDelay = Math.max(idleDelay, await idle.ask());
  }
  idle.stop();
  wire.end();
  await dispose(gateway);
  return [
    atMost(
      `capture of ${MEGABYTES} MB against a bare pipe read, wall`,
      median(ours) / median(bare),
      1.5,
      "x",
      `${median(ours).toFixed(0)} ms; bare ${median(bare).toFixed(0)} ms`,
    ),
    atMost("memory the gateway grows by meanwhile", peak - before, 20, " MB"),
    atMost("event loop delay meanwhile, p99", delay, 50, " ms", idleNote(delay, idleDelay)),
  ];
}

/** What the gateway itself measured since it was last asked. */
async function loopDelay(wire: Awaited<ReturnType<typeof operator>>): Promise<number> {
  const { payload } = await wire.request("health", { probe: true });
  const { loopDelayP99Ms } = payload as unknown as { loopDelayP99Ms?: number };
  return loopDelayP99Ms ?? Number.NaN;
}

async function benchMany(): Promise<Row[]> {
  const count = 200;
  const lines = 20_000;
  const gateway = await startGateway({ config: {} });
  await exec(gateway, { command: "true" });
  const before = residentMb(gateway.pid);
  const ids = await Promise.all(
    Array.from({ length: count }, async (_, at) => {
      const command = `i=0; while [ $i -lt ${lines / 1000} ]; do seq $((i*1000+1)) $((i*1000+1000)) | sed "s/^/${at} chatty line number /"; i=$((i+1)); done`;
      const { details } = await exec(gateway, { command, background: true });
      return String(details["sessionId"]);
    }),
  );
  let peak = 0;
  const watch = setInterval(() => (peak = Math.max(peak, residentMb(gateway.pid))), 50);
  let whole = 0;
  for (const [at, sessionId] of ids.entries()) {
    await until(
      () => proc(gateway, { action: "poll", sessionId }),
      ({ details }) => details["status"] !== "running",
      120_000,
    );
    const first = await proc(gateway, { action: "log", sessionId, offset: 0, limit: 1 });
    const last = await proc(gateway, { action: "log", sessionId, offset: lines - 1, limit: 1 });
    if (first.text.includes(`${at} chatty line number 1`) && last.text.includes(`${at} chatty line number ${lines}`))
      whole += 1;
  }
  clearInterval(watch);
  await sleep(200);
  await dispose(gateway);
  return [
    atMost(`${count} chatty background commands: not pageable to the last line`, count - whole, 0, ""),
    atMost(
      `memory they add to the gateway (${count} x ${((lines * 26) / 1e6).toFixed(1)} MB of output)`,
      peak - before,
      250,
      " MB",
    ),
  ];
}

function residentMb(pid: number): number {
  const [, kb = "0"] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
  return Number(kb) / 1024;
}
