// Turns found chunks into an answer: the best ones without repeats, with snippet, citation and notes.
import type { EngineAnswer } from "./engine.ts";
import type { MemoryHit } from "./memory.ts";
import { snippetOf } from "./snippet.ts";
import { termsOf } from "./terms.ts";

export interface Presentation {
  readonly query: string;
  readonly minScore: number;
  readonly maxResults: number;
  readonly isCited: boolean;
}

export function hitsOf(
  found: EngineAnswer["hits"],
  { query, minScore, maxResults, isCited }: Presentation,
): MemoryHit[] {
  const terms = termsOf(query);
  const hits: MemoryHit[] = [];
  for (const chunk of found) {
    if (hits.length >= maxResults) break;
    if (chunk.score < minScore) continue;
    const hit = toHit(chunk, terms, isCited);
    if (!hits.some((better) => isRepeat(better, hit))) hits.push(hit);
  }
  return hits;
}

function toHit(hit: EngineAnswer["hits"][number], terms: ReturnType<typeof termsOf>, isCited: boolean): MemoryHit {
  const { path, source, score } = hit;
  const { startLine, endLine, text } = snippetOf(hit.text, hit.startLine, terms);
  const citation = `${path}#L${startLine}${endLine === startLine ? "" : `-L${endLine}`}`;
  return {
    path,
    startLine,
    endLine,
    score: Math.round(score * 1000) / 1000,
    snippet: isCited ? `${text}\n\nSource: ${citation}` : text,
    source,
    ...(isCited ? { citation } : {}),
  };
}

/** Neighboring chunks share lines, which are shown once. Parts of one long line are different places. */
function isRepeat(better: MemoryHit, { path, startLine, endLine, snippet }: MemoryHit): boolean {
  if (better.path !== path) return false;
  const shared = Math.min(better.endLine, endLine) - Math.max(better.startLine, startLine) + 1;
  const smaller = Math.min(better.endLine - better.startLine, endLine - startLine) + 1;
  return shared * 2 > smaller && (smaller > 1 || better.snippet === snippet);
}

export function notesOf(
  answer: EngineAnswer,
  textOnly: string | undefined,
  isCited: boolean,
): { notes?: readonly string[] } {
  const notes = [
    ...(textOnly === undefined ? [] : [`text search only, without semantic search: ${textOnly}`]),
    ...(answer.indexing ? ["notes are still being indexed; the newest may be missing from these results"] : []),
    ...(answer.failure === undefined ? [] : [`the notes could not be indexed: ${answer.failure}`]),
    ...(isCited ? [] : ["do not mention file names of notes in this chat"]),
  ];
  return notes.length === 0 ? {} : { notes };
}
