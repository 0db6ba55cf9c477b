// Finding chunks by their words: BM25 over few enough postings to stay quick, scores from 0 to 1 that mean something.
import { Lru } from "../base/lru.ts";
import type { Ranked } from "./embed/embedder.ts";
import type { IndexFile } from "./index-file.ts";
import type { MemorySource } from "./memory.ts";
import type { Term } from "./words.ts";

/** Words that stand in nearly every note cost most and tell least: the rarest are looked for first, up to this sum. */
const MAX_POSTINGS = 5_000;

export interface Audience {
  /** Files this asker does not get to see. */
  readonly withoutPaths: readonly string[];
  readonly sources: readonly MemorySource[];
}

export interface FoundChunk {
  readonly id: number;
  readonly path: string;
  readonly source: MemorySource;
  readonly startLine: number;
  readonly endLine: number;
  readonly text: string;
}

export interface Searcher {
  byWords(terms: readonly Term[], limit: number, audience: Audience): Ranked[];
  /** In the order asked for; what the audience may not see, or is gone, is left out. */
  chunks(ids: readonly number[], audience: Audience): FoundChunk[];
  /** What was counted before counts no more. */
  changed(): void;
}

export function createSearcher({ database }: IndexFile): Searcher {
  const countOf = database.prepare(
    `SELECT count(*) AS n FROM (SELECT rowid FROM words WHERE words MATCH ? LIMIT ${MAX_POSTINGS + 1})`,
  );
  const countAll = database.prepare("SELECT count(*) AS n FROM chunks");
  // Weighing costs most: of a word that stands everywhere only the newest pieces are weighed.
  const newest = `ORDER BY rowid DESC LIMIT ${MAX_POSTINGS}) ORDER BY rank LIMIT ?`;
  const find = database.prepare(
    `SELECT id, rank FROM (SELECT rowid AS id, bm25(words) AS rank FROM words WHERE words MATCH ?
     AND rowid NOT IN (SELECT c.id FROM chunks c JOIN files f ON f.id = c.file
       WHERE f.path IN (SELECT value FROM json_each(?)) OR f.source NOT IN (SELECT value FROM json_each(?)))
     ${newest}`,
  );
  const findAll = database.prepare(
    `SELECT id, rank FROM (SELECT rowid AS id, bm25(words) AS rank FROM words WHERE words MATCH ? ${newest}`,
  );
  const chunk = database.prepare(
    `SELECT c.id, f.path, f.source, c.start_line AS startLine, c.end_line AS endLine, c.text
     FROM chunks c JOIN files f ON f.id = c.file WHERE c.id = ?`,
  );
  const otherSources = database.prepare(
    "SELECT count(*) AS n FROM files WHERE source NOT IN (SELECT value FROM json_each(?))",
  );
  const counts = new Lru<number>(4096);
  let total: number | undefined;

  const countedTerms = (terms: readonly Term[]): CountedTerm[] =>
    terms.map(({ match }) => {
      const known = counts.get(match);
      const found = known ?? number(countOf.get(match)?.["n"]);
      if (known === undefined) counts.set(match, found);
      return { match, found };
    });

  return {
    byWords(terms, limit, audience) {
      const used = affordable(countedTerms(terms));
      if (used.length === 0) return [];
      const match = used.map((term) => term.match).join(" OR ");
      total ??= number(countAll.get()?.["n"]);
      const best = used.reduce((sum, { found }) => sum + rarity(found, total ?? 0), 0);
      const sources = JSON.stringify(audience.sources);
      const isOpen = audience.withoutPaths.length === 0 && number(otherSources.get(sources)?.["n"]) === 0;
      const rows = isOpen
        ? findAll.all(match, limit)
        : find.all(match, JSON.stringify(audience.withoutPaths), sources, limit);
      // 1: as good as an average piece that holds every word of the question once.
      return rows.map(({ id, rank }) => ({ id: number(id), score: Math.min(1, -number(rank) / best) }));
    },
    chunks: (ids, { withoutPaths, sources }) =>
      ids.flatMap((id) => {
        const row = chunk.get(id) as unknown as FoundChunk | undefined;
        if (row === undefined || withoutPaths.includes(row.path) || !sources.includes(row.source)) return [];
        return [row];
      }),
    changed() {
      counts.clear();
      total = undefined;
    },
  };
}

interface CountedTerm {
  readonly match: string;
  readonly found: number;
}

function affordable(terms: readonly CountedTerm[]): CountedTerm[] {
  const rarest = terms.filter(({ found }) => found > 0).toSorted((left, right) => left.found - right.found);
  let postings = 0;
  return rarest.filter(({ found }, at) => {
    postings += found;
    return at === 0 || postings <= MAX_POSTINGS;
  });
}

/** As the full-text table weighs a word: the rarer, the more. */
function rarity(found: number, total: number): number {
  const weight = Math.log((total - found + 0.5) / (found + 0.5));
  return weight > 0 ? weight : 1e-6;
}

const number = (value: unknown): number => Number(value ?? 0);
