// One owner per state folder: a lock held by the kernel, so it is freed whatever way its owner ends.
import { closeSync, mkdirSync, openSync, readFileSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import type { DatabaseSync } from "node:sqlite";

import { errnoOf, HouseError } from "../core/error.ts";
import { diskError, writeFileAtomic } from "./atomic-file.ts";
import { systemClock } from "./clock.ts";

export interface LockOwner {
  readonly pid: number;
  readonly startedAt: number;
  readonly port?: number;
}

export interface Lock {
  readonly file: string;
  /** Tells others more about the owner, such as the port it listens on. */
  describe(facts: { readonly port: number }): void;
  release(): void;
}

/** The lock that whoever writes to a state folder must hold. */
export const stateLockOf = (stateFolder: string): string => join(stateFolder, "gateway.lock");

/**
 * Throws HouseError `lock.held` at once when another process, or this one, has it; details are the LockOwner. Never waits
 * and never breaks a lock: a dead owner cannot hold one, and a stopped one still does.
 */
export function acquireLock(file: string): Lock {
  const database = openLockFile(file);
  try {
    // No journal on disk: nothing is ever written into the lock file, only its kernel lock matters.
    database.exec("PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE");
  } catch (cause) {
    database.close();
    throw isBusy(cause) ? held(file) : diskError(file, cause);
  }
  const owner: LockOwner = { pid: process.pid, startedAt: systemClock.now() };
  return ownLock(file, database, owner);
}

/** Who says to have the lock. Only acquireLock knows whether that is still so; a dead process is left out. */
export function readLockOwner(file: string): LockOwner | undefined {
  const owner = readSaid(file);
  return owner !== undefined && isAlive(owner.pid) ? owner : undefined;
}

function ownLock(file: string, database: DatabaseSync, owner: LockOwner): Lock {
  const say = (facts: LockOwner): void => writeFileAtomic(saidFileOf(file), `${JSON.stringify(facts)}\n`);
  try {
    say(owner);
  } catch (error) {
    database.close();
    throw error;
  }
  let isHeld = true;
  return {
    file,
    describe: ({ port }) => say({ ...owner, port }),
    release() {
      if (!isHeld) return;
      isHeld = false;
      // First the word, then the lock: what the next owner says must not be taken away.
      rmSync(saidFileOf(file), { force: true });
      database.close();
    },
  };
}

function openLockFile(file: string): DatabaseSync {
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    // Only ever made, never opened here when it exists: closing a descriptor would drop this process's own lock.
    createIfMissing(file);
    // Loaded here and not above: commands that only ask who the owner is must not pay for a database.
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

function held(file: string): HouseError {
  const owner = readFreshOwner(file);
  const who = owner === undefined ? "another process" : `process ${owner.pid}`;
  return new HouseError("lock.held", `${who} already runs on ${dirname(file)}`, {
    hint: "openclaw gateway status, or stop it with: openclaw gateway stop",
    details: owner ?? {},
  });
}

/** Whoever has just taken the lock needs a moment to say so. */
function readFreshOwner(file: string): LockOwner | undefined {
  for (let tries = 0; tries < 10; tries++) {
    const owner = readLockOwner(file);
    if (owner !== undefined) return owner;
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10);
  }
  return undefined;
}

function readSaid(file: string): LockOwner | undefined {
  try {
    const said: unknown = JSON.parse(readFileSync(saidFileOf(file), "utf8"));
    return isOwner(said) ? said : undefined;
  } catch (error) {
    // Not there yet, or not there any more: then nobody says anything.
    if (errnoOf(error) === "ENOENT" || error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function isOwner(said: unknown): said is LockOwner {
  if (typeof said !== "object" || said === null) return false;
  const { pid, startedAt, port } = said as Record<string, unknown>;
  return (
    Number.isSafeInteger(pid) &&
    Number(pid) > 0 &&
    typeof startedAt === "number" &&
    ["number", "undefined"].includes(typeof port)
  );
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return errnoOf(error) === "EPERM";
  }
}

function isBusy(error: unknown): boolean {
  return error instanceof Error && "errcode" in error && error.errcode === 5;
}

function saidFileOf(file: string): string {
  return `${file}.json`;
}
