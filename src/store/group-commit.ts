// Group commit: writes asked for in the same turn of the event loop share one transaction and one flush; the writes of one
// unit are stored all together or not at all, whatever happens to the transaction.
import { OpenClawError } from "../core/error.ts";
import type { Connection } from "./connection.ts";
import { isLossOfTrust } from "./failure.ts";
import type { Steps } from "./sql.ts";

// Bounds how long one transaction may hold the event loop; the rest goes into the next turn's.
const MAX_WRITES_PER_COMMIT = 256;

export interface GroupCommit {
  /** Resolves after the commit. A failing write rejects only the callers of its unit; outside `together` it is a unit of its own. */
  write<T>(steps: () => Steps<T>, options: { readonly durable: boolean }): Promise<T>;
  /** All writes asked for while `ask` runs, synchronously, are one unit. Inside another unit they belong to that one. */
  together<T>(ask: () => T): T;
  /** Commits all that is waiting, now. Throws when the store no longer acknowledges anything. */
  flush(): void;
  /** Flushes, then refuses all that comes later. */
  end(): void;
}

interface Write {
  readonly steps: () => Steps<unknown>;
  readonly durable: boolean;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/** Never empty. */
type Unit = Write[];
type Settle = () => void;

export function createGroupCommit(connection: Connection): GroupCommit {
  const waiting: Unit[] = [];
  let isScheduled = false;
  /** The unit that `together` is gathering; its first write puts it into the queue. */
  let gathering: Unit | undefined;
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

  function enqueue(write: Write): void {
    if (gathering === undefined) waiting.push([write]);
    else if (gathering.push(write) === 1) waiting.push(gathering);
    schedule();
  }

  function commit(batch: readonly Unit[]): void {
    if (refusal !== undefined) return rejectAll(batch, refusal);
    try {
      setFlushing(batch.some((unit) => unit.some(({ durable }) => durable)));
      connection.control("BEGIN IMMEDIATE");
    } catch (error) {
      return rejectAll(batch, error);
    }
    let settles: Settle[];
    try {
      // A unit alone needs no savepoint: taking the transaction back takes back no one else.
      settles = batch.length === 1 ? batch.flatMap((unit) => perform(unit)) : batch.flatMap((unit) => attempt(unit));
      connection.control("COMMIT");
    } catch (error) {
      return takeBack(batch, error);
    }
    for (const settle of settles) settle();
  }

  function attempt(unit: Unit): Settle[] {
    connection.control("SAVEPOINT one");
    try {
      const settles = perform(unit);
      connection.control("RELEASE one");
      return settles;
    } catch (error) {
      // A full disk or an I/O error can make SQLite drop the whole transaction on its own.
      if (!connection.inTransaction()) throw error;
      connection.control("ROLLBACK TO one");
      connection.control("RELEASE one");
      return [() => rejectAll([unit], error)];
    }
  }

  function perform(unit: Unit): Settle[] {
    return unit.map(({ steps, resolve }) => {
      const value = connection.run(steps());
      return () => resolve(value);
    });
  }

  function takeBack(batch: readonly Unit[], error: unknown): void {
    const failure = rollBack(error);
    if (isLossOfTrust(failure)) refusal = failure;
    // One unit too big for the disk must not take its neighbors with it: each gets a transaction of its own.
    if (batch.length > 1 && refusal === undefined) return batch.forEach((unit) => commit([unit]));
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

  function together<T>(ask: () => T): T {
    if (gathering !== undefined) return ask();
    gathering = [];
    try {
      return ask();
    } finally {
      gathering = undefined;
    }
  }

  return {
    write: <T>(steps: () => Steps<T>, { durable }: { readonly durable: boolean }) =>
      new Promise<T>((resolve, reject) => {
        if (refusal !== undefined) return reject(refusal);
        enqueue({ steps, durable, resolve: resolve as (value: unknown) => void, reject });
      }),
    together,
    flush,
    end() {
      while (waiting.length > 0) commitSome();
      refusal ??= new OpenClawError("store.closed", `the store ${connection.file} is closed`);
    },
  };
}

/** How many units go into the next commit: as many as it takes, never a part of one. */
function cutOf(waiting: readonly Unit[]): number {
  let writes = 0;
  const over = waiting.findIndex((unit) => (writes += unit.length) > MAX_WRITES_PER_COMMIT);
  return over === -1 ? waiting.length : Math.max(1, over);
}

function rejectAll(batch: readonly Unit[], error: unknown): void {
  for (const unit of batch) for (const write of unit) write.reject(error);
}
