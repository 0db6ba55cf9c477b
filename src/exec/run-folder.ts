// One private folder per process for pipes and output files; folders of dead processes are removed on first use.
import { mkdir, readdir, rm } from "node:fs/promises";
import { join } from "node:path";

import { errnoOf } from "../core/error.ts";
import { isOrphanMark } from "./proc.ts";

/** `open` creates the folder on the first call; `remove` deletes it. */
export interface RunFolder {
  open(): Promise<string>;
  remove(): Promise<void>;
}

export function createRunFolder(parent: string, mark: string): RunFolder {
  const path = join(parent, mark);
  let opened: Promise<string> | undefined;

  const open = async (): Promise<string> => {
    await mkdir(path, { recursive: true, mode: 0o700 });
    await removeOrphans(parent);
    return path;
  };
  return {
    async open() {
      opened ??= open().catch((error: unknown) => {
        opened = undefined;
        throw error;
      });
      return opened;
    },
    async remove() {
      if (opened === undefined) return;
      await rm(path, { recursive: true, force: true });
      opened = undefined;
    },
  };
}

async function removeOrphans(parent: string): Promise<void> {
  for (const name of await readdir(parent)) {
    if (!/^\d+\.\d+\.\d+\.[0-9a-f]{12}$/.test(name) || !isOrphanMark(name)) continue;
    await rm(join(parent, name), { recursive: true, force: true }).catch((error: unknown) => {
      if (errnoOf(error) === undefined) throw error;
    });
  }
}
