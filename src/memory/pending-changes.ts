// Collects changes on disk that are not indexed yet, until no more arrive for a while.
import type { MemoryRoot } from "./roots.ts";

/** With more changed notes than this, all notes are scanned instead. */
const MAX_NOTES = 500;
/** Changes that never pause are indexed anyway after this many debounce times. */
const PATIENCE = 4;

export interface PendingChanges {
  readonly note: (root: MemoryRoot, names: readonly string[]) => void;
  readonly everything: () => void;
  readonly isDirty: () => boolean;
  /** Returns and clears all changes. */
  take(): DirtyWork;
  /** The work failed and is pending again. */
  giveBack(work: DirtyWork): void;
  close(): void;
}

export interface DirtyWork {
  readonly everything: boolean;
  readonly notes: readonly { readonly root: MemoryRoot; readonly names: readonly string[] }[];
}

export function createPendingChanges(quietMs: number, onQuiet: () => void): PendingChanges {
  const notes = new Map<string, { root: MemoryRoot; names: readonly string[] }>();
  // The first round scans all notes.
  let everything = true;
  let firstAt = 0;
  let lastAt = 0;
  let timer: NodeJS.Timeout | undefined;
  const arm = (delayMs: number): void => {
    timer = setTimeout(() => {
      timer = undefined;
      const now = performance.now();
      const left = quietMs - (now - lastAt);
      if (left > 1 && now - firstAt < quietMs * PATIENCE) return arm(left);
      onQuiet();
    }, delayMs).unref();
  };
  const noteChange = (): void => {
    lastAt = performance.now();
    if (timer !== undefined) return;
    firstAt = lastAt;
    arm(quietMs);
  };
  const mark = (root: MemoryRoot, names: readonly string[]): void => {
    if (everything) return;
    notes.set(root.prefix + names.join("/"), { root, names });
    if (notes.size <= MAX_NOTES) return;
    notes.clear();
    everything = true;
  };
  return {
    note(root, names) {
      mark(root, names);
      noteChange();
    },
    everything() {
      everything = true;
      notes.clear();
      noteChange();
    },
    isDirty: () => everything || notes.size > 0,
    take() {
      const work = { everything, notes: [...notes.values()] };
      everything = false;
      notes.clear();
      return work;
    },
    giveBack(work) {
      if (work.everything) everything = true;
      for (const { root, names } of work.notes) mark(root, names);
    },
    close() {
      clearTimeout(timer);
    },
  };
}
