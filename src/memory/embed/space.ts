// A space: all vectors of one embedder in an index file. Only vectors of one space may be compared.
import type { DatabaseSync } from "node:sqlite";

import type { Nearest, SpaceFacts } from "./nearest.ts";

export interface Space extends SpaceFacts {
  /**
   * Takes the size of the first vectors; another size later means another model under the same name, and all vectors
   * are discarded.
   */
  measure(dimensions: number): void;
  /** Vectors of other embedders become a cache. */
  retireOthers(): void;
}

export function openSpace(database: DatabaseSync, fingerprint: string, nearest: Nearest): Space {
  database.prepare("INSERT INTO spaces (fingerprint) VALUES (?) ON CONFLICT DO NOTHING").run(fingerprint);
  const read = database.prepare("SELECT id, dimensions FROM spaces WHERE fingerprint = ?");
  const row = (): { id: number; dimensions: number | null } =>
    read.get(fingerprint) as { id: number; dimensions: number | null };
  const { id } = row();
  let size = row().dimensions ?? undefined;
  const space: Space = {
    id,
    dimensions: () => (size ??= row().dimensions ?? undefined),
    measure(dimensions) {
      const known = space.dimensions();
      if (known === dimensions) return;
      if (known !== undefined) {
        database.prepare("DELETE FROM embeddings WHERE space = ?").run(id);
        nearest.drop(id);
      }
      database.prepare("UPDATE spaces SET dimensions = ? WHERE id = ?").run(dimensions, id);
      size = dimensions;
    },
    retireOthers() {
      const others = database.prepare("SELECT id FROM spaces WHERE id <> ?").all(id) as { id: number }[];
      for (const other of others) nearest.drop(other.id);
      database.prepare("UPDATE embeddings SET live = 0 WHERE space <> ? AND live = 1").run(id);
    },
  };
  nearest.ready(space);
  return space;
}
