// Opens the undo history of one state folder; loaded with the first change to a file.
import type { Log } from "../../base/log.ts";
import { createKeeper, type Keeper, type KeepLimits } from "./keep.ts";
import { pruneAll, pruneLimits, pruneSession, type PruneLimits } from "./prune.ts";
import { createUndo, type Undo, type UndoDeps } from "./undo.ts";

export interface EngineDeps extends Omit<UndoDeps, "keeper"> {
  readonly log: Log;
  readonly limits?: Partial<KeepLimits & PruneLimits>;
}

export interface UndoEngine extends Undo {
  readonly keeper: Keeper;
  /** Resolves when nothing is being dropped. */
  settle(): Promise<void>;
}

/** Those of a session, and all there are, are looked at once in so many: weighing them costs more than keeping one. */
const SESSION_EVERY = 10;
const ALL_EVERY = 50;

export function createUndoEngine(deps: EngineDeps): UndoEngine {
  const { base, clock, log, limits = {} } = deps;
  const bounds = { ...pruneLimits, ...limits };
  let count = 0;
  let pruning = Promise.resolve();
  const mayDrop = (folder: string): Promise<boolean> => keeper.close(folder);
  const prune = async (sessionAt: string, all: boolean): Promise<void> => {
    try {
      await pruneSession(sessionAt, mayDrop, bounds);
      if (all) await pruneAll(base, mayDrop, bounds);
    } catch (error) {
      log.warn("old copies for undo could not be dropped", { error });
    }
  };
  const keeper = createKeeper({
    base,
    clock,
    limits,
    onTurn(sessionAt, seq) {
      const all = count % ALL_EVERY === 0;
      count += 1;
      if (!all && seq % SESSION_EVERY !== 0) return;
      // One after the other and behind the work that asked for it.
      pruning = pruning.then(() => prune(sessionAt, all));
    },
  });
  return { ...createUndo({ ...deps, keeper }), keeper, settle: () => pruning };
}
