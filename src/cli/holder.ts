// Finds the process that holds the lock of a state folder.
import { existsSync, readFileSync } from "node:fs";

import { errnoOf, OpenClawError } from "../core/error.ts";
import { acquireLock, stateLockOf, type LockOwner } from "../base/lock.ts";

/** Undefined when the lock is free. Creates nothing. Throws `gateway.unknown-holder` when the holder cannot be identified. */
export function findHolder(state: string): LockOwner | undefined {
  const file = stateLockOf(state);
  if (!existsSync(file)) return undefined;
  try {
    acquireLock(file).release();
    return undefined;
  } catch (error) {
    if (!(error instanceof OpenClawError) || error.code !== "lock.held") throw error;
    const owner = error.details as Partial<LockOwner>;
    if (owner.pid === undefined || owner.startedAt === undefined)
      throw new OpenClawError("gateway.unknown-holder", `${error.message}, but its process id is unknown`, {
        hint: `fuser ${file}`,
      });
    return { ...owner, pid: owner.pid, startedAt: owner.startedAt };
  }
}

/** A zombie counts as ended: it holds no lock and only waits for its parent. */
export function hasEnded(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    return errnoOf(error) === "ESRCH";
  }
  try {
    return /^\d+ \(.*\) Z /s.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch (error) {
    return errnoOf(error) === "ENOENT" && existsSync("/proc/self"); // it has just exited; other systems have no such file
  }
}
