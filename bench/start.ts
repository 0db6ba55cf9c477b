// Start-up: commands and the gateway's first answer, against `node -e 0`, interleaved in one run.
import { spawn, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { connectParams, freePort, newIdentity, root, Wire } from "../test/harness/gateway.ts";
import { atMost, median, type Row } from "./table.ts";

const ROUNDS = 15;

export async function benchStart(): Promise<Row[]> {
  const home = mkdtempSync(join(tmpdir(), "openclaw-bench-"));
  const state = join(home, ".openclaw");
  mkdirSync(state);
  writeFileSync(
    join(state, "openclaw.json"),
    JSON.stringify({ gateway: { mode: "local", port: await freePort(), auth: { token: "bench-token-0123456789" } } }),
  );
  const env = { PATH: process.env["PATH"], HOME: home, NO_COLOR: "1" };
  const bin = join(root, "openclaw.mjs");
  const time = (args: string[]): number => {
    const from = performance.now();
    spawnSync(process.execPath, args, { env, stdio: "ignore" });
    return performance.now() - from;
  };
  const commands: Record<string, string[]> = {
    bare: ["-e", "0"],
    version: [bin, "--version"],
    get: [bin, "config", "get", "gateway.port"],
    status: [bin, "status"],
  };
  for (const args of Object.values(commands)) time(args); // fills the compile cache
  const times = Object.fromEntries(Object.keys(commands).map((name) => [name, [] as number[]]));
  const gateway: number[] = [];
  await firstAnswer(bin, env);
  for (let i = 0; i < ROUNDS; i++) {
    for (const [name, args] of Object.entries(commands)) times[name]?.push(time(args));
    gateway.push(await firstAnswer(bin, env));
  }
  rmSync(home, { recursive: true, force: true });
  const bare = median(times["bare"] ?? []);
  const ratio = (name: string): number => median(times[name] ?? []) / bare;
  const note = (ms: number): string => `${ms.toFixed(0)} ms; bare ${bare.toFixed(0)} ms`;
  return [
    atMost("openclaw --version, wall", ratio("version"), 1.5, "x", note(median(times["version"] ?? []))),
    atMost("openclaw config get gateway.port, wall", ratio("get"), 3, "x", note(median(times["get"] ?? []))),
    atMost("openclaw status with the gateway down, wall", ratio("status"), 3, "x", note(median(times["status"] ?? []))),
    atMost("gateway spawn to first answered RPC", median(gateway) / bare, 6, "x", note(median(gateway))),
  ];
}

async function firstAnswer(bin: string, env: NodeJS.ProcessEnv): Promise<number> {
  const from = performance.now();
  const child = spawn(process.execPath, [bin, "gateway", "run"], { env, stdio: ["ignore", "pipe", "pipe"] });
  const port = await new Promise<number>((resolve, reject) => {
    let output = "";
    child.stderr.on("data", (chunk: Buffer) => {
      output += chunk.toString();
      const match = /listening on http:\/\/[^\s:]+:(\d+)/.exec(output);
      if (match !== null) resolve(Number(match[1]));
    });
    child.on("exit", () => reject(new Error(output)));
  });
  const wire = new Wire(port);
  const identity = newIdentity();
  await wire.request("connect", connectParams({ token: "bench-token-0123456789", identity }, await wire.challenge));
  await wire.request("health");
  const took = performance.now() - from;
  wire.end();
  child.kill("SIGTERM");
  await new Promise((resolve) => child.on("exit", resolve));
  return took;
}
