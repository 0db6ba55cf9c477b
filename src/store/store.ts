// The contract of the store. Every driver must pass store.cases.ts.
import type { AgentId, SessionKey } from "../core/names.ts";
import type { CallOutcome, JournalEntry } from "../protocol/methods/tools.ts";
import type { WriteOptions } from "./sql.ts";

export type { CallOutcome, JournalEntry };

/**
 * Every write resolves only when it would survive `kill -9`; writes marked durable also survive a power failure. Writes
 * of one table are applied in the order of the calls. A full or read-only disk rejects with OpenClawError `store.full`
 * / `store.read-only` and keeps the stored data; after a failed flush of the disk every later write rejects with
 * `store.io` until the store is opened again. A failed write rejects only its own caller, or all callers of its unit
 * (`together`).
 */
export interface Store {
  readonly sessions: SessionTable;
  readonly transcript: TranscriptTable;
  readonly inbox: InboxTable;
  readonly runs: RunTable;
  readonly children: ChildTable;
  readonly devices: DeviceTable;
  readonly dedupe: DedupeTable;
  readonly kv: KvTable;
  readonly journal: JournalTable;
  readonly jobs: JobTable;
  readonly slots: SlotTable;
  /**
   * One unit: all writes that `ask` starts (synchronously, before its first await) are stored together or not at all,
   * also on a full disk and over a crash. When one of them fails, all of them reject with its error.
   */
  together<T>(ask: () => T): T;
  /** Resolves when all earlier writes are committed. */
  settle(): Promise<void>;
  close(): Promise<void>;
}

export interface SessionRecord {
  readonly key: SessionKey;
  readonly agentId: AgentId;
  readonly sessionId: string;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly label?: string;
  readonly spawnedBy?: SessionKey;
  /** The rest of the recorded entry (levels, overrides, tokens, delivery). */
  readonly entry: Readonly<Record<string, unknown>>;
}

export interface SessionQuery {
  readonly agentId?: AgentId;
  readonly label?: string;
  readonly spawnedBy?: SessionKey;
  readonly activeSince?: number;
  /** Substring of key, label or session id, without case. */
  readonly search?: string;
  /** The kind of the key, independent of `session.mainKey`: a main session counts as `other` here. */
  readonly keyKind?: "group" | "cron" | "hook" | "node" | "other";
  readonly limit?: number;
  /** The last record of the previous page. */
  readonly before?: Pick<SessionRecord, "updatedAt" | "key">;
}

export interface SessionTable {
  get(key: SessionKey): Promise<SessionRecord | undefined>;
  byId(sessionId: string): Promise<SessionRecord | undefined>;
  /** Newest first, then by key. A damaged record is reported by name and skipped. */
  list(query: SessionQuery): Promise<SessionRecord[]>;
  count(agentId?: AgentId): Promise<number>;
  /** Creates or replaces, durably. */
  put(record: SessionRecord): Promise<void>;
  /** Reads and writes in one transaction; `change` must be pure. Undefined from `change` leaves the row as it is. */
  update(
    key: SessionKey,
    change: (current: SessionRecord | undefined) => SessionRecord | undefined,
  ): Promise<SessionRecord | undefined>;
  /** False when there was none. Deletes its transcript only on request. */
  delete(key: SessionKey, options: { readonly transcript: boolean }): Promise<boolean>;
}

/** One entry of a transcript as recorded: message, model_change, compaction, custom … */
export interface TranscriptEntry {
  readonly id: string;
  readonly type: string;
  readonly at: number;
  readonly body: unknown;
}

export interface StoredEntry extends TranscriptEntry {
  /** Consecutive from 1 within the session. */
  readonly seq: number;
}

export interface TranscriptTable {
  /** Durable. Returns the seq of the last entry. Stores all entries of one call or none. */
  append(sessionId: string, entries: readonly TranscriptEntry[]): Promise<number>;
  /**
   * The last `limit` entries with seq below `before`, oldest first. Never reads more than it returns. An unreadable
   * entry is replaced by one of type `damaged` with the reason in its body.
   */
  tail(sessionId: string, limit: number, before?: number): Promise<StoredEntry[]>;
  count(sessionId: string): Promise<number>;
}

export type InboxState = "pending" | "claimed" | "done" | "failed";

export interface InboxEntry {
  readonly id: string;
  readonly sessionKey: SessionKey;
  readonly runId: string;
  readonly at: number;
  readonly state: InboxState;
  readonly body: unknown;
  readonly result?: unknown;
}

export interface InboxTable {
  /** Durable. Posting an id again changes nothing and returns the stored entry. */
  post(entry: Pick<InboxEntry, "id" | "sessionKey" | "runId" | "at" | "body">): Promise<InboxEntry>;
  /** Claims and returns the pending entries of a session in the order they were posted. */
  claim(sessionKey: SessionKey, limit: number): Promise<InboxEntry[]>;
  /** Durable. The first result counts, later ones change nothing; rejects with `store.not-found` for an unknown id. */
  finish(id: string, state: "done" | "failed", result: unknown): Promise<void>;
  /** Makes entries that a dead process had claimed pending again; returns how many. Called once at start. */
  reclaim(): Promise<number>;
  get(id: string): Promise<InboxEntry | undefined>;
  /** Sessions with pending entries, the longest waiting first. */
  waiting(): Promise<SessionKey[]>;
  /** Drops finished entries that were posted before `before`; returns how many. Their ids can then be posted again. */
  prune(before: number): Promise<number>;
}

export type RunState = "running" | "ok" | "error" | "aborted" | "unknown";

export interface RunRecord {
  readonly id: string;
  readonly sessionKey: SessionKey;
  readonly state: RunState;
  readonly startedAt: number;
  readonly endedAt?: number;
  readonly body: unknown;
}

export interface RunTable {
  /** Creates or replaces, durably. */
  put(run: RunRecord): Promise<void>;
  get(id: string): Promise<RunRecord | undefined>;
  /** Runs still marked running: after a start, those that a dead process left. */
  open(): Promise<RunRecord[]>;
  /** Drops runs that ended before `before`; returns how many. */
  prune(before: number): Promise<number>;
}

/** `running` until it ends; `announcing` while the result is delivered; `told` when only archiving is left. */
export type ChildState = "running" | "ended" | "announcing" | "told";
export type ChildStatus = "ok" | "error" | "timeout" | "killed" | "unknown";

/** One subagent: its first run, its session and its requester. */
export interface ChildRecord {
  readonly runId: string;
  readonly childKey: SessionKey;
  readonly requesterKey: SessionKey;
  readonly state: ChildState;
  /** Its outcome; set once. */
  readonly status?: ChildStatus;
  readonly createdAt: number;
  readonly endedAt?: number;
  /** When its session is archived; absent when it is archived already, or never will be. */
  readonly archiveAt?: number;
  readonly body: unknown;
}

export interface ChildTable {
  /** Durable; rejects an existing run id. */
  add(child: ChildRecord): Promise<void>;
  get(runId: string): Promise<ChildRecord | undefined>;
  /** Reads and writes in one transaction, durably; `change` must be pure. Undefined when there was no change. */
  update(runId: string, change: (current: ChildRecord) => ChildRecord | undefined): Promise<ChildRecord | undefined>;
  /** Newest first. */
  ofRequester(key: SessionKey, limit: number): Promise<ChildRecord[]>;
  /** Number of running subagents of a requester. */
  running(key: SessionKey): Promise<number>;
  /** The running ones, oldest first. */
  runningOf(key: SessionKey): Promise<ChildRecord[]>;
  /** All with an undelivered result, oldest first: after a start, those that a dead process left. */
  open(): Promise<ChildRecord[]>;
  /** Those to be archived at `now`, the longest waiting first. */
  due(now: number, limit: number): Promise<ChildRecord[]>;
  nextDue(): Promise<number | undefined>;
  /** Drops those that are delivered and archived and ended before `before`; returns how many. */
  prune(before: number): Promise<number>;
}

export interface DeviceTable {
  get(deviceId: string): Promise<unknown>;
  list(): Promise<unknown[]>;
  /** Durable. */
  put(deviceId: string, record: unknown): Promise<void>;
  delete(deviceId: string): Promise<boolean>;
  /** Requests return their `body`. */
  pending: {
    get(requestId: string): Promise<unknown>;
    /** The newest of that device. */
    byDevice(deviceId: string): Promise<unknown>;
    /** Without requests that are expired at `now`. */
    list(now: number): Promise<unknown[]>;
    put(request: { requestId: string; deviceId: string; expiresAt: number; body: unknown }): Promise<void>;
    delete(requestId: string): Promise<boolean>;
    /** Drops requests that are expired at `now`; returns how many. */
    prune(now: number): Promise<number>;
  };
}

export interface DedupeTable {
  /** The first caller of a key gets `fresh`; later ones get the settled result. Durable. */
  claim(scope: string, key: string, expiresAt: number): Promise<{ fresh: true } | { fresh: false; result: unknown }>;
  /**
   * Durable. The last result counts; a key that was never claimed or is pruned stays unknown. `also` is written in the
   * same transaction.
   */
  settle(scope: string, key: string, result: unknown, also?: KvWrite): Promise<void>;
  /** Drops keys that expired before `now`; returns how many. */
  prune(now: number): Promise<number>;
}

/** `undefined` deletes. */
export interface KvWrite {
  readonly space: string;
  readonly key: string;
  readonly value: unknown;
}

export interface KvTable {
  get(space: string, key: string): Promise<unknown>;
  /** Durable; `undefined` deletes. */
  set(space: string, key: string, value: unknown): Promise<void>;
  /** Durable; all or none. */
  setAll(writes: readonly KvWrite[]): Promise<void>;
  /** By key; with `within`, only keys from `from` (inclusive) to `below` (exclusive). */
  list(
    space: string,
    within?: { readonly from: string; readonly below: string },
  ): Promise<{ key: string; value: unknown }[]>;
}

/**
 * Rows of this space belong to a session and are deleted with its transcript; their keys start with the session's key
 * and this separator.
 */
export const SESSION_USAGE = "usage.session-part";
export const SESSION_USAGE_SEPARATOR = "\u001f";

export interface JournalQuery {
  readonly sessionKey?: string;
  readonly tool?: string;
  readonly outcome?: CallOutcome;
  readonly limit?: number;
}

export interface JournalTable {
  /** Creates or replaces by id. `durable` before an effect; the entry of a call that only read may join the next write. */
  record(entry: JournalEntry, options: WriteOptions): Promise<void>;
  /** Newest first, by the time of the first record. */
  list(query: JournalQuery): Promise<JournalEntry[]>;
  /** Marks calls that a dead process left as started as unknown; returns how many. Called once at start. */
  closeOpenEntries(): Promise<number>;
  /** Keeps the newest `keep` rows. */
  prune(keep: number): Promise<number>;
}

/** A scheduled job. The scheduler defines the content of its body and state. */
export interface JobRecord {
  readonly id: string;
  /** Next due time; absent for a job without a next run. */
  readonly nextAt?: number;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly body: unknown;
  readonly state: unknown;
}

export type SlotState = "running" | "ran" | "failed" | "skipped" | "missed" | "unknown";

/** One due time of a job and its outcome. `slot` is unique within its job. */
export interface SlotRecord {
  readonly jobId: string;
  readonly slot: string;
  readonly at: number;
  readonly state: SlotState;
  readonly why?: string;
  readonly startedAt?: number;
  readonly endedAt?: number;
  readonly runId?: string;
  readonly sessionKey?: string;
  readonly sessionId?: string;
  readonly error?: string;
  readonly summary?: string;
  /** Number of missed slots that this row represents, when it represents several. */
  readonly missed?: number;
}

export type SlotEnd = Pick<SlotRecord, "state"> &
  Partial<Pick<SlotRecord, "why" | "endedAt" | "sessionId" | "error" | "summary">>;

export interface JobTable {
  get(id: string): Promise<JobRecord | undefined>;
  /** All, in the order of creation. */
  list(): Promise<JobRecord[]>;
  count(): Promise<number>;
  /** Creates or replaces, durably. */
  put(job: JobRecord): Promise<void>;
  /** Reads and writes in one transaction; `change` must be pure. Undefined from `change` leaves the row as it is. */
  update(id: string, change: (current: JobRecord) => JobRecord | undefined): Promise<JobRecord | undefined>;
  /** False when there was none. The rows of its slots are kept. */
  delete(id: string): Promise<boolean>;
  /** For the start: the next due time, and whether runs were left open. */
  outlook(): Promise<{ readonly nextAt?: number; readonly running: number }>;
  /** Due at `now`, the longest waiting first. */
  due(now: number, limit: number): Promise<JobRecord[]>;
  /**
   * Durable, one transaction: passes the current job to `decide` (pure) and writes its new state and the rows together.
   * Resolves with the rows that are new; only those may be started.
   */
  claim(
    id: string,
    decide: (job: JobRecord) => { readonly job: JobRecord; readonly rows: readonly SlotRecord[] } | undefined,
  ): Promise<readonly SlotRecord[]>;
  /** Durable, one transaction: ends a running row and updates or deletes its job. False when the row had ended before. */
  finish(
    key: Pick<SlotRecord, "jobId" | "slot">,
    end: SlotEnd,
    move: (job: JobRecord) => JobRecord | "delete" | undefined,
  ): Promise<boolean>;
}

export interface SlotTable {
  get(jobId: string, slot: string): Promise<SlotRecord | undefined>;
  /** The newest `limit` rows after skipping `skip`, oldest first. */
  list(jobId: string, limit: number, skip?: number): Promise<SlotRecord[]>;
  /** Rows still marked running: after a start, those that a dead process left. */
  running(): Promise<SlotRecord[]>;
  /**
   * Durable, in one transaction with `also`: the progress of a running row. False, without a write, when it had ended.
   */
  note(key: Pick<SlotRecord, "jobId" | "slot">, summary: string, also?: KvWrite): Promise<boolean>;
  /** The latest time of any slot. */
  latest(): Promise<number | undefined>;
  /** Keeps the newest `keep` rows of a job, and running ones. Returns how many were dropped. */
  prune(jobId: string, keep: number): Promise<number>;
  /** Drops rows older than `before` whose job is gone; returns how many. */
  pruneGone(before: number): Promise<number>;
}
