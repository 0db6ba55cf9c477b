// Archives subagents on time with a real store, without spinning on damaged rows.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { systemClock } from "../../base/clock.ts";
import type { Log } from "../../base/log.ts";
import type { SessionKey } from "../../core/names.ts";
import { newSession } from "../../session/session.ts";
import type { Turns } from "../../session/turns.ts";
import { openSqliteStore } from "../../store/sqlite.ts";
import type { ChildRecord, Store } from "../../store/store.ts";
import { createArchive } from "./archive.ts";
import { createLater } from "./retry-later.ts";

const silent: Log = { error() {}, warn() {}, info() {}, debug() {}, child: () => silent };
const turns = (): Turns => ({ active: () => [] }) as never;

test("skips a damaged row with a pause and archives the others", async (t) => {
  const { store, file } = await openStore(t);
  const good = childOf("good");
  await store.sessions.put(newSession(good.childKey, 1));
  await store.children.add(childOf("bad"));
  await store.children.add(good);
  const side = new DatabaseSync(file);
  side.exec("UPDATE children SET body = '{' WHERE run_id = 'bad'");
  side.close();
  let looks = 0;
  const children = {
    ...store.children,
    due: (...request: Parameters<typeof store.children.due>) => {
      looks += 1;
      return store.children.due(...request);
    },
  };
  const later = createLater(silent);
  const archive = createArchive({ store: { sessions: store.sessions, children }, turns, clock: systemClock }, later);
  archive.arm();
  await untilAway(store, good);
  await sleep(300);
  assert.ok(looks <= 2, `it looked ${looks} times`);
  later.close();
  archive.close();
  await store.close();
});

test("sets the timer again when it fires just before the due time", async (t) => {
  const { store } = await openStore(t);
  const child = { ...childOf("early"), archiveAt: 1000 };
  await store.sessions.put(newSession(child.childKey, 1));
  await store.children.add(child);
  // Said once per look: the first timer finds itself a millisecond early, as the system's own may.
  const times = [990, 999, 999, 1000];
  const clock = { ...systemClock, now: () => times.shift() ?? 1000 };
  const later = createLater(silent);
  const archive = createArchive({ store, turns, clock }, later);
  archive.arm();
  await untilAway(store, child, 20_000);
  later.close();
  archive.close();
  await store.close();
});

async function openStore(t: TestContext): Promise<{ store: Store; file: string }> {
  const folder = mkdtempSync(join(tmpdir(), "archive-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, "store.sqlite");
  return { file, store: await openSqliteStore({ file, onDamage: () => {} }) };
}

const childOf = (id: string): ChildRecord => ({
  runId: id,
  childKey: `agent:main:subagent:${id}` as SessionKey,
  requesterKey: "agent:main:main" as SessionKey,
  state: "told",
  status: "ok",
  createdAt: 1,
  endedAt: 2,
  archiveAt: 3,
  body: { task: "x", agentId: "main", cleanup: "keep", runTimeoutSeconds: 0, sessionId: "s", telling: "turn" },
});

async function untilAway({ sessions }: Store, { childKey }: ChildRecord, timeoutMs = 60_000): Promise<void> {
  const end = Date.now() + timeoutMs;
  while ((await sessions.get(childKey)) !== undefined) {
    assert.ok(Date.now() < end, "still there");
    await sleep(20);
  }
}
