// The process of a managed browser: recorded on disk, so that a later gateway finds it, and ended with all its children.
import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

import { writeFileAtomic } from "../base/atomic-file.ts";
import { errnoOf } from "../core/error.ts";
import { checker, Type, type Static } from "../core/schema.ts";
import { readProcess } from "../exec/proc.ts";
import { processFileOf } from "./process-file.ts";

export type ProcessRecord = Readonly<Static<typeof shape>>;

const shape = Type.Object({
  pid: Type.Integer({ minimum: 1 }),
  /** Start time by the system: another process with the same pid has another one. */
  start: Type.String(),
  cdpPort: Type.Integer(),
  proxyPort: Type.Integer(),
  program: Type.String(),
});
const record = checker(shape);

const GRACE_MS = 5000;
const KILL_MS = 3000;
const POLL_MS = 25;

export function writeRecord(folder: string, facts: Omit<ProcessRecord, "start">): ProcessRecord {
  const full: ProcessRecord = { ...facts, start: startOf(facts.pid) };
  writeFileAtomic(processFileOf(folder), `${JSON.stringify(full)}\n`);
  return full;
}

export function hasRecord(folder: string): boolean {
  return existsSync(processFileOf(folder));
}

export function removeRecord(folder: string): void {
  rmSync(processFileOf(folder), { force: true });
}

/** The recorded browser if it still runs with this data folder. */
export function readRecord(folder: string, userData: string): ProcessRecord | undefined {
  const found = parseRecord(folder);
  if (found === undefined) return undefined;
  return isSameProcess(found) && findHolders(userData).includes(found.pid) ? found : undefined;
}

function parseRecord(folder: string): ProcessRecord | undefined {
  try {
    const found: unknown = JSON.parse(readFileSync(processFileOf(folder), "utf8"));
    return record.is(found) ? found : undefined;
  } catch (error) {
    if (errnoOf(error) !== undefined || error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** False also when another process got the pid since. */
export function isSameProcess({ pid, start }: Pick<ProcessRecord, "pid" | "start">): boolean {
  return isRunning(pid) && startOf(pid) === start;
}

/** Browser processes that were started with this data folder. */
export function findHolders(userData: string): number[] {
  const wanted = `--user-data-dir=${userData}`;
  return commandLines().flatMap(([pid, args]) =>
    args.includes(wanted) && !args.some((arg) => arg.startsWith("--type=")) && isRunning(pid) ? [pid] : [],
  );
}

/** Asks the browser to close, so that it saves its data, and kills what is left of its group after a deadline. */
export async function endProcess(pid: number, graceMs = GRACE_MS): Promise<void> {
  if (!isRunning(pid)) return;
  const isLeader = process.platform !== "win32" && (readProcess(pid)?.group ?? pid) === pid;
  signal(pid, "SIGTERM");
  await untilEnded(pid, graceMs);
  signal(isLeader ? -pid : pid, "SIGKILL");
  await untilEnded(pid, KILL_MS);
}

function isRunning(pid: number): boolean {
  const found = readProcess(pid);
  if (found !== undefined) return !found.isDead;
  try {
    return process.platform !== "linux" && process.kill(pid, 0);
  } catch (error) {
    return errnoOf(error) === "EPERM";
  }
}

async function untilEnded(pid: number, timeoutMs: number): Promise<void> {
  const deadline = performance.now() + timeoutMs;
  while (isRunning(pid) && performance.now() < deadline) await sleep(POLL_MS);
}

function signal(target: number, name: NodeJS.Signals): void {
  try {
    process.kill(target, name);
  } catch (error) {
    if (errnoOf(error) !== "ESRCH" && errnoOf(error) !== "EPERM") throw error;
  }
}

const startOf = (pid: number): string => readProcess(pid)?.start ?? "";

function commandLines(): readonly (readonly [pid: number, args: readonly string[]])[] {
  if (process.platform === "win32") return [];
  if (process.platform !== "linux")
    return execFileSync("ps", ["-axww", "-o", "pid=,command="], { encoding: "utf8" })
      .split("\n")
      .map((line) => [Number.parseInt(line, 10), line.trim().split(/ (?=--)/)] as const);
  return readdirSync("/proc").flatMap((name) => {
    if (!/^\d+$/.test(name)) return [];
    try {
      return [[Number(name), splitArguments(readFileSync(`/proc/${name}/cmdline`, "utf8"))] as const];
    } catch (error) {
      // It ended meanwhile, or belongs to another user.
      if (errnoOf(error) !== undefined) return [];
      throw error;
    }
  });
}

/** Chromium rewrites its command line with spaces instead of NUL characters. */
function splitArguments(line: string): string[] {
  const parts = line.split("\0").filter((part) => part !== "");
  return parts.length > 1 ? parts : line.replaceAll("\0", "").split(/ (?=--)/);
}
