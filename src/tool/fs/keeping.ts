// Saves files before a file tool changes them, so that the turn can be undone.
import { OpenClawError } from "../../core/error.ts";
import type { Block } from "../../core/message.ts";
import { visible } from "../../core/visible.ts";
import type { Batches } from "../../base/batch.ts";
import type { Root, WriteOptions } from "../../base/rooted-fs.ts";
import type { ToolCall } from "../tool.ts";
import type { Keeper, Kept, Planned } from "../undo/keep.ts";

export interface Keeping {
  /** Writes of this one are kept first. */
  root(root: Root): Root;
  /** Commits of this one are kept first. */
  batches(batches: Batches): Batches;
  readonly remarks: () => Block[];
}

export function createKeeping(keeper: Keeper | undefined, call: ToolCall): Keeping {
  const remarks: Block[] = [];
  if (keeper === undefined) return { root: (root) => root, batches: (batches) => batches, remarks: () => remarks };

  const keep = async (root: Root, changes: readonly Planned[]): Promise<Kept> => {
    const kept = await keeper.before(call, root, changes);
    for (const { path, why } of kept.lost) {
      const remark: Block = { type: "text", text: `The old ${visible(path)} is ${why}: undo will not bring it back.` };
      remarks.push(remark);
      // Said before it happens, to whoever watches.
      call.progress({ content: [remark] });
    }
    return kept;
  };

  return {
    remarks: () => remarks,
    root: (root) => ({ ...root, write: (path, bytes, options) => keptWrite(root, keep, path, { bytes, options }) }),
    batches: (batches) => ({
      ...batches,
      async commit(root, changes, options) {
        const kept = await keep(root, changes.map(toPlanned));
        await orFailed(kept, batches.commit(root, changes, options));
      },
    }),
  };
}

const MAX_TRIES = 5;

/** A file that somebody changes between keeping and writing is kept again: what was kept is what was replaced. */
async function keptWrite(
  root: Root,
  keep: (root: Root, changes: readonly Planned[]) => Promise<Kept>,
  path: string,
  { bytes, options = {} }: { readonly bytes: Uint8Array; readonly options: WriteOptions | undefined },
): ReturnType<Root["write"]> {
  for (let tries = 1; ; tries += 1) {
    const real = await root.checkWrite(path);
    const kept = await keep(root, [{ path: real, after: bytes }]);
    try {
      return await orFailed(kept, root.write(path, bytes, { ...pinned(kept, real), ...options }));
    } catch (error) {
      const isRace = error instanceof OpenClawError && (error.code === "fs.changed" || error.code === "fs.exists");
      const isPinned = options.version !== undefined || options.mustBeNew === true;
      if (!isRace || isPinned || tries >= MAX_TRIES) throw error;
    }
  }
}

function pinned({ versions }: Kept, real: string): WriteOptions {
  if (!versions.has(real)) return {};
  const version = versions.get(real);
  return version === undefined ? { mustBeNew: true } : { version };
}

async function orFailed<T>(kept: Kept, change: Promise<T>): Promise<T> {
  try {
    return await change;
  } catch (error) {
    await kept.failed();
    throw error;
  }
}

function toPlanned(change: Parameters<Batches["commit"]>[1][number]): Planned {
  if (change.kind === "remove") return { path: change.path, after: undefined };
  const { path, bytes, before } = change;
  return { path, after: bytes, ...(before === undefined ? {} : { before }) };
}
