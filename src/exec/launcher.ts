// Starts programs through a small launcher process after the first few; directly before it is ready, and on systems
// where open files cannot be passed through /proc.
import { spawn, type ChildProcess, type StdioOptions } from "node:child_process";
import { existsSync } from "node:fs";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

import { NO_DEBUGGER } from "../base/no-debugger.ts";
import { readProcess } from "./proc.ts";

export interface Program {
  readonly program: string;
  readonly args: readonly string[];
  readonly argv0: string;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** File descriptors of this process, passed as 0, 1, 2, 3, …; only 0 and those from 3 on are read from. */
  readonly stdio: readonly (number | "ignore")[];
}

export interface Launched {
  readonly pid: number;
  isReaped(): boolean;
  readonly exited: Promise<{ readonly code: number | null; readonly signal?: string }>;
}

export interface Launcher {
  /** The program leads its own group and session. Rejects with the system's error when it cannot be started. */
  launch(program: Program): Promise<Launched>;
  close(): Promise<void>;
}

/** The messages to the launcher process, one per line. */
export interface LaunchRequest extends Omit<Program, "stdio"> {
  readonly id: number;
  readonly stdio: readonly ("ignore" | { readonly path: string; readonly writes: boolean })[];
}

export interface LaunchAnswer {
  readonly id: number;
  readonly pid?: number;
  readonly error?: { readonly code?: string | undefined; readonly message: string };
  readonly exit?: { readonly code: number | null; readonly signal: string | null };
}

/**
 * The first commands of a process are started directly: for a short-lived process the launcher would cost more than it
 * saves.
 */
const DIRECT_STARTS = 2;
/** The launcher ends after this time without a command; it uses as much memory as an empty Node process. */
const IDLE_MS = 60_000;
/** How often to poll a program whose launcher died. */
const POLL_MS = 50;

export function createLauncher(): Launcher {
  let helper: Helper | undefined;
  let starts = 0;
  let isClosed = false;
  const ready = (): Helper | undefined => {
    starts += 1;
    if (process.platform !== "linux" || isClosed || starts <= DIRECT_STARTS) return undefined;
    helper ??= startHelper(() => {
      helper = undefined;
    });
    return helper.isReady() ? helper : undefined;
  };
  return {
    async launch(program) {
      const found = ready();
      return found === undefined ? launchHere(program) : found.launch(program);
    },
    async close() {
      isClosed = true;
      await helper?.close();
    },
  };
}

async function launchHere({ program, args, stdio, ...options }: Program): Promise<Launched> {
  const child = spawn(program, args, { ...options, stdio: [...stdio] as StdioOptions, detached: true });
  const { pid } = child;
  if (pid === undefined) throw await new Promise<Error>((resolve) => child.once("error", resolve));
  let isReaped = false;
  const exited = new Promise<{ code: number | null; signal?: string }>((resolve) => {
    child.once("exit", (code, signal) => {
      isReaped = true;
      resolve({ code, ...(signal === null ? {} : { signal }) });
    });
  });
  return { pid, isReaped: () => isReaped, exited };
}

interface Helper {
  isReady(): boolean;
  launch(program: Program): Promise<Launched>;
  close(): Promise<void>;
}

interface Waiting {
  started(pid: number): void;
  failed(error: Error): void;
  ended(code: number | null, signal: string | null): void;
  /** The launcher died, so whether this program still runs must be polled. */
  lost(): void;
}

function startHelper(onGone: () => void): Helper {
  const child = spawn(process.execPath, ["--no-warnings", NO_DEBUGGER, "--max-semi-space-size=1", processFile()], {
    cwd: "/",
    env: { PATH: "/usr/local/bin:/usr/bin:/bin" },
    stdio: ["pipe", "pipe", "ignore"],
    detached: true,
  });
  const waiting = new Map<number, Waiting>();
  let ids = 0;
  let isReady = false;
  let isGone = false;
  let idle: NodeJS.Timeout | undefined;
  const gone = (): void => {
    if (isGone) return;
    isGone = true;
    clearTimeout(idle);
    onGone();
    for (const one of waiting.values()) one.lost();
    waiting.clear();
  };
  child.once("error", gone);
  child.once("exit", gone);
  child.stdin.on("error", gone);
  // The launcher answers this request without a program as soon as it is ready.
  child.stdin.write(`${JSON.stringify(greeting)}\n`);
  createInterface({ input: child.stdout }).on("line", (line) => {
    isReady = true;
    settle(JSON.parse(line) as LaunchAnswer);
  });
  hold(child, false);

  function settle({ id, pid, error, exit }: LaunchAnswer): void {
    const one = waiting.get(id);
    if (one === undefined) return;
    if (pid !== undefined) return one.started(pid);
    waiting.delete(id);
    if (error !== undefined) one.failed(Object.assign(new Error(error.message), { code: error.code }));
    if (exit !== undefined) one.ended(exit.code, exit.signal);
    rest();
  }

  function rest(): void {
    if (waiting.size > 0 || isGone) return;
    hold(child, false);
    clearTimeout(idle);
    idle = setTimeout(() => child.stdin.end(), IDLE_MS).unref();
  }

  return {
    isReady: () => isReady && !isGone && !child.stdin.writableEnded,
    launch(program) {
      const id = (ids += 1);
      clearTimeout(idle);
      hold(child, true);
      return new Promise((resolve, reject) => {
        waiting.set(id, follow(resolve, reject));
        child.stdin.write(`${JSON.stringify(toRequest(id, program))}\n`);
      });
    },
    async close() {
      if (isGone) return;
      const left = new Promise((resolve) => child.once("exit", resolve));
      hold(child, true);
      child.stdin.end();
      await left;
    },
  };
}

const greeting: LaunchRequest = { id: 0, program: "", args: [], argv0: "", cwd: "/", env: {}, stdio: [] };

function follow(resolve: (launched: Launched) => void, reject: (error: Error) => void): Waiting {
  let isReaped = false;
  let started: { readonly pid: number; readonly start: string | undefined } | undefined;
  const { promise: exited, resolve: exit } = Promise.withResolvers<{ code: number | null; signal?: string }>();
  const end = (code: number | null, signal: string | null): void => {
    isReaped = true;
    exit({ code, ...(signal === null ? {} : { signal }) });
  };
  const poll = (): void => {
    const now = started === undefined ? undefined : readProcess(started.pid);
    if (now === undefined || now.start !== started?.start || now.isDead) end(null, null);
    else setTimeout(poll, POLL_MS);
  };
  return {
    started(pid) {
      started = { pid, start: readProcess(pid)?.start };
      resolve({ pid, isReaped: () => isReaped, exited });
    },
    failed: reject,
    ended: end,
    lost() {
      if (started === undefined) reject(new Error("the launcher process ended"));
      else poll();
    },
  };
}

/** The launcher opens the files through /proc by number; they stay open here until it has answered. */
function toRequest(id: number, { stdio, ...program }: Program): LaunchRequest {
  return {
    id,
    ...program,
    stdio: stdio.map((fd, at) =>
      fd === "ignore" ? fd : { path: `/proc/${process.pid}/fd/${fd}`, writes: at === 1 || at === 2 },
    ),
  };
}

/** An idle launcher does not keep the gateway alive; a running command does. */
function hold(child: ChildProcess, isAwaited: boolean): void {
  for (const one of [child, child.stdin, child.stdout] as { ref?(): void; unref?(): void }[]) {
    if (isAwaited) one.ref?.();
    else one.unref?.();
  }
}

/** In the bundle the file lies beside this one; otherwise it is the source file. */
function processFile(): string {
  const bundled = fileURLToPath(new URL("./exec-launcher.js", import.meta.url));
  return existsSync(bundled) ? bundled : fileURLToPath(new URL("./launcher-process.ts", import.meta.url));
}
