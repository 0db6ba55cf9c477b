// Reads the machine's processes from /proc, with the mark that shows which command each belongs to.
import { closeSync, openSync, readdirSync, readlinkSync, readSync } from "node:fs";

import { errnoOf } from "../core/error.ts";
import { newSecret } from "../base/ids.ts";

/**
 * A variable in the environment of every command; inherited by every descendant, also outside its group and session.
 */
export const MARK = "OPENCLAW_RUN";

export interface Process {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  readonly session: number;
  /** Clock ticks since boot; with the pid it identifies one process uniquely. */
  readonly start: string;
  readonly isDead: boolean;
  /** The value of MARK. */
  readonly mark: string | undefined;
  /** True when the environment could not be read: a process shows none while it starts a program. */
  readonly isEnvironmentHidden: boolean;
}

/** A mark for everything this process starts; a later process can tell from it whether the owner still lives. */
export function ownMark(): string {
  const start = readProcess(process.pid)?.start ?? "0";
  return `${pidNamespace()}.${process.pid}.${start}.${newSecret(6)}`;
}

/** True when the mark was made in our pid namespace by a process that no longer exists. */
export function isOrphanMark(mark: string): boolean {
  const [namespace, pid, start] = mark.split(".");
  if (namespace === undefined || pid === undefined || start === undefined || namespace !== pidNamespace()) return false;
  return readProcess(Number(pid))?.start !== start;
}

let nextScan: Promise<readonly Process[]> | undefined;

/** Lists all processes. Callers that wait for the same scan share it, and the scan yields to the event loop. */
export async function scanProcesses(): Promise<readonly Process[]> {
  nextScan ??= yieldToLoop().then(async () => {
    nextScan = undefined;
    const found: Process[] = [];
    const pids = processIds();
    for (const [at, pid] of pids.entries()) {
      if (at % 64 === 63) await yieldToLoop();
      const seen = readProcess(pid, true);
      if (seen !== undefined) found.push(seen);
    }
    return found;
  });
  return nextScan;
}

export function readProcess(pid: number, withMark = false): Process | undefined {
  const fields = readStat(pid);
  if (fields === undefined) return undefined;
  const state = fields[0] ?? "X";
  const isDead = state === "Z" || state === "X";
  const environ = withMark && !isDead ? readSmall(`/proc/${pid}/environ`) : undefined;
  return {
    pid,
    parent: Number(fields[1]),
    group: Number(fields[2]),
    session: Number(fields[3]),
    start: fields[19] ?? "",
    isDead,
    mark: environ === undefined ? undefined : markIn(environ),
    // Kernel threads have no memory and therefore no environment.
    isEnvironmentHidden: environ?.length === 0 && fields[20] !== "0",
  };
}

/** True when keys such as C-c reach a process: the terminal of this process has a foreground group. */
export function hasForegroundGroup(pid: number): boolean {
  return Number(readStat(pid)?.[5]) > 0;
}

/** The fields after the name: state, parent, group, session, terminal, foreground group of the terminal, … */
function readStat(pid: number): readonly string[] | undefined {
  const stat = readSmall(`/proc/${pid}/stat`)?.toString("latin1");
  // The name is in parentheses and may itself contain parentheses and spaces.
  return stat?.slice(stat.lastIndexOf(")") + 2).split(" ");
}

/** The name the kernel shows, at most 15 characters; "" when the process is gone. */
export function programName(pid: number): string {
  return readSmall(`/proc/${pid}/comm`)?.toString("utf8").trimEnd() ?? "";
}

/** Signals exactly this process: a pid that was reused is not signaled. False when the process is gone. */
export function signalProcess(target: Process, signal: NodeJS.Signals): boolean {
  const now = readProcess(target.pid);
  if (now === undefined || now.start !== target.start || now.isDead) return false;
  try {
    return process.kill(target.pid, signal);
  } catch (error) {
    // EPERM: the process now belongs to another user (sudo), so it can neither be signaled nor waited for.
    if (errnoOf(error) === "ESRCH" || errnoOf(error) === "EPERM") return false;
    throw error;
  }
}

/** False on systems without /proc (macOS), where only the process group is known. */
export function hasProc(): boolean {
  return processIds().length > 0;
}

function processIds(): number[] {
  try {
    return readdirSync("/proc").flatMap((name) => (/^\d+$/.test(name) ? [Number(name)] : []));
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return [];
    throw error;
  }
}

const field = Buffer.from(`\0${MARK}=`);

function markIn(environ: Buffer): string | undefined {
  const isFirst = environ.subarray(0, field.length - 1).equals(field.subarray(1));
  const at = isFirst ? -1 : environ.indexOf(field);
  if (!isFirst && at === -1) return undefined;
  const from = at + field.length;
  const to = environ.indexOf(0, from);
  return environ.toString("latin1", from, to === -1 ? undefined : to);
}

let buffer: Buffer | undefined;

/** Undefined when the process is gone or belongs to another user. */
function readSmall(path: string): Buffer | undefined {
  buffer ??= Buffer.allocUnsafeSlow(262_144);
  let fd: number | undefined;
  try {
    fd = openSync(path, "r");
    let length = 0;
    for (;;) {
      const count = readSync(fd, buffer, length, buffer.length - length, null);
      length += count;
      if (count === 0 || length === buffer.length) return buffer.subarray(0, length);
    }
  } catch (error) {
    const code = errnoOf(error);
    if (code === "ENOENT" || code === "ESRCH" || code === "EACCES" || code === "EPERM") return undefined;
    throw error;
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}

let namespaceId: string | undefined;

function pidNamespace(): string {
  namespaceId ??= readNamespace();
  return namespaceId;
}

function readNamespace(): string {
  try {
    return /\d+/.exec(readlinkSync("/proc/self/ns/pid"))?.[0] ?? "0";
  } catch (error) {
    if (errnoOf(error) === undefined) throw error;
    return "0"; // without /proc processes are never found by mark
  }
}

async function yieldToLoop(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
