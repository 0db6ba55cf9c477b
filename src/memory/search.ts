// Finds chunks by text: BM25 over a bounded number of postings, with scores from 0 to 1.
import { Lru } from "../base/lru.ts";
import type { Ranked } from "./embed/embedder.ts";
import type { IndexFile } from "./index-file.ts";
import type { MemorySource } from "./memory.ts";
import type { Term } from "./terms.ts";

/** Frequent terms cost most and distinguish least: the rarest terms are searched first, up to this sum of postings. */
const MAX_POSTINGS = 2_500;
/** A term in more chunks than this counts as frequent; the exact number does not matter. */
const MAX_COUNTED = 20_000;

export interface Audience {
  /** Files that this session may not see. */
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
  /** In the requested order, without chunks that are gone or that the audience may not see. */
  chunks(ids: readonly number[], audience: Audience): FoundChunk[];
  /** Discards cached counts. */
  changed(): void;
}

export function createSearcher({ database }: IndexFile): Searcher {
  const countOf = database.prepare(
    `SELECT count(*) AS n FROM (SELECT rowid FROM words WHERE words MATCH ? LIMIT ${MAX_COUNTED})`,
  );
  const countAll = database.prepare("SELECT count(*) AS n FROM chunks");
  // Ranking is the expensive part: of a frequent term only the newest chunks are ranked.
  const newest = `ORDER BY rowid DESC LIMIT ${MAX_POSTINGS}) ORDER BY rank LIMIT ?`;
  const find = database.prepare(
    `SELECT id, rank FROM (SELECT rowid AS id, bm25(words) AS rank FROM words WHERE words MATCH ?
     AND rowid NOT IN (SELECT id FROM chunks WHERE file IN (SELECT value FROM json_each(?)))
     ${newest}`,
  );
  const findAll = database.prepare(
    `SELECT id, rank FROM (SELECT rowid AS id, bm25(words) AS rank FROM words WHERE words MATCH ? ${newest}`,
  );
  const chunk = database.prepare(
    `SELECT c.id, f.path, f.source, c.start_line AS startLine, c.end_line AS endLine, c.text
     FROM chunks c JOIN files f ON f.id = c.file WHERE c.id = ?`,
  );
  const allSources = database.prepare("SELECT DISTINCT source FROM files");
  const fileAt = database.prepare("SELECT id FROM files WHERE path = ?");
  const filesFrom = database.prepare("SELECT id FROM files WHERE source = ?");
  const counts = new Lru<number>(4096);
  let total: number | undefined;
  let indexed: readonly MemorySource[] | undefined;

  const countedTerms = (terms: readonly Term[]): CountedTerm[] =>
    terms.map(({ match }) => {
      const known = counts.get(match);
      const found = known ?? number(countOf.get(match)?.["n"]);
      if (known === undefined) counts.set(match, found);
      return { match, found };
    });

  /** The files that this session may not see. */
  const hiddenFrom = ({ withoutPaths, sources }: Audience): unknown[] => {
    indexed ??= allSources.all().map(({ source }) => source as MemorySource);
    const others = indexed.filter((source) => !sources.includes(source));
    return [
      ...withoutPaths.flatMap((path) => fileAt.all(path)),
      ...others.flatMap((source) => filesFrom.all(source)),
    ].map(({ id }) => id);
  };

  return {
    byWords(terms, limit, audience) {
      const found = countedTerms(terms).filter(({ found: pieces }) => pieces > 0);
      if (found.length === 0) return [];
      total ??= number(countAll.get()?.["n"]);
      const best = found.reduce((sum, { found: pieces }) => sum + rarity(pieces, total ?? 0), 0);
      const hidden = hiddenFrom(audience);
      const weigh = (match: string): Ranked[] =>
        (hidden.length === 0 ? findAll.all(match, limit) : find.all(match, JSON.stringify(hidden), limit))
          // 1: as good as an average chunk that contains every term of the query once.
          .map(({ id, rank }) => ({ id: number(id), score: Math.min(1, -number(rank) / best) }));
      const cheap = affordable(found);
      const some = weigh(cheap.map(({ match }) => match).join(" OR "));
      const isAll = cheap.length === found.length && (cheap[0]?.found ?? 0) <= MAX_POSTINGS;
      // Terms too frequent to be ranked alone still show which chunks contain all of them.
      return isAll ? some : bestOf([...some, ...weigh(found.map(({ match }) => match).join(" AND "))], limit);
    },
    chunks: (ids, { withoutPaths, sources }) =>
      ids.flatMap((id) => {
        const row = chunk.get(id) as FoundChunk | undefined;
        if (row === undefined || withoutPaths.includes(row.path) || !sources.includes(row.source)) return [];
        return [row];
      }),
    changed() {
      counts.clear();
      total = undefined;
      indexed = undefined;
    },
  };
}

interface CountedTerm {
  readonly match: string;
  readonly found: number;
}

function bestOf(ranked: readonly Ranked[], limit: number): Ranked[] {
  const best = new Map<number, Ranked>();
  for (const each of ranked) if (each.score > (best.get(each.id)?.score ?? -1)) best.set(each.id, each);
  return [...best.values()].toSorted((left, right) => right.score - left.score).slice(0, limit);
}

function affordable(terms: readonly CountedTerm[]): CountedTerm[] {
  const rarest = terms.toSorted((left, right) => left.found - right.found);
  let postings = 0;
  return rarest.filter(({ found }, at) => {
    postings += found;
    return at === 0 || postings <= MAX_POSTINGS;
  });
}

/** The weight that the full-text table gives a term: rare terms weigh more. */
function rarity(found: number, total: number): number {
  const weight = Math.log((total - found + 0.5) / (found + 0.5));
  return weight > 0 ? weight : 1e-6;
}

const number = (value: unknown): number => Number(value ?? 0);
