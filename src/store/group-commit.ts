// Group commit: writes asked for in the same turn of the event loop share one transaction and one flush.
import { HouseError } from "../core/error.ts";
import type { Connection } from "./connection.ts";
import { isLossOfTrust } from "./failure.ts";
import type { Steps } from "./sql.ts";

// Bounds how long one transaction may hold the event loop; the rest goes into the next turn's.
const MAX_WRITES_PER_COMMIT = 256;
// Callers that ask for a few writes in one breath count on one commit for all of them: the cut is made before those.
const MAX_TOGETHER = 64;

export interface GroupCommit {
  /** Resolves after the commit. A failing write rejects only its own caller. */
  write<T>(steps: () => Steps<T>, options: { readonly durable: boolean }): Promise<T>;
  /** Commits all that is waiting, now. Throws when the store no longer acknowledges anything. */
  flush(): void;
  /** Flushes, then refuses all that comes later. */
  end(): void;
}

interface Write {
  readonly steps: () => Steps<unknown>;
  readonly durable: boolean;
  /** Writes of one number were asked for without anything else running in between. */
  readonly breath: number;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

type Settle = () => void;

export function createGroupCommit(connection: Connection): GroupCommit {
  const waiting: Write[] = [];
  let isScheduled = false;
  let breath = 0;
  let inBreath = false;
  let refusal: unknown;
  let flushesEach: boolean | undefined;

  function schedule(): void {
    if (isScheduled) return;
    isScheduled = true;
    setImmediate(() => {
      isScheduled = false;
      commitSome();
      if (waiting.length > 0) schedule();
    });
  }

  function commitSome(): void {
    const batch = waiting.splice(0, cutOf(waiting));
    if (batch.length > 0) commit(batch);
  }

  function breathNow(): number {
    if (inBreath) return breath;
    inBreath = true;
    queueMicrotask(() => {
      inBreath = false;
    });
    return ++breath;
  }

  function commit(batch: readonly Write[]): void {
    if (refusal !== undefined) return rejectAll(batch, refusal);
    try {
      setFlushing(batch.some((write) => write.durable));
      connection.control("BEGIN IMMEDIATE");
    } catch (error) {
      return rejectAll(batch, error);
    }
    let settles: Settle[];
    try {
      // A write alone needs no savepoint: taking the transaction back takes back no one else.
      settles = batch.length === 1 ? batch.map((write) => perform(write)) : batch.map((write) => attempt(write));
      connection.control("COMMIT");
    } catch (error) {
      return takeBack(batch, error);
    }
    for (const settle of settles) settle();
  }

  function attempt(write: Write): Settle {
    connection.control("SAVEPOINT one");
    try {
      const settle = perform(write);
      connection.control("RELEASE one");
      return settle;
    } catch (error) {
      // A full disk or an I/O error can make SQLite drop the whole transaction on its own.
      if (!connection.inTransaction()) throw error;
      connection.control("ROLLBACK TO one");
      connection.control("RELEASE one");
      return () => write.reject(error);
    }
  }

  function perform(write: Write): Settle {
    const value = connection.run(write.steps());
    return () => write.resolve(value);
  }

  function takeBack(batch: readonly Write[], error: unknown): void {
    const failure = rollBack(error);
    if (isLossOfTrust(failure)) refusal = failure;
    // One write too big for the disk must not take its neighbours with it: each gets a transaction of its own.
    if (batch.length > 1 && refusal === undefined) return batch.forEach((write) => commit([write]));
    rejectAll(batch, failure);
  }

  function rollBack(error: unknown): unknown {
    if (!connection.inTransaction()) return error;
    try {
      connection.control("ROLLBACK");
      return error;
    } catch (later) {
      refusal = later;
      return later;
    }
  }

  // The pragma takes effect between transactions only, and costs a little, so it is touched only when it changes.
  function setFlushing(each: boolean): void {
    if (flushesEach === each) return;
    connection.exec(each ? "PRAGMA synchronous = FULL" : "PRAGMA synchronous = NORMAL");
    flushesEach = each;
  }

  function flush(): void {
    while (waiting.length > 0) commitSome();
    if (refusal !== undefined) throw refusal;
  }

  return {
    write: <T>(steps: () => Steps<T>, { durable }: { readonly durable: boolean }) =>
      new Promise<T>((resolve, reject) => {
        if (refusal !== undefined) return reject(refusal);
        waiting.push({ steps, durable, breath: breathNow(), resolve: resolve as (value: unknown) => void, reject });
        schedule();
      }),
    flush,
    end() {
      while (waiting.length > 0) commitSome();
      refusal ??= new HouseError("store.closed", `the store ${connection.file} is closed`);
    },
  };
}

/** How many go into the next commit: as many as it takes, without cutting a few that belong together. */
function cutOf(waiting: readonly Write[]): number {
  const next = waiting[MAX_WRITES_PER_COMMIT];
  if (next === undefined) return waiting.length;
  const start = waiting.findIndex(({ breath }) => breath === next.breath);
  return start >= MAX_WRITES_PER_COMMIT - MAX_TOGETHER ? start : MAX_WRITES_PER_COMMIT;
}

function rejectAll(batch: readonly Write[], error: unknown): void {
  for (const write of batch) write.reject(error);
}
