// A store that is damaged, missing or empty is detected and reported without a request.
import assert from "node:assert/strict";
import { closeSync, mkdirSync, openSync, rmSync, truncateSync, writeSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";

import { fillStore } from "../../../src/store/cases/files.cases.ts";
import { openSqliteStore } from "../../../src/store/sqlite.ts";
import { dispose, operator, startGateway, tempHome, type TestGateway } from "../../harness/gateway.ts";

const PAGE = 4096;

test("a check beside the running gateway finds a store that is damaged in the middle", async () => {
  const home = tempHome();
  const file = join(home, ".openclaw", "openclaw.sqlite");
  mkdirSync(join(home, ".openclaw"), { recursive: true, mode: 0o700 });
  const store = await openSqliteStore({ file });
  await fillStore(store, { sessions: 5, entries: 100 });
  await store.close();
  const gateway = await startGateway({ home, env: { OPENCLAW_STORE_CHECK_MS: "50" } });
  await gateway.stop();
  assert.doesNotMatch(gateway.output(), /the store is damaged/);
  overwriteLeaf(file);
  rmSync(join(home, ".openclaw", "store-record.json"));
  const again = await startGateway({ home, env: { OPENCLAW_STORE_CHECK_MS: "50" } });
  const wire = await operator(again);
  await said(again, /the store is damaged: .*openclaw store salvage/s);
  const payload = await wire.call("health", {});
  const health = payload;
  assert.equal(health.store?.ok, false);
  assert.match(health.store.problem, /the store is damaged/);
  wire.end();
  await dispose(again);
});

test("reports at startup that a store is missing or empty where one existed", async () => {
  const first = await startGateway();
  await first.stop();
  const file = join(first.state, "openclaw.sqlite");
  const cases: readonly [damage: () => void, words: RegExp][] = [
    [() => rmSync(file), /was missing, although one existed since/],
    [() => truncateSync(file, 0), /was empty, although one existed since/],
    [() => (truncateSync(file, 0), rmSync(join(first.state, "store-record.json"))), /was empty; a new one was created/],
  ];
  for (const [damage, words] of cases) {
    damage();
    const gateway = await startGateway({ home: first.home });
    await said(gateway, words);
    await gateway.stop();
  }
  const gateway = await startGateway({ home: first.home });
  await gateway.stop();
  assert.doesNotMatch(gateway.output(), /although there was one/);
  await dispose(gateway);
});

async function said(gateway: TestGateway, words: RegExp): Promise<void> {
  for (let tries = 0; !words.test(gateway.output()); tries++) {
    assert.ok(tries < 1200, `not said: ${gateway.output()}`);
    await sleep(50);
  }
}

function overwriteLeaf(file: string): void {
  const database = new DatabaseSync(file, { readOnly: true });
  const found = database
    .prepare("SELECT pageno FROM dbstat WHERE name = 'transcript' AND pagetype = 'leaf' LIMIT 1 OFFSET 3")
    .get();
  database.close();
  const descriptor = openSync(file, "r+");
  writeSync(descriptor, Buffer.alloc(PAGE, 0xa5), 0, PAGE, (Number(found?.["pageno"]) - 1) * PAGE);
  closeSync(descriptor);
}
