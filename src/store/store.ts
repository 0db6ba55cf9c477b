// The contract of the store. Every driver must pass store.cases.ts.
import type { AgentId, SessionKey } from "../core/names.ts";
import type { CallOutcome, JournalEntry } from "../protocol/methods/tools.ts";

export type { CallOutcome, JournalEntry };

/**
 * Every write resolves only when it would survive `kill -9`; writes marked durable also survive a power cut.
 * Writes of one table are applied in the order they were asked for. A full or read-only disk rejects with
 * OpenClawError `store.full` / `store.read-only` and leaves what was there untouched; after a failed flush of the disk every
 * later write rejects with `store.io` until the store is opened again. A write that fails rejects only its own caller, or
 * all callers of its step (`together`).
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
   * One step: all writes asked for while `ask` runs (synchronously, before its first await) are stored together or not at
   * all, also on a full disk and over a crash. When one of them fails, all of them reject with its error.
   */
  together<T>(ask: () => T): T;
  /** Resolves when everything asked for so far is committed. */
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
  /** The rest of the recorded entry (levels, overrides, tokens, delivery): see gateway §4.2. */
  readonly entry: Readonly<Record<string, unknown>>;
}

export interface SessionQuery {
  readonly agentId?: AgentId;
  readonly label?: string;
  readonly spawnedBy?: SessionKey;
  readonly activeSince?: number;
  /** Substring of key, label or session id, any case. */
  readonly search?: string;
  /** What the key speaks of, whatever `session.mainKey` says: a main session counts as `other` here. */
  readonly keyKind?: "group" | "cron" | "hook" | "node" | "other";
  readonly limit?: number;
  /** The last record of the page before: only what comes after it in the list. */
  readonly before?: Pick<SessionRecord, "updatedAt" | "key">;
}

export interface SessionTable {
  get(key: SessionKey): Promise<SessionRecord | undefined>;
  byId(sessionId: string): Promise<SessionRecord | undefined>;
  /** Newest first, then by key. A damaged record is reported by name and left out. */
  list(query: SessionQuery): Promise<SessionRecord[]>;
  count(agentId?: AgentId): Promise<number>;
  /** Creates or replaces, durably. */
  put(record: SessionRecord): Promise<void>;
  /** Reads and writes in one transaction; `change` must be pure. Undefined from `change` leaves the row as it is. */
  update(
    key: SessionKey,
    change: (current: SessionRecord | undefined) => SessionRecord | undefined,
  ): Promise<SessionRecord | undefined>;
  /** False when there was none. Its transcript goes with it only when asked. */
  delete(key: SessionKey, options: { readonly transcript: boolean }): Promise<boolean>;
}

/** One line of a transcript as recorded: message, model_change, compaction, custom … */
export interface TranscriptEntry {
  readonly id: string;
  readonly type: string;
  readonly at: number;
  readonly body: unknown;
}

export interface StoredEntry extends TranscriptEntry {
  /** Counts from 1 within the session, without holes. */
  readonly seq: number;
}

export interface TranscriptTable {
  /** Durable. Returns the seq of the last entry. Entries of one call are all there or none. */
  append(sessionId: string, entries: readonly TranscriptEntry[]): Promise<number>;
  /**
   * The last `limit` entries with seq below `before`, oldest first. Never reads more than it returns. An entry that
   * cannot be read any more keeps its place as type `damaged`, its body saying why.
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
  /** Durable: the entry exists from here on. Posting an id again changes nothing and returns the stored entry. */
  post(entry: Pick<InboxEntry, "id" | "sessionKey" | "runId" | "at" | "body">): Promise<InboxEntry>;
  /** Claims and returns the pending entries of a session in the order they were posted. */
  claim(sessionKey: SessionKey, limit: number): Promise<InboxEntry[]>;
  /** Durable. The first end counts, later ones change nothing; rejects with `store.not-found` for an unknown id. */
  finish(id: string, state: "done" | "failed", result: unknown): Promise<void>;
  /** Makes entries that a dead process had claimed pending again; returns how many. Called once at start. */
  reclaim(): Promise<number>;
  get(id: string): Promise<InboxEntry | undefined>;
  /** Sessions with pending entries, the longest waiting first. */
  waiting(): Promise<SessionKey[]>;
  /** Drops ended entries that were posted before `before`; returns how many. Their ids can then be posted again. */
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
  /** Runs still marked running: after a start these are what a dead process left behind. */
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
  /** How it ended; set once. */
  readonly status?: ChildStatus;
  readonly createdAt: number;
  readonly endedAt?: number;
  /** When its session is archived; absent when it was, or never is. */
  readonly archiveAt?: number;
  readonly body: unknown;
}

export interface ChildTable {
  /** Durable; rejects for a run id that is there. */
  add(child: ChildRecord): Promise<void>;
  get(runId: string): Promise<ChildRecord | undefined>;
  /** Reads and writes in one transaction, durably; `change` must be pure. Undefined when it was left as it is. */
  update(runId: string, change: (current: ChildRecord) => ChildRecord | undefined): Promise<ChildRecord | undefined>;
  /** Newest first. */
  ofRequester(key: SessionKey, limit: number): Promise<ChildRecord[]>;
  /** How many of a requester are running. */
  running(key: SessionKey): Promise<number>;
  /** The running ones, oldest first. */
  runningOf(key: SessionKey): Promise<ChildRecord[]>;
  /** All whose result is not delivered yet, oldest first: after a start, what a dead process left behind. */
  open(): Promise<ChildRecord[]>;
  /** Those to be archived at `now`, the longest waiting first. */
  due(now: number, limit: number): Promise<ChildRecord[]>;
  nextDue(): Promise<number | undefined>;
  /** Drops those that were delivered and archived and ended before `before`; returns how many. */
  prune(before: number): Promise<number>;
}

export interface DeviceTable {
  get(deviceId: string): Promise<unknown>;
  list(): Promise<unknown[]>;
  /** Durable. */
  put(deviceId: string, record: unknown): Promise<void>;
  delete(deviceId: string): Promise<boolean>;
  /** Requests give back their `body`. */
  pending: {
    get(requestId: string): Promise<unknown>;
    /** The newest of that device. */
    byDevice(deviceId: string): Promise<unknown>;
    /** Without those expired at `now`. */
    list(now: number): Promise<unknown[]>;
    put(request: { requestId: string; deviceId: string; expiresAt: number; body: unknown }): Promise<void>;
    delete(requestId: string): Promise<boolean>;
    /** Drops what expired at `now`; returns how many. */
    prune(now: number): Promise<number>;
  };
}

export interface DedupeTable {
  /** The first caller of a key gets `fresh`; later ones what was settled so far. Durable. */
  claim(scope: string, key: string, expiresAt: number): Promise<{ fresh: true } | { fresh: false; result: unknown }>;
  /** Durable. The last result counts; a key that was never claimed or is pruned stays unknown. `also`: in the same step. */
  settle(scope: string, key: string, result: unknown, also?: KvWrite): Promise<void>;
  /** Drops what expired before `now`; returns how many. */
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
  /** By key; with `within`, only keys from `from` on and below `below`. */
  list(
    space: string,
    within?: { readonly from: string; readonly below: string },
  ): Promise<{ key: string; value: unknown }[]>;
}

/** Rows of this space belong to a session and go with its transcript; their keys begin with its own and this separator. */
export const SESSION_USAGE = "usage.session-part";
export const SESSION_USAGE_SEPARATOR = "\u001f";

export interface JournalQuery {
  readonly sessionKey?: string;
  readonly tool?: string;
  readonly outcome?: CallOutcome;
  readonly limit?: number;
}

export interface JournalTable {
  /** Creates or replaces by id. `durable: true` before an effect, false for looks. */
  record(entry: JournalEntry, options: { readonly durable: boolean }): Promise<void>;
  /** Newest first, by when each was first recorded. */
  list(query: JournalQuery): Promise<JournalEntry[]>;
  /** Calls a dead process left as started become unknown; returns how many. Called once at start. */
  close(): Promise<number>;
  /** Keeps the newest `keep` rows. */
  prune(keep: number): Promise<number>;
}

/** A scheduled job. The scheduler defines the content of its body and state. */
export interface JobRecord {
  readonly id: string;
  /** When it is due next; absent for a job that waits for nothing. */
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
  /** How many slots this row stands for, when it stands for several that were missed. */
  readonly missed?: number;
}

export type SlotEnd = Pick<SlotRecord, "state"> &
  Partial<Pick<SlotRecord, "why" | "endedAt" | "sessionId" | "error" | "summary">>;

export interface JobTable {
  get(id: string): Promise<JobRecord | undefined>;
  /** All, in the order they were made. */
  list(): Promise<JobRecord[]>;
  count(): Promise<number>;
  /** Creates or replaces, durably. */
  put(job: JobRecord): Promise<void>;
  /** Reads and writes in one transaction; `change` must be pure. Undefined from `change` leaves the row as it is. */
  update(id: string, change: (current: JobRecord) => JobRecord | undefined): Promise<JobRecord | undefined>;
  /** False when there was none. The rows of its slots stay. */
  delete(id: string): Promise<boolean>;
  /** For the start: when a job is due next, and whether runs were left open. */
  outlook(): Promise<{ readonly nextAt?: number; readonly running: number }>;
  /** Due at `now`, the longest waiting first. */
  due(now: number, limit: number): Promise<JobRecord[]>;
  /**
   * Durable, one transaction: the job as it stands goes through `decide` (pure), its new state and the rows are written
   * together. Resolves with the rows that were not there before; only for those may anything be started.
   */
  claim(
    id: string,
    decide: (job: JobRecord) => { readonly job: JobRecord; readonly rows: readonly SlotRecord[] } | undefined,
  ): Promise<readonly SlotRecord[]>;
  /** Durable, one transaction: a running row ends and its job moves on, or goes. False when the row had ended before. */
  finish(
    key: Pick<SlotRecord, "jobId" | "slot">,
    end: SlotEnd,
    move: (job: JobRecord) => JobRecord | "delete" | undefined,
  ): Promise<boolean>;
}

export interface SlotTable {
  get(jobId: string, slot: string): Promise<SlotRecord | undefined>;
  /** The newest `limit` before those `skip`ped, oldest first. */
  list(jobId: string, limit: number, skip?: number): Promise<SlotRecord[]>;
  /** Rows still marked running: after a start these are what a dead process left behind. */
  running(): Promise<SlotRecord[]>;
  /** Durable, in one step with `also`: how far a running row has come. False, and nothing is written, when it had ended. */
  note(key: Pick<SlotRecord, "jobId" | "slot">, summary: string, also?: KvWrite): Promise<boolean>;
  /** The latest time any slot has. */
  latest(): Promise<number | undefined>;
  /** Keeps the newest `keep` rows of a job; what runs stays. Returns how many went. */
  prune(jobId: string, keep: number): Promise<number>;
  /** Drops rows from before `before` whose job is gone; returns how many. */
  pruneGone(before: number): Promise<number>;
}
