// POL-019: a turn is nobody's until its poster says that it is the owner's, and only two posters ever say so.
import assert from "node:assert/strict";
import { globSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";

import type { SessionKey } from "../core/names.ts";
import { openSqliteStore } from "../store/sqlite.ts";
import type { Store } from "../store/store.ts";
import { isOwnerTurn, untrustedSource } from "./provenance.ts";

const root = join(dirname(fileURLToPath(import.meta.url)), "..", "..");
const sessionKey = "agent:main:main" as SessionKey;
let folder: string;
let store: Store;
before(async () => {
  folder = mkdtempSync(join(tmpdir(), "openclaw-owner-"));
  store = await openSqliteStore({ file: join(folder, "s.sqlite") });
});
after(async () => {
  await store.close();
  rmSync(folder, { recursive: true, force: true });
});

async function post(runId: string, flags: object): Promise<string> {
  const turn = { runId, sessionKey, text: "hi", source: "reaction", ...flags };
  await store.inbox.post({ id: runId, sessionKey, runId, at: 1, body: { turn, nonce: "n" } });
  return runId;
}
const begin = (id: string, body: object): Promise<unknown> =>
  store.runs.put({ id, sessionKey, state: "running", startedAt: 1, body });
const judged = async (turn: string): Promise<[boolean, string | undefined]> => [
  await isOwnerTurn({ store }, turn),
  await untrustedSource(store, turn),
];

test("POL-019 no flags, or half of them, or other words than true: not the owner's", async () => {
  const answerer = { clientId: "x", surface: "chat" };
  for (const [index, flags] of [
    {},
    { authorised: false },
    { admin: true },
    { authorised: false, admin: true },
    { approver: answerer },
    { approver: answerer, admin: true },
    { authorised: "true", admin: true },
    { authorised: 1, admin: 1 },
  ].entries()) {
    const [isOwners, door] = await judged(await post(`none-${index}`, flags));
    assert.deepEqual([isOwners, door], [false, "reaction"], JSON.stringify(flags));
  }
  assert.deepEqual(await judged(await post("writer", { authorised: true })), [false, undefined]);
  assert.deepEqual(await judged(await post("half", { authorised: true, admin: "yes" })), [false, undefined]);
  assert.deepEqual(await judged(await post("owner", { authorised: true, admin: true })), [true, undefined]);
});

test("POL-019 an owner's turn that others' words came into is no longer the owner's", async () => {
  const flags = { authorised: true, admin: true };
  await post("stranger", {});
  for (const field of ["merged", "overheard"]) {
    await begin(await post(`with-${field}`, flags), { [field]: ["stranger"] });
    assert.deepEqual(await judged(`with-${field}`), [false, "reaction"]);
  }
  await begin(await post("with-own", flags), { merged: ["owner-2"], overheard: [] });
  await post("owner-2", flags);
  assert.deepEqual(await judged("with-own"), [true, undefined]);
});

test("POL-019 a letter nobody can read is nobody's", async () => {
  await store.inbox.post({ id: "torn", sessionKey, runId: "torn", at: 1, body: { turn: { runId: "other" } } });
  assert.deepEqual(await judged("torn"), [false, "unknown"]);
});

test("POL-019 of all who post turns, only a person's own client and shell ever say that it is theirs", () => {
  const sources = globSync("src/**/*.ts", { cwd: root })
    .filter((path) => !/\.(?:test|cases)\.ts$/.test(path))
    .map((path) => ({ path, code: readFileSync(join(root, path), "utf8") }));
  const files = (pattern: RegExp): string[] =>
    sources.flatMap(({ path, code }) => (pattern.test(code) ? [path] : [])).toSorted();
  assert.deepEqual(files(/\bauthorised: true\b/), ["src/cli/agent-here.ts", "src/gateway/methods/chat.ts"]);
  assert.deepEqual(files(/\badmin: true\b/), ["src/cli/agent-here.ts", "src/gateway/methods/chat.ts"]);
  // Who else makes turns says no, each by itself.
  assert.deepEqual(files(/\bauthorised: false\b/), [
    "src/agent/heartbeat/turn.ts",
    "src/agent/runner.ts", // replies without a model
    "src/agent/session-messages/steps.ts", // sessions_send
    "src/agent/subagent/announce.ts",
    "src/agent/subagent/spawn.ts",
    "src/agent/subagent/subagents.ts",
    "src/cron/perform.ts",
    "src/gateway/http/openai-turn.ts",
    "src/gateway/node-messages.ts",
    "src/gateway/webhook/act.ts",
    "src/plugin/hook/bundled/boot-md.ts",
  ]);
});
