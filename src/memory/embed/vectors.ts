// The vector table of one index file: keyed by text, searched by similarity; old vectors stay until the new ones are
// complete.
import type { DatabaseSync } from "node:sqlite";

import type { Ranked, VectorOptions, Vectors } from "./embedder.ts";
import { createNearest, type Nearest } from "./nearest.ts";
import { openSpace, type Space } from "./space.ts";
import { dot, fromBytes, isZero, toBytes } from "./vector.ts";

/** `live`: 1 a chunk has this text and it can be found, 0 cached only, -1 without meaning (a zero vector). */
const tables = `
  CREATE TABLE IF NOT EXISTS spaces (id INTEGER PRIMARY KEY, fingerprint TEXT NOT NULL UNIQUE, dimensions INTEGER);
  CREATE TABLE IF NOT EXISTS embeddings (
    id INTEGER PRIMARY KEY, space INTEGER NOT NULL, hash TEXT NOT NULL, live INTEGER NOT NULL, used INTEGER NOT NULL,
    vector BLOB NOT NULL);
  CREATE UNIQUE INDEX IF NOT EXISTS embeddings_key ON embeddings (space, hash);
  CREATE INDEX IF NOT EXISTS embeddings_by_use ON embeddings (live, used);`;

/** Bounds one transaction when many cached vectors are reused. */
const maxRevived = 2000;

export function createVectors(database: DatabaseSync, options: VectorOptions): Vectors {
  database.exec(tables);
  const nearest = createNearest(database, options);
  const space = openSpace(database, options.fingerprint, nearest);
  if (options.adopt !== undefined) adopt(database, options.adopt, options.fingerprint, space.id);
  const sql = prepare(database);
  /** Chunks up to this one were checked; the next call continues there. */
  let cursor = 0;

  const look = (from: number, limit: number): { id: number; hash: string; text: string }[] =>
    sql.pending.all(from, space.id, limit) as { id: number; hash: string; text: string }[];
  const tidy = (): void => {
    // Vectors of existing chunks do not count as cache.
    revive(database, sql, space, nearest);
    inTransaction(database, () => sweep(database, sql, nearest, space, options.maxCached));
  };
  return {
    pending(limit) {
      if (cursor === 0) revive(database, sql, space, nearest);
      const rest = look(cursor, limit);
      const rows = rest.length === 0 && cursor > 0 ? look(0, limit) : rest;
      cursor = rows.at(-1)?.id ?? 0;
      // All vectors are up to date: unused ones are removed now.
      if (rows.length === 0) tidy();
      return [...new Map(rows.map(({ hash, text }) => [hash, { hash, text }])).values()];
    },
    put(rows) {
      // An empty vector marks a text that the embedder rejects.
      const size = rows.find(({ vector }) => vector.length > 0)?.vector.length;
      inTransaction(database, () => {
        if (size !== undefined) space.measure(size);
        const now = Date.now();
        for (const { hash, vector } of rows) {
          const live = isZero(vector) ? -1 : 1;
          const { lastInsertRowid: id, changes } = sql.put.run(space.id, hash, live, now, toBytes(vector));
          if (live === 1 && Number(changes) > 0) nearest.add(space, Number(id), toBytes(vector));
        }
      });
    },
    search: (query, limit) => find(sql, nearest, space, query, limit),
    nearness: (query, ids) =>
      ids.flatMap((id) => {
        const vector = sql.vectorOf.get(id, space.id)?.["vector"] as Uint8Array | undefined;
        return vector === undefined ? [] : [{ id, score: Math.max(0, dot(query, fromBytes(vector))) }];
      }),
    status() {
      const { chunks, ready } = sql.count.get(space.id) as { chunks: number; ready: number };
      const dimensions = space.dimensions();
      const size = dimensions === undefined ? {} : { dimensions };
      return { enabled: true, engine: nearest.engine, ...size, ready, missing: chunks - ready };
    },
    sweep: tidy,
  };
}

type Sql = ReturnType<typeof prepare>;

function prepare(database: DatabaseSync) {
  const has = "SELECT 1 FROM embeddings e WHERE e.space = ? AND e.hash = c.hash";
  return {
    pending: database.prepare(
      `SELECT c.id, c.hash, c.text FROM chunks c WHERE c.id > ? AND NOT EXISTS (${has}) ORDER BY c.id LIMIT ?`,
    ),
    put: database.prepare(
      "INSERT INTO embeddings (space, hash, live, used, vector) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
    ),
    cached: database.prepare(
      `SELECT id, vector FROM embeddings e WHERE space = ? AND live = 0
        AND EXISTS (SELECT 1 FROM chunks c WHERE c.hash = e.hash) LIMIT ?`,
    ),
    setLive: database.prepare("UPDATE embeddings SET live = ?, used = ? WHERE id = ?"),
    chunksOf: database.prepare("SELECT c.id FROM embeddings e JOIN chunks c ON c.hash = e.hash WHERE e.id = ?"),
    vectorOf: database.prepare(
      "SELECT e.vector FROM chunks c JOIN embeddings e ON e.hash = c.hash WHERE c.id = ? AND e.space = ? AND e.live = 1",
    ),
    dead: database.prepare(
      "SELECT id FROM embeddings e WHERE space = ? AND live = 1 AND NOT EXISTS (SELECT 1 FROM chunks c WHERE c.hash = e.hash)",
    ),
    count: database.prepare(
      `SELECT count(*) AS chunks, count(*) FILTER (WHERE EXISTS (${has})) AS ready FROM chunks c`,
    ),
  };
}

function find(sql: Sql, nearest: Nearest, space: Space, query: Float32Array, limit: number): readonly Ranked[] {
  if (isZero(query) || query.length !== space.dimensions()) return [];
  // Removed texts are still found until they are swept: then the search continues, within a limit.
  for (let wide = limit + 32; ; wide *= 4) {
    const near = nearest.search(space, query, wide);
    const found = near.flatMap(({ id, score }) =>
      (sql.chunksOf.all(id) as { id: number }[]).map((chunk) => ({ id: chunk.id, score })),
    );
    if (found.length >= limit || near.length < wide || wide > 4096) return found.slice(0, limit);
  }
}

/** Texts that came back, or that another index file has vectors for. */
function revive(database: DatabaseSync, sql: Sql, space: Space, nearest: Nearest): void {
  for (;;) {
    const rows = sql.cached.all(space.id, maxRevived) as { id: number; vector: Uint8Array }[];
    if (rows.length === 0) return;
    inTransaction(database, () => {
      for (const { id, vector } of rows) {
        sql.setLive.run(1, Date.now(), id);
        nearest.add(space, id, vector);
      }
    });
  }
}

function sweep(database: DatabaseSync, sql: Sql, nearest: Nearest, space: Space, maxCached: number): void {
  const now = Date.now();
  for (const { id } of sql.dead.all(space.id) as { id: number }[]) {
    nearest.remove(space, id);
    sql.setLive.run(0, now, id);
  }
  const isWhole = sql.pending.get(0, space.id, 1) === undefined;
  // Vectors of another embedder stay searchable until this one is complete.
  if (isWhole) space.retireOthers();
  database
    .prepare(
      `DELETE FROM embeddings WHERE id IN (
        SELECT id FROM embeddings WHERE live = 0 OR (live = -1 AND space <> ?) ORDER BY used DESC, id DESC LIMIT -1 OFFSET ?)`,
    )
    .run(space.id, maxCached);
}

/** Reuses the vectors of another file of this agent for equal texts, so that a rebuild costs no requests. */
function adopt(database: DatabaseSync, file: string, fingerprint: string, space: number): void {
  database.prepare("ATTACH DATABASE ? AS other").run(file);
  try {
    const known = database.prepare("SELECT 1 FROM other.sqlite_schema WHERE name = 'embeddings'").get();
    if (known === undefined) return;
    database
      .prepare(
        `INSERT INTO main.embeddings (space, hash, live, used, vector)
          SELECT ?, o.hash, min(o.live, 0), o.used, o.vector FROM other.embeddings o
          WHERE o.space = (SELECT id FROM other.spaces WHERE fingerprint = ?) ON CONFLICT DO NOTHING`,
      )
      .run(space, fingerprint);
    database
      .prepare(
        "UPDATE main.spaces SET dimensions = coalesce(dimensions, (SELECT dimensions FROM other.spaces WHERE fingerprint = ?)) WHERE id = ?",
      )
      .run(fingerprint, space);
  } finally {
    database.exec("DETACH DATABASE other");
  }
}

function inTransaction(database: DatabaseSync, act: () => void): void {
  if (database.isTransaction) return act();
  database.exec("BEGIN IMMEDIATE");
  try {
    act();
    database.exec("COMMIT");
  } catch (error) {
    database.exec("ROLLBACK");
    throw error;
  }
}
