// One browser that we start: its process, its guard proxy and the lock on its data folder, which no second browser opens.
import { connect } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import { acquireLock, type Lock } from "../base/lock.ts";
import type { Log } from "../base/log.ts";
import { errnoOf, OpenClawError } from "../core/error.ts";
import type { Guard, GuardProxy } from "../media/guard/guard.ts";
import {
  endProcess,
  findHolders,
  hasRecord,
  isSameProcess,
  readRecord,
  removeRecord,
  writeRecord,
  type ProcessRecord,
} from "./browser-process.ts";
import { isSocketUrl } from "./endpoint.ts";
import { browserError } from "./errors.ts";
import { answersFrom, launchBrowser, type LaunchOptions } from "./launch.ts";
import { OwnerHosts } from "./owner-hosts.ts";

export interface ManagedBrowser {
  readonly record: ProcessRecord;
  readonly proxy: GuardProxy;
  /** Private hosts that the owner opened in it. */
  readonly owners: OwnerHosts;
  /** An earlier gateway started it. */
  readonly isFound: boolean;
  isAlive(): boolean;
  /** Ends the process and its children; also tidies up after one that ended by itself. */
  stop(): Promise<void>;
}

export interface ManagedOptions extends Pick<LaunchOptions, "profile" | "env" | "headless" | "noSandbox" | "spawn"> {
  /** Holds the data, the record of the process and the lock. */
  readonly folder: string;
  /** Throws when no browser is installed. */
  readonly program: () => string;
  readonly guard: Guard;
  readonly log: Log;
  readonly startMs?: number | undefined;
}

const START_MS = 30_000;
const ANSWER_MS = 2000;
const CONNECT_MS = 500;
const FREE_MS = 2000;

export const userDataOf = (folder: string): string => join(folder, "user-data");

/** The running browser of an earlier gateway, or a new one. */
export async function openManaged(options: ManagedOptions, signal: AbortSignal): Promise<ManagedBrowser> {
  const { folder, profile, guard } = options;
  return withLock(folder, async (lock) => {
    const found = await adopt(options, lock);
    if (found !== undefined) return found;
    await requireFreePort(options);
    const program = options.program();
    const owners = new OwnerHosts();
    const proxy = await guard.openProxy({ isOwners: (authority) => owners.has(authority) });
    const { cdpPort = 0 } = profile;
    let record: ProcessRecord | undefined;
    try {
      const child = await launchBrowser({
        ...options,
        program,
        userData: userDataOf(folder),
        proxyPort: proxy.port,
        timeoutMs: options.startMs ?? START_MS,
        signal,
        onSpawned(pid) {
          record = writeRecord(folder, { pid, cdpPort, proxyPort: proxy.port, program });
        },
      });
      child.unref();
      if (record === undefined) throw browserError("browser.start-failed", `${program} did not start`);
    } catch (error) {
      await proxy.close();
      removeRecord(folder);
      throw error;
    }
    if (!isSocketUrl(profile.cdpUrl)) guard.reservePort(cdpPort);
    return manage(options, lock, { record, proxy, owners, isFound: false });
  });
}

/** The running browser of an earlier gateway; one that cannot be used again is ended. */
export async function findManaged(options: ManagedOptions): Promise<ManagedBrowser | undefined> {
  if (!hasRecord(options.folder)) return undefined;
  return withLock(options.folder, (lock) => adopt(options, lock));
}

/** Ends every process that uses the data folder. Returns how many there were. */
export async function endHolders(folder: string): Promise<number> {
  const holders = findHolders(userDataOf(folder));
  for (const pid of holders) await endProcess(pid);
  removeRecord(folder);
  return holders.length;
}

async function adopt(options: ManagedOptions, lock: Lock): Promise<ManagedBrowser | undefined> {
  const { folder, profile, guard, log } = options;
  const userData = userDataOf(folder);
  const record = readRecord(folder, userData);
  const isOnlyOne = findHolders(userData).every((pid) => pid === record?.pid);
  if (
    record !== undefined &&
    isOnlyOne &&
    record.cdpPort === profile.cdpPort &&
    (await answersFrom(userData, profile.cdpUrl, ANSWER_MS))
  ) {
    const owners = new OwnerHosts();
    const proxy = await reopenProxy(guard, record.proxyPort, owners);
    if (proxy !== undefined) {
      log.info("found the browser of the last gateway", { profile: profile.name, pid: record.pid });
      guard.reservePort(record.cdpPort);
      return manage(options, lock, { record, proxy, owners, isFound: true });
    }
  }
  const ended = await endHolders(folder);
  if (ended > 0) log.warn("ended a browser that was left running", { profile: profile.name });
  return undefined;
}

function manage(
  { folder }: ManagedOptions,
  lock: Lock,
  facts: Pick<ManagedBrowser, "record" | "proxy" | "owners" | "isFound">,
): ManagedBrowser {
  const { record, proxy } = facts;
  return {
    ...facts,
    isAlive: () => isSameProcess(record),
    async stop() {
      await endProcess(record.pid);
      await endHolders(folder);
      await proxy.close();
      lock.release();
    },
  };
}

/** The browser only knows the old port of its proxy: without that port it could load nothing. */
async function reopenProxy(guard: Guard, port: number, owners: OwnerHosts): Promise<GuardProxy | undefined> {
  try {
    return await guard.openProxy({ port, isOwners: (authority) => owners.has(authority) });
  } catch (error) {
    if (errnoOf(error) === "EADDRINUSE" || errnoOf(error) === "EACCES") return undefined;
    throw error;
  }
}

async function requireFreePort({ profile: { name, cdpPort = 0, cdpUrl } }: ManagedOptions): Promise<void> {
  if (isSocketUrl(cdpUrl)) return;
  // Children of a browser that just ended may have its port for a moment.
  const deadline = performance.now() + FREE_MS;
  for (let isLast = false; !isLast; isLast = performance.now() > deadline) {
    if (!(await isTaken(cdpPort))) return;
    await sleep(FREE_MS / 20);
  }
  throw browserError("browser.port-in-use", `port ${cdpPort} of browser profile "${name}" is used by another program`, {
    hint: `end that program, or choose another port: openclaw config set browser.profiles.${name}.cdpPort <port>`,
  });
}

function isTaken(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host: "127.0.0.1", port, timeout: CONNECT_MS });
    const finish = (taken: boolean): void => {
      socket.destroy();
      resolve(taken);
    };
    socket.once("connect", () => finish(true));
    socket.once("timeout", () => finish(true));
    socket.once("error", () => finish(false));
  });
}

/** The lock stays with the browser; without one it is released. */
async function withLock<T extends ManagedBrowser | undefined>(
  folder: string,
  work: (lock: Lock) => Promise<T>,
): Promise<T> {
  const lock = lockFolder(folder);
  let opened: T | undefined;
  try {
    return (opened = await work(lock));
  } finally {
    if (opened === undefined) lock.release();
  }
}

function lockFolder(folder: string): Lock {
  try {
    return acquireLock(join(folder, "browser.lock"));
  } catch (cause) {
    if (!(cause instanceof OpenClawError) || cause.code !== "lock.held") throw cause;
    throw browserError("browser.in-use", "another OpenClaw process on this machine uses this browser profile", {
      hint: "use another profile, or stop that process (a node host and a gateway with the same state directory)",
      details: cause.details,
      cause,
    });
  }
}
