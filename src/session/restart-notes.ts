// Notes that a gateway stores before a restart, and that sessions read once after it.
import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";

import type { SessionKey } from "../core/names.ts";
import { writeFileAtomic } from "../base/atomic-file.ts";
import type { RestartNote } from "../protocol/methods/config.ts";

export type { RestartNote };

interface NoteFile {
  readonly version: 1;
  /** The newest note. */
  readonly payload: RestartNote;
  /** Notes of other requests that became the same restart. */
  readonly more?: readonly RestartNote[];
}

export const sentinelPath = (stateDir: string): string => join(stateDir, "restart-sentinel.json");

/** Enough for every session that asks within one delay; the oldest are dropped first. */
const MAX_NOTES = 50;

/** Durable when it returns. A second note before the restart does not replace the first. */
export function writeRestartNote(stateDir: string, note: RestartNote): string {
  const file = sentinelPath(stateDir);
  const more = readNotes(stateDir).slice(1 - MAX_NOTES);
  const next: NoteFile = { version: 1, payload: note, ...(more.length === 0 ? {} : { more }) };
  writeFileAtomic(file, `${JSON.stringify(next)}\n`);
  return file;
}

export const hasRestartNotes = (stateDir: string): boolean => existsSync(sentinelPath(stateDir));

/**
 * Posts one note to each session, then removes the file. `notify` must be durable when it resolves and must
 * post the same text twice in a row only once, so that a crash in between changes nothing.
 */
export async function deliverRestartNotes(
  stateDir: string,
  notify: (session: SessionKey, text: string) => Promise<void>,
): Promise<readonly RestartNote[]> {
  const notes = readNotes(stateDir);
  const bySession = Map.groupBy(notes, ({ sessionKey }) => sessionKey);
  for (const [session, own] of bySession)
    if (session !== undefined) await notify(session as SessionKey, own.map(noteText).join("\n"));
  rmSync(sentinelPath(stateDir), { force: true });
  return notes;
}

/** The text that a session reads. The time makes two notes with the same text different. */
export function noteText({ kind, status, ts, message, doctorHint, stats }: RestartNote): string {
  const mode = typeof stats?.["mode"] === "string" ? stats["mode"] : kind;
  const how = status === "ok" ? "done" : status;
  const lines = [
    `Gateway restarted (${mode} ${how}, requested ${new Date(ts).toISOString()})`,
    ...(message === undefined || message === null || message === "" ? [] : [message]),
    ...(status === "error" && doctorHint !== undefined ? [`If something is wrong: ${doctorHint}`] : []),
  ];
  return lines.join("\n");
}

/** Oldest first; empty when the file cannot be read. */
function readNotes(stateDir: string): readonly RestartNote[] {
  const file = sentinelPath(stateDir);
  if (!existsSync(file)) return [];
  try {
    const { payload, more = [] } = JSON.parse(readFileSync(file, "utf8")) as NoteFile;
    return [...more, payload].filter(isNote);
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof TypeError) return [];
    throw error;
  }
}

function isNote(note: unknown): note is RestartNote {
  if (typeof note !== "object" || note === null) return false;
  const { kind, status, ts, sessionKey } = note as Record<string, unknown>;
  const kinds = ["config-apply", "update", "restart"];
  return (
    kinds.includes(String(kind)) &&
    ["ok", "error", "skipped"].includes(String(status)) &&
    typeof ts === "number" &&
    Number.isFinite(ts) &&
    Math.abs(ts) < 8.64e15 &&
    ["string", "undefined"].includes(typeof sessionKey)
  );
}
