// Rebuilds a store from its records when only derived data is damaged; keeps the old file.
import { OpenClawError } from "../core/error.ts";
import { newSecret } from "../base/ids.ts";
import { removeStore } from "./store-files.ts";
import { restoreStore, type Restored, type RestoreOptions } from "./restore.ts";
import { salvageStore } from "./salvage.ts";

/** Throws `store.damaged` and changes nothing when a record would be lost: a person decides that. */
export async function rebuildStore(file: string, options: RestoreOptions = {}): Promise<Restored> {
  const fresh = `${file}.rebuilt-${newSecret(4)}`;
  try {
    const { lost, doubts } = await salvageStore(file, fresh);
    if (doubts.length > 0)
      throw new OpenClawError(
        "store.damaged",
        `records of ${file} may be missing; nothing was changed: ${doubts.join("; ")}`,
        {
          hint: "openclaw store salvage shows what is readable; openclaw store restore <backup> restores the rest",
        },
      );
    if (lost.length > 0)
      throw new OpenClawError(
        "store.damaged",
        `${lost.length} records of ${file} cannot be read; nothing was changed`,
        {
          hint: "openclaw store salvage names them; openclaw store restore <backup> restores them",
          details: { lost: lost.slice(0, 100) },
        },
      );
    return await restoreStore(fresh, file, options);
  } finally {
    removeStore(fresh);
  }
}
