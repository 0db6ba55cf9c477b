// Finding chunks by their words: BM25 over few enough postings to stay quick, scores from 0 to 1 that mean something.
import { Lru } from "../base/lru.ts";
import type { Ranked } from "./embed/embedder.ts";
import type { IndexFile } from "./index-file.ts";
import type { MemorySource } from "./memory.ts";
import type { Term } from "./terms.ts";

/** Words that stand in nearly every note cost most and tell least: the rarest are looked for first, up to this sum. */
const MAX_POSTINGS = 2_500;
/** Counting is cheaper than weighing; a word in more pieces than this is just frequent. */
const MAX_COUNTED = 20_000;

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
    `SELECT count(*) AS n FROM (SELECT rowid FROM words WHERE words MATCH ? LIMIT ${MAX_COUNTED})`,
  );
  const countAll = database.prepare("SELECT count(*) AS n FROM chunks");
  // Weighing costs most: of a word that stands everywhere only the newest pieces are weighed.
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

  /** The files this asker does not get to see. */
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
          // 1: as good as an average piece that holds every word of the question once.
          .map(({ id, rank }) => ({ id: number(id), score: Math.min(1, -number(rank) / best) }));
      const cheap = affordable(found);
      const some = weigh(cheap.map(({ match }) => match).join(" OR "));
      const isAll = cheap.length === found.length && (cheap[0]?.found ?? 0) <= MAX_POSTINGS;
      // Words too frequent to be weighed alone still tell which pieces hold all of them.
      return isAll ? some : bestOf([...some, ...weigh(found.map(({ match }) => match).join(" AND "))], limit);
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

/** As the full-text table weighs a word: the rarer, the more. */
function rarity(found: number, total: number): number {
  const weight = Math.log((total - found + 0.5) / (found + 0.5));
  return weight > 0 ? weight : 1e-6;
}

const number = (value: unknown): number => Number(value ?? 0);
