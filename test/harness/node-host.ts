// A real node host for tests: `openclaw node run` in a process and home of its own, beside a real gateway.
import { spawn, type ChildProcess } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { until } from "./exec.ts";
import { root, tempHome, type TestGateway, type Wire } from "./gateway.ts";

export interface NodeHost {
  readonly home: string;
  readonly state: string;
  readonly pid: number;
  readonly process: ChildProcess;
  output(): string;
  /** Resolves with the exit code. */
  readonly exited: Promise<number | null>;
  stop(signal?: NodeJS.Signals): Promise<number | null>;
}

export interface NodeHostPlan {
  readonly home?: string;
  readonly name?: string;
  readonly args?: readonly string[];
  readonly env?: Record<string, string>;
  /** The approvals file of the node, before it starts. */
  readonly approvals?: Record<string, unknown>;
  readonly port?: number;
  /** Without a flag: as last time. */
  readonly bare?: boolean;
}

/** Neither a node host nor what it runs outlives the file that started it. */
const started = new Set<ChildProcess>();
process.once("exit", () => {
  for (const child of started) child.kill("SIGKILL");
});

export const nodePath = "/usr/local/bin:/usr/bin:/bin";

export function startNodeHost(gateway: TestGateway, plan: NodeHostPlan = {}): NodeHost {
  const home = plan.home ?? tempHome();
  const state = join(home, ".openclaw");
  mkdirSync(state, { recursive: true, mode: 0o700 });
  if (plan.approvals !== undefined) setRules(state, plan.approvals);
  const named = plan.name === undefined ? [] : ["--display-name", plan.name];
  const words = plan.bare === true ? [] : ["--port", String(plan.port ?? gateway.port), ...named];
  const child = spawn(process.execPath, [join(root, "openclaw.mjs"), "node", "run", ...words, ...(plan.args ?? [])], {
    cwd: home,
    // Compiled code is shared by all of them: most of a start is reading the sources.
    env: {
      PATH: nodePath,
      HOME: home,
      NO_COLOR: "1",
      XDG_CACHE_HOME: join(tmpdir(), "openclaw-test-cache"),
      OPENCLAW_GATEWAY_TOKEN: gateway.token,
      ...plan.env,
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  started.add(child);
  let output = "";
  const read = (chunk: Buffer): void => void (output += chunk.toString());
  child.stdout.on("data", read);
  child.stderr.on("data", read);
  const exited = new Promise<number | null>((resolve) => child.on("exit", (code) => resolve(code)));
  return {
    home,
    state,
    pid: child.pid ?? 0,
    process: child,
    output: () => output,
    exited,
    async stop(signal = "SIGTERM") {
      child.kill(signal);
      return exited;
    },
  };
}

export async function disposeNode(host: NodeHost): Promise<void> {
  await host.stop("SIGKILL");
  rmSync(host.home, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
}

/** The approvals file of the node, as a person at that machine would write it. */
export function setRules(state: string, file: Record<string, unknown>): void {
  writeFileSync(join(state, "exec-approvals.json"), JSON.stringify({ version: 1, ...file }), { mode: 0o600 });
}

interface Row {
  readonly nodeId: string;
  readonly displayName?: string;
  readonly connected: boolean;
  readonly pathEnv?: string;
  readonly commands: readonly string[];
  readonly platform: string;
  readonly connectedAtMs?: number;
}

/** The gateway's row of that node, once it is connected; `after` leaves out an older connection. */
export async function connectedAs(wire: Wire, name: string, after = 0): Promise<Row> {
  const seen = await until(
    async () => {
      const { nodes } = await wire.call("node.list", {});
      return nodes.find((row) => row.displayName === name && row.connected && (row.connectedAtMs ?? 0) > after);
    },
    (row) => row !== undefined,
    60_000,
  );
  if (seen === undefined) throw new Error("not connected");
  return seen;
}

export function readNodeJson(state: string): Record<string, unknown> {
  return JSON.parse(readFileSync(join(state, "node.json"), "utf8")) as Record<string, unknown>;
}

/** What it keeps once it is in: the gateway knows it as connected a moment before. */
export const keptNodeJson = (state: string): Promise<Record<string, unknown>> =>
  until(
    () => readNodeJson(state),
    ({ token, link }) => token !== undefined && (link as { state?: string } | undefined)?.state === "connected",
  );

/** False for what is gone or only waits to be collected. */
export function isLive(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    return !/^[ZX]/.test(stat.slice(stat.lastIndexOf(")") + 2));
  } catch {
    return false;
  }
}

/** A process number that a command writes into a file, once it has. */
export async function pidIn(file: string): Promise<number> {
  const read = (): number => (existsSync(file) ? Number(readFileSync(file, "utf8").trim()) : 0);
  return until(read, (pid) => pid > 0, 60_000);
}
