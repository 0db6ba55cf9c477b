// The SQLite store: the shared cases, and what only a file on disk can show.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe } from "node:test";

import { openSqliteStore } from "./sqlite.ts";
import { storeCases, type OpenedStore } from "./store.cases.ts";

describe("the store on SQLite", () => storeCases(openTemporary));

async function openTemporary(): Promise<OpenedStore> {
  const folder = mkdtempSync(join(tmpdir(), "store-"));
  const file = join(folder, "state", "openclaw.sqlite");
  const onDamage = (damage: unknown): void => assert.fail(`damage: ${JSON.stringify(damage)}`);
  let store = await openSqliteStore({ file, onDamage });
  return {
    store,
    async reopen() {
      await store.close();
      store = await openSqliteStore({ file, onDamage });
      return store;
    },
    async close() {
      await store.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
