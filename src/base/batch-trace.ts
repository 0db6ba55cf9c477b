// A list of the folders a process writes to, so that the next process can delete leftover temp files there.
import { closeSync, fsyncSync, mkdirSync, openSync, readFileSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";

import { diskError, syncFolder } from "./atomic-file.ts";
import { namesIn } from "./folders.ts";
import { newSecret } from "./ids.ts";
import { sweepAfter } from "./rooted-temp.ts";

export interface Trace {
  /** Durable when it returns. Writes only at the first use of a folder by a process. */
  readonly note: (folder: string) => void;
  /** Deletes the temp files of dead processes. */
  sweep(): Promise<void>;
}

const MAX_KEPT = 10_000;

/** The owner of `journal` is the only live process, so other lists belong to dead ones. */
export function createTrace(journal: string): Trace {
  const name = `folders-${newSecret(8)}`;
  const noted = new Set<string>();
  return {
    note(folder) {
      if (noted.has(folder)) return;
      const isFirst = noted.size === 0;
      if (noted.size >= MAX_KEPT) noted.clear();
      append(join(journal, name), isFirst ? [process.pid, folder] : [folder], isFirst ? journal : undefined);
      noted.add(folder);
    },
    async sweep() {
      const lists = namesIn(journal).filter((entry) => /^folders-[0-9a-f]{16}$/.test(entry) && entry !== name);
      for (const list of lists) {
        const [pid, ...folders] = linesOf(join(journal, list));
        for (const folder of new Set(folders)) {
          if (typeof pid === "number" && typeof folder === "string") await sweepAfter(pid, folder);
        }
        rmSync(join(journal, list), { force: true });
      }
    },
  };
}

function append(file: string, values: readonly unknown[], folder: string | undefined): void {
  try {
    if (folder !== undefined) mkdirSync(folder, { recursive: true, mode: 0o700 });
    const fd = openSync(file, "a", 0o600);
    try {
      writeSync(fd, values.map((value) => `${JSON.stringify(value)}\n`).join(""));
      fsyncSync(fd);
    } finally {
      closeSync(fd);
    }
    if (folder !== undefined) syncFolder(folder);
  } catch (cause) {
    throw diskError(file, cause);
  }
}

/** A last line cut by a power failure does not name a folder. */
function linesOf(file: string): unknown[] {
  return readFileSync(file, "utf8")
    .split("\n")
    .flatMap((line): unknown[] => {
      try {
        return [JSON.parse(line)];
      } catch {
        return [];
      }
    });
}
