// Finds the nearest vectors: by the sqlite-vec extension where it loads, otherwise by our own dot products.
import type { DatabaseSync } from "node:sqlite";

import type { VectorOptions } from "./embedder.ts";
import { dot, fromBytes, toBytes } from "./vector.ts";

export interface Near {
  /** `embeddings.id`. */
  readonly id: number;
  /** The cosine, 0 where it would be negative. */
  readonly score: number;
}

/** The part of a space that a search needs (space.ts). */
export interface SpaceFacts {
  readonly id: number;
  dimensions(): number | undefined;
}

export interface Nearest {
  readonly engine: "vec0" | "js";
  /** Why the extension is not used. */
  readonly reason?: string;
  /** Called when a space is opened: adds vectors that were written without the extension. */
  ready(space: SpaceFacts): void;
  add(space: SpaceFacts, id: number, vector: Uint8Array): void;
  remove(space: SpaceFacts, id: number): void;
  search(space: SpaceFacts, query: Float32Array, limit: number): readonly Near[];
  /** Deletes a whole space. */
  drop(spaceId: number): void;
}

export function createNearest(database: DatabaseSync, options: VectorOptions): Nearest {
  if (!options.useExtension) return byHand(database, "memorySearch.store.vector.enabled is false");
  try {
    load(database, options.extensionPath);
    return byExtension(database);
  } catch (error) {
    return byHand(database, error instanceof Error ? error.message : String(error));
  }
}

function load(database: DatabaseSync, path: string | undefined): void {
  if (database.prepare("SELECT 1 FROM pragma_function_list WHERE name = 'vec_version'").get() !== undefined) return;
  database.enableLoadExtension(true);
  try {
    database.loadExtension(path ?? ownExtension());
  } finally {
    // Forbids loading further extensions, so that no SQL can load one.
    database.enableLoadExtension(false);
  }
}

/** The file of the platform's package; resolved at run time, because a bundle cannot contain it. */
function ownExtension(): string {
  const system = process.platform === "win32" ? "windows" : process.platform;
  const suffix = { win32: "dll", darwin: "dylib" }[process.platform as string] ?? "so";
  const { createRequire } = process.getBuiltinModule("node:module");
  return createRequire(import.meta.url).resolve(`sqlite-vec-${system}-${process.arch}/vec0.${suffix}`);
}

function byExtension(database: DatabaseSync): Nearest {
  const tableOf = (spaceId: number): string => `vec_${spaceId}`;
  const isThere = (spaceId: number): boolean =>
    database.prepare("SELECT 1 FROM sqlite_schema WHERE name = ?").get(tableOf(spaceId)) !== undefined;
  const made = new Set<number>();
  const make = (space: SpaceFacts): boolean => {
    if (made.has(space.id)) return true;
    const dimensions = space.dimensions();
    if (dimensions === undefined) return false;
    database.exec(
      `CREATE VIRTUAL TABLE IF NOT EXISTS ${tableOf(space.id)} USING vec0(id INTEGER PRIMARY KEY, vector float[${dimensions}] distance_metric=cosine)`,
    );
    made.add(space.id);
    return true;
  };
  const add = (space: SpaceFacts, id: number, vector: Uint8Array): void => {
    make(space);
    database.prepare(`INSERT INTO ${tableOf(space.id)} (id, vector) VALUES (?, ?)`).run(BigInt(id), vector);
  };
  return {
    engine: "vec0",
    ready(space) {
      if (!make(space)) return;
      const table = tableOf(space.id);
      // Differs only in a file that was used without the extension.
      const sum = (from: string): string =>
        Object.values(database.prepare(`SELECT count(*), total(id) FROM ${from}`).get() ?? {}).join("/");
      if (sum(table) === sum(`embeddings WHERE space = ${space.id} AND live = 1`)) return;
      database.exec(`DELETE FROM ${table}`);
      database.exec(
        `INSERT INTO ${table} (id, vector) SELECT id, vector FROM embeddings WHERE space = ${space.id} AND live = 1`,
      );
    },
    add,
    remove(space, id) {
      if (make(space)) database.prepare(`DELETE FROM ${tableOf(space.id)} WHERE id = ?`).run(BigInt(id));
    },
    search(space, query, limit) {
      if (!make(space)) return [];
      const rows = database
        .prepare(`SELECT id, distance FROM ${tableOf(space.id)} WHERE vector MATCH ? AND k = ?`)
        .all(toBytes(query), Math.min(limit, maxNeighbors)) as { id: number; distance: number }[];
      return rows.map(({ id, distance }) => ({ id, score: Math.max(0, 1 - distance) }));
    },
    drop(spaceId) {
      made.delete(spaceId);
      if (isThere(spaceId)) database.exec(`DROP TABLE ${tableOf(spaceId)}`);
    },
  };
}

/** The extension returns no more rows in one query. */
const maxNeighbors = 4096;

function byHand(database: DatabaseSync, reason: string): Nearest {
  const all = "SELECT id, vector FROM embeddings WHERE space = ? AND live = 1";
  return {
    engine: "js",
    reason,
    ready() {},
    add() {},
    remove() {},
    search(space, query, limit) {
      const best = createBest(limit);
      for (const row of database.prepare(all).iterate(space.id)) {
        const { id, vector } = row as { id: number; vector: Uint8Array };
        best.offer(id, dot(query, fromBytes(vector)));
      }
      return best.list().map(({ id, score }) => ({ id, score: Math.max(0, score) }));
    },
    drop() {},
  };
}

/** The best few of many, without sorting all. */
function createBest(limit: number): { offer(id: number, score: number): void; list(): readonly Near[] } {
  let kept: Near[] = [];
  let floor = -Infinity;
  const trim = (): void => {
    kept = kept.toSorted((left, right) => right.score - left.score || left.id - right.id).slice(0, limit);
    floor = kept.length < limit ? -Infinity : (kept.at(-1)?.score ?? -Infinity);
  };
  return {
    offer(id, score) {
      if (score <= floor) return;
      kept.push({ id, score });
      if (kept.length >= limit * 2 + 16) trim();
    },
    list() {
      trim();
      return kept;
    },
  };
}
