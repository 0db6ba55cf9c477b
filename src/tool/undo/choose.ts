// Selects the turn to undo: the last one that can be undone, the last undo, or a numbered one.
import { OpenClawError } from "../../core/error.ts";
import type { Turn } from "./record.ts";

export interface TurnRequest {
  /** The number of the turn. */
  readonly turn?: number | undefined;
  /** Reverts the last undo instead. */
  readonly redo?: boolean | undefined;
}

export interface TurnState {
  readonly turn: Turn;
  /** Undone, and not redone since. */
  readonly undone: boolean;
}

/** In the given order, oldest first. An undo that was undone itself does not count. */
export function toTurnStates(turns: readonly Turn[]): TurnState[] {
  const undone = new Set<number>();
  // From the newest on, so that it is known whether an undo is in effect before the turn it undid is checked.
  for (const { seq, head, done } of turns.toReversed()) {
    if (head.undoes !== undefined && done && !undone.has(seq)) undone.add(head.undoes);
  }
  return turns.map((turn) => ({ turn, undone: undone.has(turn.seq) }));
}

/** Throws `undo.nothing`, `undo.unknown-turn` or `undo.already`. */
export function chooseTurn(all: readonly TurnState[], { turn: wanted, redo = false }: TurnRequest): Turn {
  if (wanted !== undefined) return numbered(all, wanted);
  const depths = depthsOf(all);
  const suits = ({ turn }: TurnState): boolean => (redo ? isOdd(depths.get(turn.seq)) : depths.get(turn.seq) === 0);
  const open = all.filter((state) => !state.undone && state.turn.files.size > 0 && suits(state));
  const found = open.at(-1)?.turn;
  if (found !== undefined) return found;
  throw new OpenClawError(
    "undo.nothing",
    redo ? "there is no undo to revert in this session" : "there is no file change to undo in this session",
    { hint: "openclaw sessions undo --list" },
  );
}

const isOdd = (depth = 0): boolean => depth % 2 === 1;

/** 0 for work, 1 for an undo of it, 2 for the undo of that undo … An old turn that was deleted counts as work. */
function depthsOf(all: readonly TurnState[]): ReadonlyMap<number, number> {
  const depths = new Map<number, number>();
  for (const { turn } of all) {
    const { undoes } = turn.head;
    depths.set(turn.seq, undoes === undefined ? 0 : (depths.get(undoes) ?? 0) + 1);
  }
  return depths;
}

function numbered(all: readonly TurnState[], wanted: number): Turn {
  const found = all.find(({ turn }) => turn.seq === wanted);
  const hint = "openclaw sessions undo --list";
  if (found === undefined)
    throw new OpenClawError("undo.unknown-turn", `turn ${wanted} is not in the undo history of this session`, { hint });
  if (found.undone) throw new OpenClawError("undo.already", `turn ${wanted} was already undone`, { hint });
  return found.turn;
}
