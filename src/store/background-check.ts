// Checks the store while the gateway runs: after an unclean shutdown and once a day, in a separate process.
import { execFile, type ChildProcess } from "node:child_process";
import { existsSync } from "node:fs";
import { setPriority } from "node:os";
import { fileURLToPath } from "node:url";

import { OpenClawError } from "../core/error.ts";
import type { Clock } from "../base/clock.ts";
import { DAY_MS } from "../base/duration.ts";
import type { Log } from "../base/log.ts";
import { NO_DEBUGGER } from "../base/no-debugger.ts";
import { spaceProblem } from "./leftovers.ts";
import { readStoreRecord, writeStoreRecord, type StoreFound, type StoreRecord } from "./store-record.ts";
import type { StoreReport } from "./verify.ts";

export interface StoreChecks {
  /** The problem of the store, for health and the page. */
  problem(): string | undefined;
  close(): void;
}

interface ChecksDeps {
  readonly storeFile: string;
  readonly clock: Clock;
  readonly log: Log;
  /** The state of the file before it was opened. */
  readonly before: { readonly found: StoreFound; readonly hasLog: boolean };
  /** `OPENCLAW_STORE_CHECK_MS`: delay of the first check after the start. */
  readonly delayMs?: number;
}

const DELAY_MS = 60_000;
const LOWEST_PRIORITY = 19;
const HINT = "restore a backup (openclaw store restore <file>), or save what is readable: openclaw store salvage";

export function openStoreChecks({ storeFile, clock, log, before, delayMs = DELAY_MS }: ChecksDeps): StoreChecks {
  let record = recordOfStart(storeFile, clock.now(), before, log);
  let child: ChildProcess | undefined;
  const keep = (next: StoreRecord): void => {
    record = next;
    try {
      writeStoreRecord(storeFile, next);
    } catch (error) {
      if (!(error instanceof OpenClawError)) throw error;
      log.debug("the record of the store could not be written", { error });
    }
  };
  keep(record);
  const room = spaceProblem(storeFile);
  if (room !== undefined)
    log.warn(`${room.message}; stored data can be read, new messages are rejected until there is space`, {
      hint: room.hint,
    });
  const check = (): void => {
    if (child !== undefined) return;
    child = verifyApart(storeFile, (report) => {
      child = undefined;
      if (report === undefined) return log.warn("the store could not be checked; the next check is in one day");
      const failed = report.checks.find(({ ok }) => !ok);
      const records = Object.values(report.counts).reduce((sum, count) => sum + count, 0);
      const problem = failed === undefined ? {} : { problem: `${failed.name}: ${failed.detail}`.slice(0, 500) };
      keep({ ...record, check: { at: clock.now(), ok: report.ok, records, ...problem } });
      if (failed === undefined) return log.debug("the store passed its check", { records });
      log.error(`the store is damaged: ${failed.name}: ${failed.detail}`, { hint: HINT });
    });
  };
  // A store that was closed properly and checked recently is not checked again at every start.
  const age = clock.now() - (record.check?.at ?? -Infinity);
  const first = before.hasLog || age >= DAY_MS ? delayMs : DAY_MS - age;
  let timer = setTimeout(function again() {
    check();
    timer = setTimeout(again, DAY_MS).unref();
  }, first).unref();
  return {
    problem() {
      if (record.check?.ok === false) return `the store is damaged: ${record.check.problem ?? "unknown"}`;
      const { message, hint } = spaceProblem(storeFile) ?? {};
      return message === undefined ? undefined : `${message}; messages wait until there is space. ${hint}`;
    },
    close() {
      clearTimeout(timer);
      child?.kill("SIGKILL");
    },
  };
}

function recordOfStart(storeFile: string, now: number, { found }: ChecksDeps["before"], log: Log): StoreRecord {
  const known = readStoreRecord(storeFile);
  if (found === "there" || (found === "missing" && known === undefined)) return known ?? { firstSeenAt: now };
  const since = known === undefined ? "" : `, although one existed since ${new Date(known.firstSeenAt).toISOString()}`;
  const records = known?.check === undefined ? "" : `, with ${known.check.records} records at its last check`;
  log.error(
    `the store ${storeFile} was ${found === "empty" ? "empty" : "missing"}${since}${records}; a new one was created`,
    {
      hint: "if this is unexpected: stop the gateway and put a backup in its place with: openclaw store restore <file>",
    },
  );
  return { firstSeenAt: now, lostAt: now };
}

/** Undefined when the process ended without a report. */
function verifyApart(
  storeFile: string,
  done: (report: Pick<StoreReport, "ok" | "checks" | "counts"> | undefined) => void,
): ChildProcess {
  const options = { env: {}, maxBuffer: 16_000_000, windowsHide: true } as const;
  const child = execFile(
    process.execPath,
    ["--no-warnings", NO_DEBUGGER, workerFile(), storeFile],
    options,
    (_error, output) => {
      try {
        done(JSON.parse(output) as StoreReport);
      } catch (error) {
        if (!(error instanceof SyntaxError)) throw error;
        done(undefined);
      }
    },
  );
  child.unref();
  try {
    if (child.pid !== undefined) setPriority(child.pid, LOWEST_PRIORITY);
  } catch (error) {
    // Some systems do not allow this; then it runs at normal priority.
    if (!(error instanceof Error)) throw error;
  }
  return child;
}

/** A file of the bundle, or the source file when run from source. */
function workerFile(): string {
  const [bundled = "", source = ""] = ["./store-check.js", "./check-worker.ts"].map((name) =>
    fileURLToPath(new URL(name, import.meta.url)),
  );
  return existsSync(bundled) ? bundled : source;
}
