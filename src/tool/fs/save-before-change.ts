// Saves files before a file tool changes them, so that the turn can be undone.
import { OpenClawError } from "../../core/error.ts";
import type { Block } from "../../core/message.ts";
import { visible } from "../../core/visible.ts";
import type { Batches } from "../../base/batch.ts";
import type { Root, WriteOptions } from "../../base/rooted-fs.ts";
import type { ToolCall } from "../tool.ts";
import type { FileSaver, SavedFiles, Planned } from "../undo/file-saver.ts";

export interface Saving {
  /** Saves a file before each write through this root. */
  root(root: Root): Root;
  /** Saves files before each commit. */
  batches(batches: Batches): Batches;
  readonly remarks: () => Block[];
}

export function createSaving(fileSaver: FileSaver | undefined, call: ToolCall): Saving {
  const remarks: Block[] = [];
  if (fileSaver === undefined) return { root: (root) => root, batches: (batches) => batches, remarks: () => remarks };

  const save = async (root: Root, changes: readonly Planned[]): Promise<SavedFiles> => {
    const saved = await fileSaver.before(call, root, changes);
    for (const { path, why } of saved.lost) {
      const remark: Block = { type: "text", text: `Undo cannot restore the old ${visible(path)}: it is ${why}.` };
      remarks.push(remark);
      // Reported before the change, to every client that watches.
      call.progress({ content: [remark] });
    }
    return saved;
  };

  return {
    remarks: () => remarks,
    root: (root) => ({ ...root, write: (path, bytes, options) => saveAndWrite(root, save, path, { bytes, options }) }),
    batches: (batches) => ({
      ...batches,
      async commit(root, changes, options) {
        const saved = await save(root, changes.map(toPlanned));
        await orFailed(saved, batches.commit(root, changes, options));
      },
    }),
  };
}

const MAX_TRIES = 5;

/** A file that changes between saving and writing is saved again, so that the copy is what was replaced. */
async function saveAndWrite(
  root: Root,
  save: (root: Root, changes: readonly Planned[]) => Promise<SavedFiles>,
  path: string,
  { bytes, options = {} }: { readonly bytes: Uint8Array; readonly options: WriteOptions | undefined },
): ReturnType<Root["write"]> {
  for (let tries = 1; ; tries += 1) {
    const real = await root.checkWrite(path);
    const saved = await save(root, [{ path: real, after: bytes }]);
    try {
      return await orFailed(saved, root.write(path, bytes, { ...pinned(saved, real), ...options }));
    } catch (error) {
      const isRace = error instanceof OpenClawError && (error.code === "fs.changed" || error.code === "fs.exists");
      const isPinned = options.version !== undefined || options.mustBeNew === true;
      if (!isRace || isPinned || tries >= MAX_TRIES) throw error;
    }
  }
}

function pinned({ versions }: SavedFiles, real: string): WriteOptions {
  if (!versions.has(real)) return {};
  const version = versions.get(real);
  return version === undefined ? { mustBeNew: true } : { version };
}

async function orFailed<T>(saved: SavedFiles, change: Promise<T>): Promise<T> {
  try {
    return await change;
  } catch (error) {
    await saved.failed();
    throw error;
  }
}

function toPlanned(change: Parameters<Batches["commit"]>[1][number]): Planned {
  if (change.kind === "remove") return { path: change.path, after: undefined };
  const { path, bytes, before } = change;
  return { path, after: bytes, ...(before === undefined ? {} : { before }) };
}
