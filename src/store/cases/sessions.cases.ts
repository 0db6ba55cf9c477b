// Contract cases of the session table.
import assert from "node:assert/strict";
import { it } from "node:test";

import fc from "fast-check";

import { sessionKindOf, splitSessionKey, type AgentId, type SessionKey } from "../../core/names.ts";
import type { Ground } from "./context.ts";
import type { SessionQuery, SessionRecord } from "../store.ts";
import { anyBody, keyOf, newSession } from "./sample.ts";

export function sessionCases(ground: Ground): void {
  it("lists sessions by the kind of their key, as parseKey reads it", async () => {
    const rests = [
      "main",
      "x",
      "group:1",
      "telegram:group:-5",
      "slack:channel:c1:thread:2",
      "matrix:room:!r",
      "group",
      "room",
      "cron:j1",
      "cron:j1:run:2",
      "x:cron:1",
      "hook:1",
      "hook",
      "node-7",
      "subagent:1",
      "a:node-1",
      "dm:group",
    ];
    const keys = ["main", "group", "cron"].flatMap((agent) => rests.map((rest) => keyOf(rest, agent)));
    const put = keys.map((key) => newSession({ key, agentId: splitSessionKey(key).agentId, sessionId: key }));
    await Promise.all(put.map((record) => ground.store().sessions.put(record)));
    for (const keyKind of ["group", "cron", "hook", "node", "other"] as const) {
      const expected = keys.filter((key) => {
        const kind = sessionKindOf(key);
        return key.startsWith("agent:main:") && (kind === "main" ? "other" : kind) === keyKind;
      });
      const listed = await ground.store().sessions.list({ agentId: "main" as AgentId, keyKind });
      assert.deepEqual(
        listed.map(({ key }) => key),
        expected.toSorted(),
      );
    }
  });

  it("returns a stored record by key and by session id, also over a restart", async () => {
    const full = newSession({
      label: "Ünïcode ☕",
      spawnedBy: keyOf("parent"),
      entry: { tokens: { total: 3 }, note: null },
    });
    const bare = newSession({ key: keyOf("bare"), entry: {} });
    await ground.store().sessions.put(full);
    await ground.store().sessions.put(bare);
    const store = await ground.restart();
    assert.deepEqual(await store.sessions.get(full.key), full);
    assert.deepEqual(await store.sessions.byId(bare.sessionId), bare);
    assert.equal(await store.sessions.get(keyOf("nobody")), undefined);
    assert.equal(await store.sessions.byId("nobody"), undefined);
  });

  it("replaces the whole record, and drops fields that the new one omits", async () => {
    const { sessions } = ground.store();
    await sessions.put(newSession({ label: "old", spawnedBy: keyOf("parent") }));
    const next = newSession({ sessionId: "fresh", updatedAt: 3_000, entry: {} });
    await sessions.put(next);
    assert.deepEqual(await sessions.list({}), [next]);
    assert.equal(await sessions.byId("id-of-agent:main:main"), undefined);
  });

  it("updates in one transaction: concurrent changes are all kept", async () => {
    const { sessions } = ground.store();
    await sessions.put(newSession({ entry: { count: 0 } }));
    const bump = (current: SessionRecord | undefined): SessionRecord =>
      newSession({ entry: { count: Number(current?.entry["count"] ?? 0) + 1 } });
    await Promise.all(Array.from({ length: 50 }, () => sessions.update(keyOf("main"), bump)));
    assert.deepEqual((await sessions.get(keyOf("main")))?.entry, { count: 50 });
  });

  it("update can create or skip, and rejects another key", async () => {
    const { sessions } = ground.store();
    const made = newSession();
    assert.deepEqual(await sessions.update(made.key, () => made), made);
    assert.deepEqual(await sessions.update(made.key, () => undefined), made);
    assert.equal(await sessions.update(keyOf("nobody"), () => undefined), undefined);
    await assert.rejects(
      sessions.update(keyOf("other"), () => made),
      { code: "store.bad-record" },
    );
    assert.deepEqual(await sessions.list({}), [made]);
  });

  it("deletes the record, and its transcript only on request", async () => {
    const { sessions, transcript } = ground.store();
    const entry = { id: "e", type: "message", at: 1, body: "hi" };
    for (const rest of ["kept", "gone"]) {
      await sessions.put(newSession({ key: keyOf(rest), sessionId: rest }));
      await transcript.append(rest, [entry]);
    }
    assert.equal(await sessions.delete(keyOf("kept"), { transcript: false }), true);
    assert.equal(await sessions.delete(keyOf("gone"), { transcript: true }), true);
    assert.equal(await sessions.delete(keyOf("gone"), { transcript: true }), false);
    const store = await ground.restart();
    assert.deepEqual(await store.sessions.list({}), []);
    assert.equal(await store.transcript.count("kept"), 1);
    assert.equal(await store.transcript.count("gone"), 0);
  });

  it("keeps a transcript that another key uses", async () => {
    const { sessions, transcript } = ground.store();
    await sessions.put(newSession({ key: keyOf("a"), sessionId: "shared" }));
    await sessions.put(newSession({ key: keyOf("b"), sessionId: "shared" }));
    await transcript.append("shared", [{ id: "e", type: "message", at: 1, body: 1 }]);
    await sessions.delete(keyOf("a"), { transcript: true });
    assert.equal(await transcript.count("shared"), 1);
  });

  it("counts all sessions, and those of one agent", async () => {
    const { sessions } = ground.store();
    await sessions.put(newSession({ key: keyOf("a") }));
    await sessions.put(newSession({ key: keyOf("b") }));
    await sessions.put(newSession({ key: keyOf("a", "work"), agentId: "work" as AgentId }));
    assert.equal(await sessions.count(), 3);
    assert.equal(await sessions.count("main" as AgentId), 2);
    assert.equal(await sessions.count("nobody" as AgentId), 0);
  });

  it("treats wildcards in a search as literal characters", async () => {
    const { sessions } = ground.store();
    for (const [rest, label] of Object.entries({
      a: "50% off",
      b: "50 off",
      c: "under_score",
      d: "underXscore",
      e: "back\\slash",
    })) {
      await sessions.put(newSession({ key: keyOf(rest), label }));
    }
    const find = async (search: string): Promise<string[]> =>
      (await sessions.list({ search })).map((found) => found.label ?? "");
    assert.deepEqual(await find("50%"), ["50% off"]);
    assert.deepEqual(await find("under_s"), ["under_score"]);
    assert.deepEqual(await find("\\"), ["back\\slash"]);
    assert.deepEqual(await find("%"), ["50% off"]);
    assert.equal((await find("")).length, 5);
  });

  it("searches key, label and session id without case, beyond ASCII, and never across two of them", async () => {
    const { sessions } = ground.store();
    await sessions.put(newSession({ key: keyOf("alpha"), label: "ÄRGER", sessionId: "S-1" }));
    const find = async (search: string): Promise<number> => (await sessions.list({ search })).length;
    assert.deepEqual(
      await Promise.all(
        ["MAIN:ALPHA", "ärger", "s-1", "alpha\u001fä", "alphaä", "nobody", "x".repeat(60_000)].map(find),
      ),
      [1, 1, 1, 0, 0, 0, 0],
    );
  });

  it("lists the newest first under any filter, and pages through each once", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(anyRow, { maxLength: 30 }),
        anyQuery,
        fc.integer({ min: 1, max: 7 }),
        async (rows, query, size) => {
          const { sessions } = ground.store();
          for (const old of await sessions.list({})) await sessions.delete(old.key, { transcript: false });
          const records = rows.map((row, index) =>
            newSession({ ...row, key: keyOf(`k${index}`), sessionId: `Id-${index}` }),
          );
          await Promise.all(records.map((record) => sessions.put(record)));
          const expected = records.filter((record) => fits(record, query)).toSorted(newestFirst);
          assert.deepEqual(await sessions.list(query), expected);
          assert.deepEqual(await sessions.list({ ...query, limit: size }), expected.slice(0, size));
          assert.deepEqual(await pageThrough(ground, query, size), expected);
        },
      ),
      { numRuns: 60 },
    );
  });

  it("returns any entry unchanged", async () => {
    await fc.assert(
      fc.asyncProperty(fc.dictionary(fc.string(), anyBody), async (fields) => {
        const entry = JSON.parse(JSON.stringify(fields)) as Record<string, unknown>;
        await ground.store().sessions.put(newSession({ entry }));
        assert.deepEqual((await ground.store().sessions.get(keyOf("main")))?.entry, entry);
      }),
      { numRuns: 60 },
    );
  });
}

const anyRow = fc.record({
  agentId: fc.constantFrom("main", "work") as fc.Arbitrary<AgentId>,
  updatedAt: fc.integer({ min: 0, max: 6 }),
  label: fc.constantFrom("Red 1", "blue_2", "100%"),
  spawnedBy: fc.constantFrom(keyOf("p1"), keyOf("p2")),
});

const anyQuery: fc.Arbitrary<SessionQuery> = fc.record(
  {
    agentId: fc.constantFrom("main", "work") as fc.Arbitrary<AgentId>,
    label: fc.constantFrom("Red 1", "blue_2"),
    spawnedBy: fc.constantFrom(keyOf("p1"), keyOf("p2")),
    activeSince: fc.integer({ min: 0, max: 6 }),
    search: fc.constantFrom("red", "E_2", "0%", "ID-1", "k2", "%", "_", "zzz"),
  },
  { requiredKeys: [] },
);

function fits(record: SessionRecord, { agentId, label, spawnedBy, activeSince, search }: SessionQuery): boolean {
  if (agentId !== undefined && record.agentId !== agentId) return false;
  if (label !== undefined && record.label !== label) return false;
  if (spawnedBy !== undefined && record.spawnedBy !== spawnedBy) return false;
  if (activeSince !== undefined && record.updatedAt < activeSince) return false;
  const fields = [record.key, record.label ?? "", record.sessionId];
  return search === undefined || fields.some((field) => field.toLowerCase().includes(search.toLowerCase()));
}

function newestFirst(a: SessionRecord, b: SessionRecord): number {
  return b.updatedAt - a.updatedAt || (a.key < b.key ? -1 : 1);
}

async function pageThrough(ground: Ground, query: SessionQuery, size: number): Promise<SessionRecord[]> {
  const all: SessionRecord[] = [];
  let before: { updatedAt: number; key: SessionKey } | undefined;
  for (;;) {
    const page = await ground
      .store()
      .sessions.list({ ...query, limit: size, ...(before === undefined ? {} : { before }) });
    all.push(...page);
    before = page.at(-1);
    if (page.length < size) return all;
  }
}
