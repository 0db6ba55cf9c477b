// Notes over a restart: none is pushed out by another, each session is told once, and rubbish tells nobody anything.
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";

import { hasNotes, leaveNote, noteText, sentinelPath, tellNotes, type RestartNote } from "./restart-notes.ts";

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

async function told(): Promise<[string, string][]> {
  const heard: [string, string][] = [];
  await tellNotes(folder, async (session, text) => void heard.push([session, text]));
  return heard;
}

test("a note is a private file in the recorded shape, and gone once it was told", async () => {
  assert.equal(hasNotes(folder), false);
  assert.equal(leaveNote(folder, note("agent:main:main", "hello")), sentinelPath(folder));
  assert.equal(statSync(sentinelPath(folder)).mode & 0o777, 0o600);
  assert.deepEqual(JSON.parse(readFileSync(sentinelPath(folder), "utf8")), {
    version: 1,
    payload: note("agent:main:main", "hello"),
  });
  assert.deepEqual(await told(), [
    ["agent:main:main", "Gateway restarted (config.patch done, asked 2027-01-15T08:00:00.000Z)\nhello"],
  ]);
  assert.equal(hasNotes(folder), false);
  assert.deepEqual(await told(), []);
});

test("requests that became one restart are all told, one line a session, in their order", async () => {
  leaveNote(folder, note("agent:main:a", "first"));
  leaveNote(folder, note("agent:main:b", "second"));
  leaveNote(folder, note("agent:main:a", "third"));
  const heard = await told();
  assert.deepEqual(
    heard.map(([session]) => session),
    ["agent:main:a", "agent:main:b"],
  );
  assert.match(heard[0]?.[1] ?? "", /first[\s\S]*third/);
});

test("a note for nobody tells nobody, and a failed one says what to do", async () => {
  const { sessionKey: _, ...nobody } = note("x", "y");
  leaveNote(folder, nobody);
  assert.deepEqual(await told(), []);
  assert.equal(
    noteText({ kind: "update", status: "error", ts: 0, message: "build failed", doctorHint: "openclaw doctor" }),
    "Gateway restarted (update error, asked 1970-01-01T00:00:00.000Z)\nbuild failed\nIf something is wrong: openclaw doctor",
  );
});

test("telling that fails keeps the note for the next start", async () => {
  leaveNote(folder, note("agent:main:main", "kept"));
  await assert.rejects(
    tellNotes(folder, () => Promise.reject(new Error("disk full"))),
    /disk full/,
  );
  assert.equal(hasNotes(folder), true);
  assert.equal((await told()).length, 1);
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
  test(`rubbish in its place is no note: ${rubbish}`, async () => {
    writeFileSync(sentinelPath(folder), rubbish);
    assert.deepEqual(await told(), []);
    assert.equal(hasNotes(folder), false);
  });

test("a flood of requests keeps the newest fifty", async () => {
  for (let i = 0; i < 60; i++) leaveNote(folder, note(`agent:main:s${i}`, String(i)));
  const heard = await told();
  assert.equal(heard.length, 50);
  assert.equal(heard.at(-1)?.[0], "agent:main:s59");
});
