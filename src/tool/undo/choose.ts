// Selects the turn to undo: the last one that can be undone, the last undo, or a numbered one.
import { OpenClawError } from "../../core/error.ts";
import type { Turn } from "./record.ts";

export interface TurnRequest {
  /** The number of a turn. */
  readonly turn?: number | undefined;
  /** Takes back the last undo instead. */
  readonly redo?: boolean | undefined;
}

export interface LiveStatus {
  readonly turn: Turn;
  /** Taken back, and not put again since. */
  readonly undone: boolean;
}

/** Oldest first, as they come in. An undo that was itself undone does not count. */
export function standings(turns: readonly Turn[]): LiveStatus[] {
  const undone = new Set<number>();
  // From the newest on, so that whether an undo stands is known before what it took back is looked at.
  for (const { seq, head, done } of turns.toReversed()) {
    if (head.undoes !== undefined && done && !undone.has(seq)) undone.add(head.undoes);
  }
  return turns.map((turn) => ({ turn, undone: undone.has(turn.seq) }));
}

/** Throws `undo.nothing`, `undo.unknown-turn` or `undo.already`. */
export function chooseTurn(all: readonly LiveStatus[], { turn: wanted, redo = false }: TurnRequest): Turn {
  if (wanted !== undefined) return numbered(all, wanted);
  const depths = depthsOf(all);
  const suits = ({ turn }: LiveStatus): boolean => (redo ? isOdd(depths.get(turn.seq)) : depths.get(turn.seq) === 0);
  const open = all.filter((liveStatus) => !liveStatus.undone && liveStatus.turn.files.size > 0 && suits(liveStatus));
  const found = open.at(-1)?.turn;
  if (found !== undefined) return found;
  throw new OpenClawError(
    "undo.nothing",
    redo ? "there is no undo to take back in this session" : "there is nothing to undo in this session",
    { hint: "openclaw sessions undo --list" },
  );
}

const isOdd = (depth = 0): boolean => depth % 2 === 1;

/** 0 for work, 1 for an undo of it, 2 for the undo of that undo … An old turn that is gone counts as work. */
function depthsOf(all: readonly LiveStatus[]): ReadonlyMap<number, number> {
  const depths = new Map<number, number>();
  for (const { turn } of all) {
    const { undoes } = turn.head;
    depths.set(turn.seq, undoes === undefined ? 0 : (depths.get(undoes) ?? 0) + 1);
  }
  return depths;
}

function numbered(all: readonly LiveStatus[], wanted: number): Turn {
  const found = all.find(({ turn }) => turn.seq === wanted);
  const hint = "openclaw sessions undo --list";
  if (found === undefined)
    throw new OpenClawError("undo.unknown-turn", `no turn ${wanted} is kept in this session`, { hint });
  if (found.undone) throw new OpenClawError("undo.already", `turn ${wanted} was undone already`, { hint });
  return found.turn;
}
