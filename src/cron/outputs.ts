// Output of commands and tools of jobs: one file of limited size per run.
import { mkdir, readdir, readFile, rm, stat } from "node:fs/promises";
import { join } from "node:path";

import { errnoOf } from "../core/error.ts";
import { writeFileAtomic } from "../base/atomic-file.ts";

export interface JobOutputs {
  /** Stores the end of a text that is too long. */
  write(jobId: string, slot: string, text: string): Promise<void>;
  /** Lines `offset` … `offset + limit` of one run; undefined without output. */
  page(jobId: string, slot: string, offset: number, limit: number): Promise<OutputPage | undefined>;
  remove(jobId: string): Promise<void>;
  /** Removes files of deleted jobs that did not change since then. */
  prune(isKept: (jobId: string) => Promise<boolean>, before: number): Promise<void>;
}

export interface OutputPage {
  readonly offset: number;
  readonly totalLines: number;
  readonly text: string;
}

const MAX_BYTES = 1_000_000;
const KEEP_PER_JOB = 50;

export function createJobOutputs(folder: string): JobOutputs {
  const folderOf = (jobId: string): string => join(folder, encodeURIComponent(jobId));
  const fileOf = (jobId: string, slot: string): string => join(folderOf(jobId), `${encodeURIComponent(slot)}.txt`);
  return {
    async write(jobId, slot, text) {
      await mkdir(folderOf(jobId), { recursive: true, mode: 0o700 });
      writeFileAtomic(fileOf(jobId, slot), lastBytes(text));
      await keepNewest(folderOf(jobId));
    },
    async page(jobId, slot, offset, limit) {
      const text = await readFile(fileOf(jobId, slot), "utf8").catch(absent);
      if (text === undefined) return undefined;
      const lines = text.replace(/\n$/, "").split("\n");
      return { offset, totalLines: lines.length, text: lines.slice(offset, offset + limit).join("\n") };
    },
    remove: (jobId) => rm(folderOf(jobId), { recursive: true, force: true }),
    async prune(isKept, before) {
      for (const name of (await readdir(folder).catch(absent)) ?? []) {
        const jobId = decodeURIComponent(name);
        const changed = (await stat(join(folder, name)).catch(absent))?.mtimeMs ?? 0;
        if (changed < before && !(await isKept(jobId))) await rm(join(folder, name), { recursive: true, force: true });
      }
    },
  };
}

function lastBytes(text: string): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= MAX_BYTES) return text;
  const end = bytes.subarray(bytes.length - MAX_BYTES).toString("utf8");
  return `[${bytes.length - MAX_BYTES} earlier bytes were not stored]\n${end.slice(end.indexOf("\n") + 1)}`;
}

async function keepNewest(folder: string): Promise<void> {
  const names = await readdir(folder);
  if (names.length <= KEEP_PER_JOB) return;
  const dated = await Promise.all(
    names.map(async (name) => ({ name, at: (await stat(join(folder, name)).catch(absent))?.mtimeMs ?? 0 })),
  );
  const old = dated.toSorted((a, b) => b.at - a.at).slice(KEEP_PER_JOB);
  await Promise.all(old.map(({ name }) => rm(join(folder, name), { force: true })));
}

function absent(error: unknown): undefined {
  if (errnoOf(error) === "ENOENT") return undefined;
  throw error;
}
