// The process that holds a state folder, for certain: only a lock that cannot be taken has a holder.
import { existsSync, readFileSync } from "node:fs";

import { errnoOf, OpenClawError } from "../core/error.ts";
import { acquireLock, stateLockOf, type LockOwner } from "../base/lock.ts";

/** Undefined when nobody holds it. Creates nothing. Throws `gateway.unknown-holder` when the holder does not say who it is. */
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
      throw new OpenClawError("gateway.unknown-holder", `${error.message}, but it does not say which`, {
        hint: `fuser ${file}`,
      });
    return { ...owner, pid: owner.pid, startedAt: owner.startedAt };
  }
}

/** A zombie has ended too: it holds nothing and only waits for its parent. */
export function hasEnded(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    return errnoOf(error) === "ESRCH";
  }
  try {
    return /^\d+ \(.*\) Z /s.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch (error) {
    return errnoOf(error) === "ENOENT" && existsSync("/proc/self"); // gone meanwhile; other systems have no such file
  }
}
