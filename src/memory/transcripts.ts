// Indexes transcripts of sessions as text, when enough of them is new.
import { setImmediate as nextTurn } from "node:timers/promises";

import type { AgentId } from "../core/names.ts";
import type { MemoryDocument } from "./index-writer.ts";

/** Access to sessions, injected because memory does not know the store. */
export interface Transcripts {
  /** Sessions of an agent, newest first. `messages` counts entries from 1. */
  list(agent: AgentId): Promise<readonly SessionTranscript[]>;
  /** Number of entries of a session, also of an unlisted one; 0 when it is gone. */
  count(sessionId: string): Promise<number>;
  /** The text of entries `from` to `to`, one line per entry; "" for an entry without text. */
  lines(sessionId: string, from: number, to: number): Promise<readonly string[]>;
}

export interface SessionTranscript {
  readonly sessionId: string;
  readonly updatedAt: number;
  readonly entries: number;
}

export interface TranscriptIndex {
  documents(): Promise<readonly { readonly path: string; readonly size: number }[]>;
  document(document: MemoryDocument): Promise<void>;
  forget(path: string): Promise<unknown>;
}

export interface Delta {
  readonly deltaBytes: number;
  readonly deltaMessages: number;
}

const PAGE = 500;

const pathOfSession = (sessionId: string): string => `sessions/${sessionId}`;

/** Each line is an entry, so that a citation names the entry. `size` is the number of the last indexed entry. */
export async function indexTranscripts(
  transcripts: Transcripts,
  agent: AgentId,
  index: TranscriptIndex,
  delta: Delta | undefined,
): Promise<void> {
  const known = new Map((await index.documents()).map(({ path, size }) => [path, size]));
  const listed = await transcripts.list(agent);
  for (const session of listed)
    await indexOne(transcripts, index, session, known.get(pathOfSession(session.sessionId)), delta);
  const open = new Set(listed.map(({ sessionId }) => pathOfSession(sessionId)));
  // A reset session leaves its old transcript behind: the rest of it is indexed, and it stays as long as it exists.
  for (const [path, done] of known) {
    if (open.has(path)) continue;
    const sessionId = path.slice(pathOfSession("").length);
    const entries = await transcripts.count(sessionId);
    if (entries === 0) await index.forget(path);
    else await indexOne(transcripts, index, { sessionId, entries, updatedAt: 0 }, done, undefined);
  }
}

async function indexOne(
  transcripts: Transcripts,
  index: TranscriptIndex,
  { sessionId, entries, updatedAt }: SessionTranscript,
  done: number | undefined,
  delta: Delta | undefined,
): Promise<void> {
  // Fewer entries than before: the transcript was cut and is indexed from its start.
  const from = done === undefined || done > entries ? 0 : done;
  if (entries <= from) return;
  const lines = await linesBetween(transcripts, sessionId, from, entries);
  const isEnough =
    delta === undefined ||
    done === undefined ||
    entries - from >= delta.deltaMessages ||
    Buffer.byteLength(lines.join("\n")) >= delta.deltaBytes;
  if (!isEnough) return;
  await index.document({
    path: pathOfSession(sessionId),
    source: "sessions",
    text: lines.join("\n"),
    firstLine: from + 1,
    size: entries,
    mtimeMs: updatedAt,
    mark: `${entries}:${updatedAt}`,
  });
  await nextTurn();
}

async function linesBetween(
  transcripts: Pick<Transcripts, "lines">,
  sessionId: string,
  after: number,
  last: number,
): Promise<string[]> {
  const all: string[] = [];
  for (let at = after; at < last; at += PAGE) {
    const page = await transcripts.lines(sessionId, at + 1, Math.min(last, at + PAGE));
    all.push(...page.map((line) => line.replaceAll(/[\r\n]+/g, " ")));
  }
  return all;
}
