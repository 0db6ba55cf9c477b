// The cost of a query does not grow with history: checks SQLite's plan of every statement of the tables.
import assert from "node:assert/strict";
import { test } from "node:test";
import { DatabaseSync } from "node:sqlite";

import { newFilledFile } from "./cases/files.cases.ts";
import { keyOf, newCall, newChild, newSession } from "./cases/sample.ts";
import { openForWriting, type Connection } from "./connection.ts";
import type { Sql, Statement, Steps } from "./sql.ts";
import { createChildren } from "./tables/children.ts";
import { createDedupe } from "./tables/dedupe.ts";
import { createDevices } from "./tables/devices.ts";
import { createInbox } from "./tables/inbox.ts";
import { createJobs } from "./tables/jobs.ts";
import { createJournal } from "./tables/journal.ts";
import { createKv } from "./tables/kv.ts";
import { createRuns } from "./tables/runs.ts";
import { createSessions } from "./tables/sessions.ts";
import { createSlots } from "./tables/slots.ts";
import { createTranscript } from "./tables/transcript.ts";

// Reads a whole table because the query asks for it, or an index from its newest end up to the limit.
const scansOnPurpose = new Set([
  "SCAN devices", // list(): all, in the order of pairing
  "SCAN sessions USING COVERING INDEX sessions_key", // count()
  "SCAN letters USING INDEX letters_claimed", // reclaim(): that index contains only claimed rows
  "SCAN letters USING COVERING INDEX letters_pending", // waiting(): only pending rows
  "SCAN runs USING INDEX runs_running", // open(): only running rows
  "SCAN children USING INDEX children_open", // open(): only undelivered rows
  "SCAN children USING COVERING INDEX children_due", // nextDue(): its first entry
  "SCAN sessions USING INDEX sessions_by_time", // list(): from the newest row
  "SCAN jobs", // list(): all, in the order of creation
  "SCAN jobs USING COVERING INDEX jobs_key", // count()
  "SCAN slots USING INDEX slots_running", // running(): only running rows
  "SCAN slots USING COVERING INDEX slots_running", // outlook(): only running rows
  "SCAN journal", // list() and prune(): from the newest row
]);
// waiting(): sorts the few waiting sessions, not their entries.
const sortsOnPurpose = new Set([
  "SELECT session_key FROM letters WHERE state = 'pending' GROUP BY session_key ORDER BY min(n)",
]);

test("answers every statement through an index, without sorting", async () => {
  const file = await newFilledFile();
  const asked = await recordStatements(file);
  assert.ok(asked.length > 45, `only ${asked.length} statements were seen`);
  const database = new DatabaseSync(file);
  const slow = asked.flatMap((text) => {
    const plan = database.prepare(`EXPLAIN QUERY PLAN ${text}`).all();
    const steps = plan.map((row) => String(row["detail"]));
    return steps.filter((step) => isSlow(step, text)).map((step) => `${step}: ${text}`);
  });
  database.close();
  assert.deepEqual(slow, []);
});

function isSlow(step: string, text: string): boolean {
  if (step.startsWith("SCAN")) return !scansOnPurpose.has(step) && step !== "SCAN CONSTANT ROW";
  return step.includes("TEMP B-TREE") && !sortsOnPurpose.has(text);
}

async function recordStatements(file: string): Promise<string[]> {
  const connection = openForWriting(file);
  const texts = new Set<string>();
  const sql = recording(connection, (statement) => texts.add(statement.text));
  const ignore = (): void => {};
  const sessions = createSessions(sql, ignore);
  await sessions.get(keyOf("k1"));
  await sessions.byId("session-1");
  await sessions.count();
  await sessions.count("main" as never);
  for (const query of [
    {},
    { agentId: "main" as never },
    { label: "x" },
    { spawnedBy: keyOf("k1") },
    { agentId: "main" as never, keyKind: "cron" as const },
    { activeSince: 1 },
    { search: "x" },
    { before: newSession() },
  ]) {
    await sessions.list(query);
    await sessions.list({ ...query, limit: 5 });
    await sessions.list({ ...query, agentId: "main" as never, activeSince: 1, before: newSession(), limit: 5 });
  }
  await sessions.put(newSession());
  await sessions.delete(newSession().key, { transcript: true });
  const transcript = createTranscript(sql, ignore);
  await transcript.append("s", [{ id: "e", type: "message", at: 1, body: 1 }]);
  await transcript.tail("s", 5);
  await transcript.tail("s", 5, 3);
  await transcript.count("s");
  const inbox = createInbox(sql, ignore);
  await inbox.post({ id: "x", sessionKey: keyOf("k"), runId: "r", at: 1, body: 1 });
  await inbox.claim(keyOf("k"), 1);
  await inbox.reclaim();
  await inbox.finish("x", "done", 1);
  await inbox.waiting();
  await inbox.prune(5);
  const runs = createRuns(sql, ignore);
  await runs.put({ id: "x", sessionKey: keyOf("k"), state: "running", startedAt: 1, body: 1 });
  await runs.get("x");
  await runs.open();
  await runs.prune(5);
  const children = createChildren(sql, ignore);
  await children.add(newChild({ runId: "p" }));
  await children.get("p");
  await children.update("p", (child) => child);
  await children.ofRequester(keyOf("main"), 5);
  await children.running(keyOf("main"));
  await children.runningOf(keyOf("main"));
  await children.open();
  await children.due(5, 5);
  await children.nextDue();
  await children.prune(5);
  const devices = createDevices(sql, ignore);
  await devices.get("x");
  await devices.list();
  await devices.put("x", 1);
  await devices.delete("x");
  await devices.pending.put({ requestId: "x", deviceId: "d", expiresAt: 1, body: 1 });
  await devices.pending.get("x");
  await devices.pending.byDevice("d");
  await devices.pending.delete("x");
  await devices.pending.prune(5);
  const dedupe = createDedupe(sql);
  await dedupe.claim("s", "k", 1);
  await dedupe.claim("s", "k", 1);
  await dedupe.settle("s", "k", 1);
  await dedupe.prune(5);
  const kv = createKv(sql, ignore);
  await kv.set("s", "k", 1);
  await kv.get("s", "k");
  await kv.list("s");
  await kv.set("s", "k", undefined);
  const journal = createJournal(sql, ignore);
  await journal.record(newCall(), { durable: true });
  await journal.list({});
  await journal.list({ sessionKey: "x", limit: 1 });
  await journal.list({ tool: "x" });
  await journal.list({ outcome: "error" });
  await journal.closeOpenEntries();
  await journal.prune(5);
  const jobs = createJobs(sql, ignore);
  await jobs.put({ id: "j", nextAt: 1, createdAt: 1, updatedAt: 1, body: 1, state: 1 });
  await jobs.get("j");
  await jobs.list();
  await jobs.count();
  await jobs.outlook();
  await jobs.due(5, 1);
  await jobs.update("j", (job) => job);
  await jobs.claim("j", (job) => ({ job, rows: [{ jobId: "j", slot: "1", at: 1, state: "running" }] }));
  await jobs.finish({ jobId: "j", slot: "1" }, { state: "ran" }, () => "delete");
  await jobs.delete("j");
  const slots = createSlots(sql, ignore);
  await slots.get("j", "1");
  await slots.list("j", 5);
  await slots.running();
  await slots.latest();
  await slots.prune("j", 5);
  await slots.pruneGone(5);
  connection.close();
  return [...texts];
}

function recording(connection: Connection, see: (statement: Statement) => void): Sql {
  const run = async <T>(steps: () => Steps<T>): Promise<T> => connection.run(watched(steps(), see));
  return { read: run, write: run };
}

function* watched<T>(steps: Steps<T>, see: (statement: Statement) => void): Steps<T> {
  let turn = steps.next();
  while (turn.done !== true) {
    see(turn.value);
    turn = steps.next(yield turn.value);
  }
  return turn.value;
}
