// Group commit: writes asked for in the same turn of the event loop, or during a flush, share one transaction and one
// flush; the writes of one unit are stored all together or not at all, whatever happens to the transaction.
import { OpenClawError } from "../core/error.ts";
import type { Connection } from "./connection.ts";
import { flushFailed, isLossOfTrust } from "./failure.ts";
import type { Steps, WriteOptions } from "./sql.ts";

// Bounds how long one transaction may hold the event loop; the rest goes into the next turn's.
const MAX_WRITES_PER_COMMIT = 256;
const JOIN_MS = 100;

export interface GroupCommit {
  /** Resolves after the commit. A failing write rejects only the callers of its unit; outside `together` it is a unit of its own. */
  write<T>(steps: () => Steps<T>, options: WriteOptions): Promise<T>;
  /** All writes asked for while `ask` runs, synchronously, are one unit. Inside another unit they belong to that one. */
  together<T>(ask: () => T): T;
  /** Pending while a commit is not yet flushed, so that a power cut could lose it; never rejects. */
  flushing(): Promise<void> | undefined;
  /** Commits all that is waiting now. Rejects when the store no longer acknowledges anything. */
  flush(): Promise<void>;
  /** Refuses all that comes later and commits what is waiting. */
  end(): Promise<void>;
}

interface Write {
  readonly steps: () => Steps<unknown>;
  readonly durable: boolean;
  readonly joinsNext: boolean;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/** Never empty. */
type Unit = Write[];
/** Tells the callers; `lost` is why what was committed may not outlive a power cut. */
type Settle = (lost?: unknown) => void;

/** `flushLog` makes everything committed so far survive a power cut, without holding the event loop. */
export function createGroupCommit(connection: Connection, flushLog: () => Promise<void>): GroupCommit {
  return new CommitQueue(new UnitCommitter(connection), flushLog);
}

/** Collects units and commits them together, one transaction and one flush after another. */
class CommitQueue implements GroupCommit {
  readonly #committer: UnitCommitter;
  readonly #flushLog: () => Promise<void>;
  readonly #waiting: Unit[] = [];
  /** The unit that `together` is gathering; its first write puts it into the queue. */
  #gathering: Unit | undefined;
  #isScheduled = false;
  /** Set while all that waits may join a later commit. */
  #joinTimer: NodeJS.Timeout | undefined;
  #isEnding = false;
  #flushing: Promise<void> | undefined;

  constructor(committer: UnitCommitter, flushLog: () => Promise<void>) {
    this.#committer = committer;
    this.#flushLog = flushLog;
  }

  write<T>(steps: () => Steps<T>, { durable, joinsNext = false }: WriteOptions): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const { refusal, file } = this.#committer;
      if (refusal !== undefined || this.#isEnding) return reject(refusal ?? closed(file));
      this.#enqueue({ steps, durable, joinsNext, resolve: resolve as (value: unknown) => void, reject });
    });
  }

  together<T>(ask: () => T): T {
    if (this.#gathering !== undefined) return ask();
    this.#gathering = [];
    try {
      return ask();
    } finally {
      this.#gathering = undefined;
    }
  }

  flushing(): Promise<void> | undefined {
    return this.#flushing;
  }

  async flush(): Promise<void> {
    // Only writes requested before this call; later ones are not waited for.
    const last = this.#waiting.at(-1);
    do {
      this.#commitSome();
      await this.#flushing;
    } while (last !== undefined && this.#waiting.includes(last));
    if (this.#committer.refusal !== undefined) throw this.#committer.refusal;
  }

  async end(): Promise<void> {
    this.#isEnding = true;
    while (this.#waiting.length > 0 || this.#flushing !== undefined) {
      this.#commitSome();
      await this.#flushing;
    }
  }

  #enqueue(write: Write): void {
    if (this.#gathering === undefined) this.#waiting.push([write]);
    else if (this.#gathering.push(write) === 1) this.#waiting.push(this.#gathering);
    if (write.joinsNext && !this.#isScheduled) this.#joinTimer ??= setTimeout(() => this.#schedule(), JOIN_MS);
    else this.#schedule();
  }

  #schedule(): void {
    if (this.#isScheduled || this.#flushing !== undefined || this.#waiting.length === 0) return;
    this.#isScheduled = true;
    this.#stopJoinTimer();
    setImmediate(() => {
      this.#isScheduled = false;
      this.#commitSome();
      this.#schedule();
    });
  }

  #stopJoinTimer(): void {
    clearTimeout(this.#joinTimer);
    this.#joinTimer = undefined;
  }

  #commitSome(): void {
    if (this.#flushing !== undefined) return;
    this.#stopJoinTimer();
    const batch = this.#waiting.splice(0, cutOf(this.#waiting));
    if (batch.length === 0) return;
    const settles = this.#committer.commit(batch);
    const { refusal } = this.#committer;
    if (refusal === undefined && batch.some((unit) => unit.some(({ durable }) => durable))) this.#flushThen(settles);
    else for (const settle of settles) settle(refusal);
  }

  #flushThen(settles: readonly Settle[]): void {
    this.#flushing = this.#flushLog()
      .catch((cause: unknown) => this.#committer.refuse(flushFailed(this.#committer.file, cause)))
      .then(() => {
        this.#flushing = undefined;
        for (const settle of settles) settle(this.#committer.refusal);
        this.#schedule();
      });
  }
}

/** Runs units in one transaction; a unit that fails takes no other with it. */
class UnitCommitter {
  readonly #connection: Connection;
  #refusal: unknown;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  get file(): string {
    return this.#connection.file;
  }

  /** Why nothing is committed any more: what was acknowledged may be lost. */
  get refusal(): unknown {
    return this.#refusal;
  }

  refuse(reason: unknown): void {
    this.#refusal = reason;
  }

  commit(batch: readonly Unit[]): Settle[] {
    if (this.#refusal !== undefined) return rejections(batch, this.#refusal);
    try {
      this.#connection.control("BEGIN IMMEDIATE");
    } catch (error) {
      return rejections(batch, error);
    }
    try {
      // A unit alone needs no savepoint: rolling back the transaction affects no other unit.
      const settles = batch.flatMap((unit) => (batch.length === 1 ? this.#perform(unit) : this.#attempt(unit)));
      this.#connection.control("COMMIT");
      return settles;
    } catch (error) {
      return this.#undoBatch(batch, error);
    }
  }

  #attempt(unit: Unit): Settle[] {
    this.#connection.control("SAVEPOINT one");
    try {
      const settles = this.#perform(unit);
      this.#connection.control("RELEASE one");
      return settles;
    } catch (error) {
      // A full disk or an I/O error can make SQLite drop the whole transaction on its own.
      if (!this.#connection.inTransaction()) throw error;
      this.#connection.control("ROLLBACK TO one");
      this.#connection.control("RELEASE one");
      return rejections([unit], error);
    }
  }

  #perform(unit: Unit): Settle[] {
    return unit.map(({ steps, resolve, reject }) => {
      const value = this.#connection.run(steps());
      return (lost) => (lost === undefined ? resolve(value) : reject(lost));
    });
  }

  #undoBatch(batch: readonly Unit[], error: unknown): Settle[] {
    const failure = this.#rollBack(error);
    if (isLossOfTrust(failure)) this.#refusal = failure;
    // One unit too big for the disk must not take its neighbors with it: each gets a transaction of its own.
    if (batch.length > 1 && this.#refusal === undefined) return batch.flatMap((unit) => this.commit([unit]));
    return rejections(batch, failure);
  }

  #rollBack(error: unknown): unknown {
    if (!this.#connection.inTransaction()) return error;
    try {
      this.#connection.control("ROLLBACK");
      return error;
    } catch (later) {
      this.#refusal = later;
      return later;
    }
  }
}

/** How many units go into the next commit: as many as it takes, never a part of one. */
function cutOf(waiting: readonly Unit[]): number {
  let writes = 0;
  const over = waiting.findIndex((unit) => (writes += unit.length) > MAX_WRITES_PER_COMMIT);
  return over === -1 ? waiting.length : Math.max(1, over);
}

const rejections = (batch: readonly Unit[], error: unknown): Settle[] =>
  batch.flat().map(
    ({ reject }) =>
      () =>
        reject(error),
  );

export const closed = (file: string): OpenClawError => new OpenClawError("store.closed", `the store ${file} is closed`);
