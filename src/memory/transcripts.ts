// Talk of earlier sessions as text for the index, read in when enough of it is new.
import { setImmediate as nextTurn } from "node:timers/promises";

import type { AgentId } from "../core/names.ts";
import type { MemoryDocument } from "./indexer.ts";

/** What memory needs to know of sessions; given by who knows them. */
export interface Transcripts {
  /** Sessions of an agent, newest first. `messages` counts entries from 1. */
  list(agent: AgentId): Promise<readonly SessionTalk[]>;
  /** What was said in entries `from` to `to`, one line an entry; "" where nothing was said. */
  lines(sessionId: string, from: number, to: number): Promise<readonly string[]>;
}

export interface SessionTalk {
  readonly sessionId: string;
  readonly updatedAt: number;
  readonly entries: number;
}

export interface TalkIndex {
  documents(): Promise<readonly { readonly path: string; readonly size: number }[]>;
  document(document: MemoryDocument): Promise<void>;
  forget(path: string): Promise<unknown>;
}

export interface Delta {
  readonly deltaBytes: number;
  readonly deltaMessages: number;
}

const PAGE = 500;

export const pathOfSession = (sessionId: string): string => `sessions/${sessionId}`;

/** Lines are entries, so a citation names the entry. `size` of the file is the last entry read in. */
export async function readInTalk(
  transcripts: Transcripts,
  agent: AgentId,
  index: TalkIndex,
  delta: Delta | undefined,
): Promise<number> {
  const known = new Map((await index.documents()).map(({ path, size }) => [path, size]));
  let read = 0;
  for (const { sessionId, entries, updatedAt } of await transcripts.list(agent)) {
    const path = pathOfSession(sessionId);
    const done = known.get(path);
    known.delete(path);
    // Fewer than before: it was reset or cut, and is read from its beginning.
    const from = done === undefined || done > entries ? 0 : done;
    if (entries <= from) continue;
    const fresh = await linesBetween(transcripts, sessionId, from, entries);
    const isEnough =
      delta === undefined ||
      done === undefined ||
      entries - from >= delta.deltaMessages ||
      Buffer.byteLength(fresh.join("\n")) >= delta.deltaBytes;
    if (!isEnough) continue;
    const mark = `${entries}:${updatedAt}`;
    await index.document({
      path,
      source: "sessions",
      text: fresh.join("\n"),
      firstLine: from + 1,
      size: entries,
      mtimeMs: updatedAt,
      mark,
    });
    read += 1;
    await nextTurn();
  }
  for (const path of known.keys()) await index.forget(path);
  return read;
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
