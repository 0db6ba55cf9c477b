// Restart notes: each session gets its notes once, and a damaged file is ignored.
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";

import {
  hasRestartNotes,
  writeRestartNote,
  noteText,
  sentinelPath,
  deliverRestartNotes,
  type RestartNote,
} from "./restart-notes.ts";

const folder = mkdtempSync(join(tmpdir(), "openclaw-sentinel-"));
after(() => rmSync(folder, { recursive: true, force: true }));

const note = (sessionKey: string, message: string, ts = 1_800_000_000_000): RestartNote => ({
  kind: "config-apply",
  status: "ok",
  ts,
  sessionKey,
  message,
  stats: { mode: "config.patch" },
});

async function deliverAll(): Promise<[string, string][]> {
  const delivered: [string, string][] = [];
  await deliverRestartNotes(folder, async (session, text) => void delivered.push([session, text]));
  return delivered;
}

test("stores a note in a private file and removes it after delivery", async () => {
  assert.equal(hasRestartNotes(folder), false);
  assert.equal(writeRestartNote(folder, note("agent:main:main", "hello")), sentinelPath(folder));
  assert.equal(statSync(sentinelPath(folder)).mode & 0o777, 0o600);
  assert.deepEqual(JSON.parse(readFileSync(sentinelPath(folder), "utf8")), {
    version: 1,
    payload: note("agent:main:main", "hello"),
  });
  assert.deepEqual(await deliverAll(), [
    ["agent:main:main", "Gateway restarted (config.patch done, requested 2027-01-15T08:00:00.000Z)\nhello"],
  ]);
  assert.equal(hasRestartNotes(folder), false);
  assert.deepEqual(await deliverAll(), []);
});

test("delivers all notes of one restart, one text per session, in order", async () => {
  writeRestartNote(folder, note("agent:main:a", "first"));
  writeRestartNote(folder, note("agent:main:b", "second"));
  writeRestartNote(folder, note("agent:main:a", "third"));
  const delivered = await deliverAll();
  assert.deepEqual(
    delivered.map(([session]) => session),
    ["agent:main:a", "agent:main:b"],
  );
  assert.match(delivered[0]?.[1] ?? "", /first[\s\S]*third/);
});

test("posts no note without a session, and adds a hint to a failed one", async () => {
  const { sessionKey: _, ...nobody } = note("x", "y");
  writeRestartNote(folder, nobody);
  assert.deepEqual(await deliverAll(), []);
  assert.equal(
    noteText({ kind: "update", status: "error", ts: 0, message: "build failed", doctorHint: "openclaw doctor" }),
    "Gateway restarted (update error, requested 1970-01-01T00:00:00.000Z)\nbuild failed\nIf something is wrong: openclaw doctor",
  );
});

test("keeps the note for the next start when the delivery fails", async () => {
  writeRestartNote(folder, note("agent:main:main", "kept"));
  await assert.rejects(
    deliverRestartNotes(folder, () => Promise.reject(new Error("disk full"))),
    /disk full/,
  );
  assert.equal(hasRestartNotes(folder), true);
  assert.equal((await deliverAll()).length, 1);
});

for (const rubbish of [
  "",
  "{",
  "null",
  "[]",
  '{"payload":{"kind":"x","ts":1}}',
  '{"payload":{"kind":"update","status":"ok","ts":1e300}}',
  '{"version":1,"payload":7,"more":[1,null]}',
])
  test(`ignores a damaged file: ${rubbish}`, async () => {
    writeFileSync(sentinelPath(folder), rubbish);
    assert.deepEqual(await deliverAll(), []);
    assert.equal(hasRestartNotes(folder), false);
  });

test("keeps the newest fifty notes", async () => {
  for (let i = 0; i < 60; i++) writeRestartNote(folder, note(`agent:main:s${i}`, String(i)));
  const delivered = await deliverAll();
  assert.equal(delivered.length, 50);
  assert.equal(delivered.at(-1)?.[0], "agent:main:s59");
});
