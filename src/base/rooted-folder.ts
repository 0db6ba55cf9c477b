// Creates the missing folders of a new file one by one through the handle of the parent folder.
import { constants } from "node:fs";
import { mkdir, open, rmdir } from "node:fs/promises";

import { errnoOf } from "../core/error.ts";
import type { Anchor } from "./rooted-anchor.ts";
import { errnoError, refused } from "./rooted-error.ts";
import { unlessSystem } from "./rooted-temp.ts";

/** Folders passed on the way down; `fresh` ones were created here and can be removed again. */
export interface Made {
  readonly folder: Anchor;
  /** Makes the new folders durable. Closes nothing. */
  sync(): Promise<void>;
  close(): void;
  /** Removes the fresh folders if they are still empty, and closes. */
  undo(): Promise<void>;
}

interface Link {
  readonly parent: Anchor;
  readonly name: string;
  readonly anchor: Anchor;
  readonly fresh: boolean;
}

/** `path` is for messages only. */
export async function makeBelow(start: Anchor, names: readonly string[], path: string): Promise<Made> {
  const chain: Link[] = [];
  const made = madeFolders(start, chain);
  try {
    for (const name of names) {
      const parent = made.folder;
      const fresh = await makeOne(parent, name);
      const anchor = await parent.child(name);
      chain.push({ parent, name, anchor, fresh });
      if (!anchor.stats.isDirectory()) throw notAFolder(anchor, path);
    }
    return made;
  } catch (error) {
    await made.undo();
    throw error;
  }
}

function madeFolders(start: Anchor, chain: Link[]): Made {
  return {
    get folder() {
      return chain.at(-1)?.anchor ?? start;
    },
    async sync() {
      for (const { parent, fresh } of chain) if (fresh) await syncFolder(parent);
    },
    close() {
      for (const { anchor } of chain.splice(0)) anchor.close();
    },
    async undo() {
      for (const { parent, name, anchor, fresh } of chain.toReversed()) {
        anchor.close();
        if (fresh) await rmdir(parent.at(name)).catch(unlessSystem);
      }
      chain.length = 0;
    },
  };
}

async function makeOne(parent: Anchor, name: string): Promise<boolean> {
  try {
    await mkdir(parent.at(name));
    return true;
  } catch (error) {
    if (errnoOf(error) === "EEXIST") return false;
    throw error;
  }
}

function notAFolder(anchor: Anchor, path: string): Error {
  if (!anchor.stats.isSymbolicLink()) return errnoError(path, "write", "ENOTDIR");
  return refused("fs.link", path, "a link appeared in place of the folder that was being created", {
    hint: "try again",
  });
}

export async function syncFolder(folder: Anchor): Promise<void> {
  const handle = await open(folder.at("."), constants.O_RDONLY | constants.O_DIRECTORY).catch((error: unknown) => {
    // A folder without list permission cannot be synced; the rename is in the journal of the file system.
    if (errnoOf(error) === "EACCES") return undefined;
    throw error;
  });
  try {
    await handle?.sync();
  } finally {
    await handle?.close();
  }
}
