// One owner per state folder: a kernel lock, which is released however its owner ends.
import { closeSync, mkdirSync, openSync, readFileSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import type { DatabaseSync } from "node:sqlite";

import { errnoOf, OpenClawError } from "../core/error.ts";
import { diskError, writeFileAtomic } from "./atomic-file.ts";
import { systemClock } from "./clock.ts";
import { isAlive } from "./process-alive.ts";

// Two processes that start at the same time can block each other briefly, and the winner needs a moment to write its
// name.
const MAX_TRIES = 300;
const BUSY = 5;

// Without a reference the connection would be garbage-collected and its lock released.
const heldHere = new Set<DatabaseSync>();

export interface LockOwner {
  readonly pid: number;
  readonly startedAt: number;
  /** Start time of the process by the system: another process with the same pid has another one. */
  readonly born?: string;
  readonly port?: number;
}

export interface Lock {
  readonly file: string;
  /** Publishes more about the owner, such as its port. */
  describe(facts: { readonly port: number }): void;
  release(): void;
}

/** The lock that every writer of a state folder must have. */
export const stateLockOf = (stateFolder: string): string => join(stateFolder, "gateway.lock");

/**
 * Throws OpenClawError `lock.held` immediately when another process, or this one, has it; details are the LockOwner.
 * Never breaks a lock: a dead owner has none, and a stopped one still has it.
 */
export function acquireLock(file: string): Lock {
  const database = openLockFile(file);
  try {
    for (let tries = 1; !takeLock(database); tries++) {
      const owner = readLockOwner(file);
      if (owner !== undefined || tries === MAX_TRIES) throw held(file, owner);
      pause(5 + Math.random() * 10);
    }
  } catch (cause) {
    database.close();
    throw cause instanceof OpenClawError ? cause : diskError(file, cause);
  }
  const born = birthOf(process.pid);
  const owner = { pid: process.pid, startedAt: systemClock.now(), ...(born === undefined ? {} : { born }) };
  return ownLock(file, database, owner);
}

/** For a step of some milliseconds that two processes may want to run at the same time: waits its turn, then releases. */
export function whileLocked<T>(file: string, work: () => T): T {
  const database = openLockFile(file);
  try {
    for (let tries = 1; !takeLock(database); tries++) {
      if (tries === MAX_TRIES)
        throw new OpenClawError("lock.busy", `another process has the lock ${file}`, { hint: "try again" });
      pause(2 + Math.random() * 8);
    }
    return work();
  } finally {
    database.close();
  }
}

/** The process that claims the lock; only acquireLock knows whether it really has it. A dead process is left out. */
export function readLockOwner(file: string): LockOwner | undefined {
  const owner = readSaid(file);
  if (owner === undefined || !isAlive(owner.pid)) return undefined;
  const born = owner.born === undefined ? undefined : birthOf(owner.pid);
  return born !== undefined && born !== owner.born ? undefined : owner;
}

function ownLock(file: string, database: DatabaseSync, owner: LockOwner): Lock {
  const say = (facts: LockOwner): void => {
    try {
      writeFileAtomic(saidFileOf(file), `${JSON.stringify(facts)}\n`);
    } catch (error) {
      // The owner file is only information, because the kernel keeps the lock: a full disk must not prevent a start.
      if (!(error instanceof OpenClawError && error.code === "file.full")) throw error;
    }
  };
  try {
    say(owner);
  } catch (error) {
    database.close();
    throw error;
  }
  heldHere.add(database);
  return {
    file,
    describe: ({ port }) => say({ ...owner, port }),
    release() {
      if (!heldHere.delete(database)) return;
      // Deletes the owner file before releasing the lock, so that the next owner's file is not deleted.
      rmSync(saidFileOf(file), { force: true });
      database.close();
    },
  };
}

function openLockFile(file: string): DatabaseSync {
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    // Created but never opened here when it exists: closing a descriptor would release this process's own lock.
    createIfMissing(file);
    // Loaded here, so that commands that only read the owner do not load a database.
    const sqlite = process.getBuiltinModule("node:sqlite");
    return new sqlite.DatabaseSync(file, { timeout: 0 });
  } catch (cause) {
    throw diskError(file, cause);
  }
}

function createIfMissing(file: string): void {
  try {
    closeSync(openSync(file, "wx", 0o600));
  } catch (error) {
    if (errnoOf(error) !== "EEXIST") throw error;
  }
}

/** False when another process has it or is acquiring it. */
function takeLock(database: DatabaseSync): boolean {
  try {
    // No journal on disk: the lock file is never written, only its kernel lock matters.
    database.exec("PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE");
    return true;
  } catch (error) {
    if (isBusy(error)) return false;
    throw error;
  }
}

function held(file: string, owner: LockOwner | undefined): OpenClawError {
  const who = owner === undefined ? "another process" : `process ${owner.pid}`;
  return new OpenClawError("lock.held", `${who} already runs on ${dirname(file)}`, {
    hint: "openclaw gateway status, or stop it with: openclaw gateway stop",
    details: owner ?? {},
  });
}

function pause(durationMs: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, durationMs);
}

function readSaid(file: string): LockOwner | undefined {
  try {
    const said: unknown = JSON.parse(readFileSync(saidFileOf(file), "utf8"));
    return isOwner(said) ? said : undefined;
  } catch (error) {
    // Missing file: the owner is unknown.
    if (errnoOf(error) === "ENOENT" || error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function isOwner(said: unknown): said is LockOwner {
  if (typeof said !== "object" || said === null) return false;
  const { pid, startedAt, port, born } = said as Record<string, unknown>;
  return (
    Number.isSafeInteger(pid) &&
    Number(pid) > 0 &&
    typeof startedAt === "number" &&
    ["number", "undefined"].includes(typeof port) &&
    ["string", "undefined"].includes(typeof born)
  );
}

/**
 * Clock ticks since boot, where the system reports them, together with the boot id, because ticks restart with each
 * boot.
 */
function birthOf(pid: number): string | undefined {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The name in the second field may contain anything, including spaces and brackets.
    const ticks = fields.slice(fields.lastIndexOf(")") + 2).split(" ")[19];
    return ticks === undefined
      ? undefined
      : `${ticks}@${readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim()}`;
  } catch (error) {
    if (errnoOf(error) === undefined) throw error;
    return undefined;
  }
}

function isBusy(error: unknown): boolean {
  return error instanceof Error && "errcode" in error && (Number(error.errcode) & 0xff) === BUSY;
}

function saidFileOf(file: string): string {
  return `${file}.json`;
}
