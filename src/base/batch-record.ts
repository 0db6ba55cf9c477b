// The record written before a change of several files: enough to roll all of them back, or to clean up.
import { mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";

import { errnoOf, OpenClawError } from "../core/error.ts";
import { checker, Type, type Static } from "../core/schema.ts";
import { syncFolder, writeFileAtomic } from "./atomic-file.ts";
import { namesIn } from "./folders.ts";
import { newSecret } from "./ids.ts";

const nullable = Type.Union([Type.String(), Type.Null()]);

const put = Type.Object({
  kind: Type.Literal("put"),
  path: Type.String(),
  temp: Type.String(),
  /** Version of the file it replaces; null when there was no file. */
  old: nullable,
  now: Type.String(),
  /** File in the record's folder with the replaced bytes. */
  backup: nullable,
  /** Permissions to restore, where the change sets others. */
  oldMode: Type.Optional(Type.Integer()),
});

const removal = Type.Object({
  kind: Type.Literal("remove"),
  path: Type.String(),
  version: Type.String(),
  /** The temporary name of the file until the change is complete. */
  holder: Type.String(),
});

const record = Type.Object({
  /** `staging`: no visible change yet. `changing`: roll back. `done`: only clean-up is left. */
  state: Type.Union([Type.Literal("staging"), Type.Literal("changing"), Type.Literal("done")]),
  root: Type.String(),
  /** Folders that did not exist before, outermost first. */
  fresh: Type.Array(Type.String()),
  entries: Type.Array(Type.Union([put, removal])),
});

export type BatchRecord = Static<typeof record>;
export type BatchEntry = BatchRecord["entries"][number];

/** One record on the disk. Every write is atomic and survives a power failure. */
export interface RecordFile {
  readonly id: string;
  write(value: BatchRecord): void;
  /** Undefined when there is no record: no change is in progress. */
  read(): BatchRecord | undefined;
  keep(name: string, bytes: Uint8Array): void;
  kept(name: string): Buffer;
  /** Deletes the record first, then the kept bytes, so that an interruption in between is harmless. */
  remove(): void;
}

export const newRecord = (journal: string): RecordFile => recordAt(journal, newSecret(8));

export function recordsIn(journal: string): RecordFile[] {
  return namesIn(journal)
    .filter((name) => /^[0-9a-f]{16}$/.test(name))
    .map((id) => recordAt(journal, id));
}

const check = checker(record);

function recordAt(journal: string, id: string): RecordFile {
  const folder = join(journal, id);
  const file = join(folder, "record.json");
  return {
    id,
    write(value) {
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      writeFileAtomic(file, JSON.stringify(value));
      syncFolder(journal);
    },
    read() {
      const text = textOf(file);
      return text === undefined ? undefined : parse(text, file);
    },
    keep(name, bytes) {
      writeFileAtomic(join(folder, name), bytes);
    },
    kept: (name) => readFileSync(join(folder, name)),
    remove() {
      rmSync(file, { force: true });
      if (namesIn(journal).includes(id)) syncFolder(folder);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function textOf(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return undefined;
    throw error;
  }
}

function parse(text: string, file: string): BatchRecord {
  try {
    const value: unknown = JSON.parse(text);
    if (check.issues(value).length === 0) return value as BatchRecord;
  } catch (cause) {
    throw broken(file, cause);
  }
  throw broken(file);
}

function broken(file: string, cause?: unknown): OpenClawError {
  return new OpenClawError("fs.bad-record", `cannot read ${file}, so an unfinished change of files cannot be undone`, {
    cause,
    hint: `check the files it names, then remove it: rm ${file}`,
  });
}
