// Putting sub-agents away, over a real store: in time, and without spinning on what cannot be read.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { systemClock } from "../../base/clock.ts";
import type { Log } from "../../base/log.ts";
import type { SessionKey } from "../../core/names.ts";
import { newSession } from "../../session/session.ts";
import type { Turns } from "../../session/turns.ts";
import { openSqliteStore } from "../../store/sqlite.ts";
import type { ChildRecord } from "../../store/store.ts";
import { createArchive } from "./archive.ts";
import { createLater } from "./later.ts";

const silent: Log = { error() {}, warn() {}, info() {}, debug() {}, child: () => silent };
const turns = (): Turns => ({ active: () => [] }) as never;

test("a row that cannot be read is left alone with a pause, and the others are put away", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "archive-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, "store.sqlite");
  const store = await openSqliteStore({ file, onDamage: () => {} });
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
    due: (...wish: Parameters<typeof store.children.due>) => {
      looks += 1;
      return store.children.due(...wish);
    },
  };
  const later = createLater(silent);
  const archive = createArchive({ store: { sessions: store.sessions, children }, turns, clock: systemClock }, later);
  archive.arm();
  for (let tries = 0; (await store.sessions.get(good.childKey)) !== undefined && tries < 3000; tries++) await sleep(20);
  await sleep(300);
  assert.equal(await store.sessions.get(good.childKey), undefined);
  assert.ok(looks <= 2, `it looked ${looks} times`);
  later.close();
  archive.close();
  await store.close();
});
