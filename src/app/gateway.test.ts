// Gateways that are opened and closed in one process, like restarts in place, leave no resources behind.
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";

import { resolvePaths } from "../base/paths.ts";
import { loadConfig } from "../config/load.ts";
import { mainSessionKey, DEFAULT_AGENT } from "../core/names.ts";
import { subjectOf } from "../tool/subject.ts";
import { openGatewayOver, type RunningGateway } from "./gateway.ts";
import { openRuntime, type Runtime } from "./runtime.ts";

const MAIN = mainSessionKey(DEFAULT_AGENT);

function place(t: TestContext): () => Promise<Runtime> {
  const home = mkdtempSync(join(tmpdir(), "openclaw-restarts-"));
  t.after(() => rmSync(home, { recursive: true, force: true }));
  const state = join(home, ".openclaw");
  mkdirSync(join(state, "workspace", "memory"), { recursive: true });
  writeFileSync(join(state, "workspace", "MEMORY.md"), "The cat is called Mau.\n");
  const config = {
    gateway: { mode: "local", auth: { mode: "token", token: "t".repeat(32) } },
    hooks: { enabled: true, token: "h".repeat(32) },
    logging: { consoleLevel: "silent" },
  };
  writeFileSync(join(state, "openclaw.json"), JSON.stringify(config), { mode: 0o600 });
  const env = { HOME: home, PATH: process.env["PATH"] };
  const paths = resolvePaths(env);
  return () => openRuntime({ paths, env, loaded: loadConfig({ paths, env }), consoleLevel: "silent" });
}

const open = (runtime: Runtime): Promise<RunningGateway> =>
  openGatewayOver(runtime, { port: 0 }, { restart: () => {} });

const isOpen = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1", () => resolve(true));
    socket.on("error", () => resolve(false));
    socket.on("connect", () => socket.destroy());
  });

test("frees the port and the state after a failed start", async (t) => {
  const openPlace = place(t);
  const runtime = await openPlace();
  let port = 0;
  const lock = {
    ...runtime.lock,
    describe(facts: Parameters<Runtime["lock"]["describe"]>[0]) {
      port = Number(facts.port);
      runtime.lock.describe(facts);
    },
  };
  const recover = (): Promise<never> => Promise.reject(new Error("the disk is full"));
  await assert.rejects(open({ ...runtime, lock, commands: { ...runtime.commands, recover } }), /the disk is full/);
  assert.ok(port > 0);
  assert.equal(await isOpen(port), false);
  await runtime.close();
  const again = await openPlace();
  const running = await open(again);
  assert.equal(await isOpen(running.gateway.port), true);
  await running.close({ text: "over" });
  await again.close();
});

test("starts also when a restart note cannot be delivered", async (t) => {
  const runtime = await place(t)();
  mkdirSync(join(runtime.paths.state, "restart-sentinel.json"));
  const running = await open(runtime);
  await running.close({ text: "over" });
  await runtime.close();
});

const skip = process.platform === "linux" ? false : "counts threads and descriptors in /proc";

test("leaves no thread, descriptor, timer or listener after restarts in place", { skip }, async (t) => {
  const openPlace = place(t);
  const round = async (): Promise<void> => {
    const runtime = await openPlace();
    const running = await open(runtime);
    const subject = subjectOf({ sessionKey: MAIN }, runtime.settings.now().config);
    const call = { subject, caller: "http", signal: new AbortController().signal, timeoutMs: 20_000 } as const;
    await runtime.callTool({ ...call, tool: "memory_search", args: { query: "cat" } });
    await runtime.callTool({ ...call, tool: "write", args: { path: "a.txt", content: "a" } });
    await runtime.services.cron().status();
    await runtime.services.children().list(MAIN);
    // A run that began a moment before the stop asks for its notes a moment after it.
    const outcome = { stream: "lifecycle", phase: "start", startedAt: 0 } as const;
    runtime.memory.onRun({ runId: "r", sessionKey: MAIN, seq: 1, ts: 0, body: outcome });
    await running.close({ text: "restarting" });
    await runtime.close();
  };
  const look = async (): Promise<unknown> => {
    // Longer than anything that waits unseen may take to show itself.
    await sleep(1000);
    const counts = Map.groupBy(process.getActiveResourcesInfo(), (name) => name);
    return {
      threads: readdirSync("/proc/self/task").length,
      descriptors: readdirSync("/proc/self/fd").length,
      timers: counts.get("Timeout")?.length ?? 0,
      listeners: process.eventNames().map((name) => [name, process.listenerCount(name as "exit")]),
    };
  };
  /** What ends takes its time on a busy machine: looked at until nothing changes any more, or it is as wanted. */
  const left = async (wanted?: unknown): Promise<unknown> => {
    let seen = await look();
    for (let tries = 0; tries < 60; tries++) {
      const next = await look();
      if (isDeepStrictEqual(next, wanted ?? seen)) return next;
      seen = next;
    }
    return seen;
  };
  await round();
  await round();
  const before = await left();
  for (let rounds = 0; rounds < 4; rounds++) await round();
  assert.deepEqual(await left(before), before);
});
