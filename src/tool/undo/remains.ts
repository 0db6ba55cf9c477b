// Lists what a turn did that cannot be undone, from the journal.
import { visible } from "../../core/visible.ts";
import type { JournalEntry, JournalTable } from "../../store/store.ts";
import type { Turn } from "./record.ts";
import type { Remains } from "../../protocol/methods/undo.ts";

export type { Remains };

const LOOKED_AT = 2000;
const MAX_LINES = 50;

export async function remainsOf(journal: JournalTable, session: string, turn: Turn): Promise<Remains> {
  const recent = await journal.list({ sessionKey: session, limit: LOOKED_AT });
  const effects = recent.toReversed().filter(isEffect);
  const mine = effects.filter(({ turn: id }) => id === turn.head.turn);
  const lines = mine.map(lineOf);
  const more = lines.length - MAX_LINES;
  return {
    lines: more > 0 ? [...lines.slice(0, MAX_LINES), `… and ${more} more`] : lines,
    later: effects.filter(({ at, turn: id }) => at > turn.head.at && id !== turn.head.turn).length,
  };
}

const lasting: ReadonlySet<unknown> = new Set(["run", "send", "admin"]);

/** A refused call had no effect; an interrupted one may have. */
function isEffect({ intent, outcome }: JournalEntry): boolean {
  return outcome !== "refused" && lasting.has(partOf(intent, "does"));
}

function lineOf({ tool, intent, outcome }: JournalEntry): string {
  const does = partOf(intent, "does");
  const words =
    does === "run"
      ? `command run (${shown(partOf(intent, "host"))}): ${shown(partOf(intent, "command"))}`
      : does === "send"
        ? `message sent (${tool}) to ${shown(partOf(intent, "to"))}`
        : `${tool}: ${shown(partOf(intent, "what"))}`;
  return outcome === "ok" ? words : `${words} [${outcome}]`;
}

function partOf(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>)[name] : undefined;
}

function shown(value: unknown): string {
  return visible(typeof value === "string" ? value : "?", 200);
}
