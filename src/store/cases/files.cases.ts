// Stores in temporary folders for tests that need the file itself.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after } from "node:test";

import { openSqliteStore } from "../sqlite.ts";
import type { Store } from "../store.ts";
import { keyOf, newCall, newChild, newSession } from "./sample.ts";

/** A fresh path in a private folder that is removed after the test file. */
export function newStoreFile(): string {
  const folder = mkdtempSync(join(tmpdir(), "store-"));
  after(() => rmSync(folder, { recursive: true, force: true }));
  return join(folder, "openclaw.sqlite");
}

/** Rows in every table: `sessions` sessions with `entries` entries each. */
export async function fillStore(store: Store, { sessions = 5, entries = 40 } = {}): Promise<void> {
  const asked: Promise<unknown>[] = [];
  for (let session = 0; session < sessions; session++) {
    const [key, sessionId] = [keyOf(`k${session}`), `session-${session}`];
    asked.push(store.sessions.put(newSession({ key, sessionId, updatedAt: session })));
    const body = { role: "user", content: [{ type: "text", text: `words of ${session} `.repeat(20) }] };
    for (let index = 0; index < entries; index++) {
      asked.push(
        store.transcript.append(sessionId, [{ id: `e${index}`, type: "message", at: index, body: { index, ...body } }]),
      );
    }
    asked.push(store.inbox.post({ id: `l${session}`, sessionKey: key, runId: "r", at: 1, body: "hello" }));
    asked.push(store.runs.put({ id: `r${session}`, sessionKey: key, state: "running", startedAt: 1, body: null }));
    asked.push(store.children.add(newChild({ runId: `r${session}`, childKey: key })));
    asked.push(store.devices.put(`d${session}`, { name: "phone" }));
    asked.push(store.devices.pending.put({ requestId: `q${session}`, deviceId: "d", expiresAt: 9, body: {} }));
    asked.push(store.dedupe.claim("chat", `k${session}`, 9), store.kv.set("s", `k${session}`, session));
    const jobId = `j${session}`;
    const job = { id: jobId, nextAt: 9, createdAt: 1, updatedAt: 1, body: { name: "job" }, state: {} };
    const rows = [{ jobId, slot: "1", at: 1, state: "ran" as const }];
    asked.push(
      store.jobs.put(job),
      store.jobs.claim(jobId, () => ({ job, rows })),
    );
    asked.push(store.journal.record(newCall({ id: `c${session}` }), { durable: false }));
  }
  await Promise.all(asked);
}

/** A closed store with rows in every table. */
export async function newFilledFile(size?: { sessions?: number; entries?: number }): Promise<string> {
  const file = newStoreFile();
  const store = await openSqliteStore({ file });
  await fillStore(store, size);
  await store.close();
  return file;
}
