// Opens the undo history of one state folder; loaded with the first change of a file.
import type { Log } from "../../base/log.ts";
import { createFileSaver, type FileSaver, type SaveLimits } from "./file-saver.ts";
import { pruneAll, pruneLimits, pruneSession, type PruneLimits } from "./prune.ts";
import { createUndo, type Undo, type UndoDeps } from "./undo.ts";

export interface EngineDeps extends Omit<UndoDeps, "fileSaver"> {
  readonly log: Log;
  readonly limits?: Partial<SaveLimits & PruneLimits>;
}

export interface UndoEngine extends Undo {
  readonly fileSaver: FileSaver;
  /** Resolves when no deletion is in progress. */
  settle(): Promise<void>;
}

/** Old turns of a session, and of all sessions, are deleted only every so many turns, because measuring them is slow. */
const SESSION_EVERY = 10;
const ALL_EVERY = 50;

export function createUndoEngine(deps: EngineDeps): UndoEngine {
  const { base, clock, log, limits = {} } = deps;
  const bounds = { ...pruneLimits, ...limits };
  let count = 0;
  let pruning = Promise.resolve();
  const mayDrop = (folder: string): Promise<boolean> => fileSaver.close(folder);
  const prune = async (sessionAt: string, all: boolean): Promise<void> => {
    try {
      await pruneSession(sessionAt, mayDrop, bounds);
      if (all) await pruneAll(base, mayDrop, bounds);
    } catch (error) {
      log.warn("old undo copies could not be deleted", { error });
    }
  };
  const fileSaver = createFileSaver({
    base,
    clock,
    limits,
    onTurn(sessionAt, seq) {
      const all = count % ALL_EVERY === 0;
      count += 1;
      if (!all && seq % SESSION_EVERY !== 0) return;
      // One after the other, and after the work that asked for it.
      pruning = pruning.then(() => prune(sessionAt, all));
    },
  });
  return { ...createUndo({ ...deps, fileSaver }), fileSaver, settle: () => pruning };
}
