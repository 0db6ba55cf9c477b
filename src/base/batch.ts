// Changes several files below a root: all of them or none, also when the process is killed in between.
import { dirname } from "node:path";

import { errnoOf, OpenClawError } from "../core/error.ts";
import { newRecord, recordsIn, type BatchEntry, type BatchRecord, type RecordFile } from "./batch-record.ts";
import { createTrace } from "./batch-trace.ts";
import { newSecret } from "./ids.ts";
import { failed } from "./rooted-error.ts";
import { openRoot, type Root, type Staged } from "./rooted-fs.ts";

/** Resolved paths below the root; each appears in at most one change. */
export type Change =
  | {
      readonly kind: "put";
      readonly path: string;
      readonly bytes: Uint8Array;
      /** The file it replaces; absent when the name must be free. */
      readonly before?: { readonly version: string; readonly bytes: Uint8Array; readonly mode?: number };
      /** For a new file. */
      readonly mode?: number;
      /** For any file; `before.mode` is then restored on rollback. */
      readonly exactMode?: number;
    }
  | { readonly kind: "remove"; readonly path: string; readonly version: string };

export interface CommitOptions {
  readonly signal?: AbortSignal;
  /** Called before every step; tests kill the process there. */
  readonly step?: (name: string) => void;
}

export interface Batches {
  /** Repairs what a killed process left. Cheap when there is nothing to do; call it before using files. */
  recover(): Promise<void>;
  /** Records that temp files may be left in this folder. */
  readonly note: (folder: string) => void;
  /** All or nothing; when it returns, the whole change survives a power failure. */
  commit(root: Root, changes: readonly Change[], options?: CommitOptions): Promise<void>;
}

// Per process: the owner of the state folder has one journal, however many tools use it.
const known = new Map<string, Batches>();

/** `journal` is a folder that only the gateway can write. */
export function batchesIn(journal: string): Batches {
  const batches = known.get(journal) ?? createBatches(journal);
  known.set(journal, batches);
  return batches;
}

function createBatches(journal: string): Batches {
  const trace = createTrace(journal);
  const live = new Set<string>();
  let recovered: Promise<void> | undefined;

  const recoverAll = async (): Promise<void> => {
    await trace.sweep();
    for (const file of recordsIn(journal)) if (!live.has(file.id)) await finish(file, trace.note);
  };

  return {
    note: trace.note,
    recover() {
      recovered ??= recoverAll().catch((error: unknown) => {
        recovered = undefined;
        throw error;
      });
      return recovered;
    },
    async commit(root, changes, options = {}) {
      const file = newRecord(journal);
      live.add(file.id);
      for (const { path } of changes) trace.note(dirname(path));
      try {
        const isTidy = await commitAll(file, root, changes, options);
        if (!isTidy) recovered = undefined;
      } catch (error) {
        // A failed rollback is tried again before the next use.
        if (file.read() !== undefined) recovered = undefined;
        throw error;
      } finally {
        live.delete(file.id);
      }
    },
  };
}

/** False when the change is complete but clean-up is not. */
async function commitAll(
  file: RecordFile,
  root: Root,
  changes: readonly Change[],
  options: CommitOptions,
): Promise<boolean> {
  const { step = () => undefined } = options;
  const base = { root: root.real, fresh: await missingFolders(root, changes) };
  step("record");
  file.write({ ...base, state: "staging", entries: [] });
  const pending = new Map<BatchEntry, Staged>();
  const record: BatchRecord = { ...base, state: "changing", entries: [] };
  try {
    for (const change of changes) record.entries.push(await stageOne(file, root, change, pending, options));
    step("begin");
    file.write(record);
    for (const entry of record.entries) {
      step(`change ${record.entries.indexOf(entry) + 1}`);
      await changeOne(root, entry, pending);
    }
    step("finish");
    file.write({ ...record, state: "done" });
  } catch (error) {
    for (const staged of pending.values()) await staged.discard();
    await undo(root, file, record);
    file.remove();
    throw error;
  }
  step("tidy");
  return tidy(root, file, record).then(
    () => true,
    (error: unknown) => {
      if (!(error instanceof OpenClawError) && errnoOf(error) === undefined) throw error;
      return false;
    },
  );
}

async function stageOne(
  file: RecordFile,
  root: Root,
  change: Change,
  pending: Map<BatchEntry, Staged>,
  { signal, step }: CommitOptions,
): Promise<BatchEntry> {
  const { path } = change;
  step?.(`stage ${change.kind}`);
  if (change.kind === "remove") {
    const holder = `${dirname(path)}/.openclaw-${process.pid}-${newSecret(6)}.old`;
    return { kind: "remove", path, version: change.version, holder };
  }
  const { before, bytes, mode, exactMode } = change;
  const staged = await root.stage(path, bytes, {
    ...(signal === undefined ? {} : { signal }),
    ...(mode === undefined ? {} : { mode }),
    ...(exactMode === undefined ? {} : { exactMode }),
    ...(before === undefined ? { mustBeNew: true } : { version: before.version }),
  });
  const backup = before === undefined ? null : `${newSecret(6)}.old`;
  const entry: BatchEntry = {
    kind: "put",
    path: staged.real,
    temp: staged.temp,
    old: before?.version ?? null,
    now: staged.version,
    backup,
    ...(before?.mode === undefined ? {} : { oldMode: before.mode }),
  };
  pending.set(entry, staged);
  if (before !== undefined && backup !== null) file.keep(backup, before.bytes);
  return entry;
}

async function changeOne(root: Root, entry: BatchEntry, pending: Map<BatchEntry, Staged>): Promise<void> {
  if (entry.kind === "put") {
    const staged = pending.get(entry);
    pending.delete(entry);
    return staged?.commit();
  }
  await root.rename(entry.path, entry.holder);
  // Checked after the move, when the file under this name can no longer be swapped unnoticed.
  const { version } = await root.checkRemove(entry.holder);
  if (version === entry.version) return;
  throw failed(
    "fs.changed",
    entry.path,
    "was changed by another program in the meantime; nothing was changed",
    "read it again, then repeat the change",
  );
}

/** Rolls back an incomplete change of a killed process and cleans up after a complete one. */
async function finish(file: RecordFile, note: (folder: string) => void): Promise<void> {
  const record = file.read();
  const root = record === undefined ? undefined : await rootOf(record);
  if (record === undefined || root === undefined) return file.remove();
  for (const { path } of record.entries) note(dirname(path));
  try {
    if (record.state === "done") return await tidy(root, file, record);
    await undo(root, file, record);
    file.remove();
  } finally {
    root.close();
  }
}

/** Undefined when the root is gone, and with it everything to repair. */
async function rootOf({ root }: BatchRecord): Promise<Root | undefined> {
  return openRoot({ root }).catch((error: unknown) => {
    if (error instanceof OpenClawError && error.code === "fs.not-found") return undefined;
    throw error;
  });
}

/** Files that another program changed in the meantime are kept. */
async function undo(root: Root, file: RecordFile, { entries, fresh }: BatchRecord): Promise<void> {
  for (const entry of entries.toReversed()) {
    if (entry.kind === "put") await undoPut(root, file, entry);
    else await undoRemoval(root, entry);
  }
  for (const folder of fresh.toReversed()) await unlessGone(root.removeFolder(folder));
}

async function undoPut(root: Root, file: RecordFile, entry: BatchEntry & { kind: "put" }): Promise<void> {
  await unlessGone(root.remove(entry.temp));
  const facts = await unlessGone(root.stat(entry.path));
  if (facts?.version !== entry.now) return;
  if (entry.backup === null) await root.remove(entry.path);
  else
    await root.write(entry.path, file.kept(entry.backup), {
      version: entry.now,
      ...(entry.oldMode === undefined ? {} : { exactMode: entry.oldMode }),
    });
}

async function undoRemoval(root: Root, { path, holder }: BatchEntry & { kind: "remove" }): Promise<void> {
  try {
    await unlessGone(root.rename(holder, path));
  } catch (error) {
    if (!(error instanceof OpenClawError && error.code === "fs.exists")) throw error;
    // Another process created a file of that name; both files are kept.
    await root.rename(holder, `${path}.before-patch-${newSecret(3)}`);
  }
}

async function tidy(root: Root, file: RecordFile, { entries }: BatchRecord): Promise<void> {
  for (const entry of entries) if (entry.kind === "remove") await unlessGone(root.remove(entry.holder));
  file.remove();
}

/** A missing file, or a link or folder in its place, is not the file we left. */
async function unlessGone<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    const gone = ["fs.not-found", "fs.not-directory", "fs.is-directory", "fs.link", "fs.outside"];
    if (error instanceof OpenClawError && gone.includes(error.code)) return undefined;
    throw error;
  }
}

/** Folders that the change will create, outermost first. */
async function missingFolders(root: Root, changes: readonly Change[]): Promise<string[]> {
  const missing = new Set<string>();
  for (const { kind, path } of changes) {
    if (kind !== "put") continue;
    for (
      let folder = dirname(path);
      folder.length > root.real.length && !missing.has(folder);
      folder = dirname(folder)
    ) {
      if ((await root.stat(folder)) !== undefined) break;
      missing.add(folder);
    }
  }
  return [...missing].toSorted((a, b) => a.length - b.length);
}
