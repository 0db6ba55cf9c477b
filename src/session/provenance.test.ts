// A turn has the owner's trust only when its poster vouches for the sender, and only two posters do.
import assert from "node:assert/strict";
import { globSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";

import type { SessionKey } from "../core/names.ts";
import type { Trust } from "../core/turn-source.ts";
import { openSqliteStore } from "../store/sqlite.ts";
import type { Store } from "../store/store.ts";
import { trustOf, unauthorisedSource } from "./provenance.ts";

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
const judged = async (turn: string): Promise<[Trust, string | undefined]> => [
  await trustOf(store, turn),
  await unauthorisedSource(store, turn),
];

test("POL-019 gives the least trust to a turn whose flags are missing, incomplete or not true", async () => {
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
    const result = await judged(await post(`none-${index}`, flags));
    assert.deepEqual(result, ["untrusted", "reaction"], JSON.stringify(flags));
  }
  assert.deepEqual(await judged(await post("writer", { authorised: true })), ["agent", undefined]);
  assert.deepEqual(await judged(await post("half", { authorised: true, admin: "yes" })), ["agent", undefined]);
  assert.deepEqual(await judged(await post("owner", { authorised: true, admin: true })), ["owner", undefined]);
});

test("POL-019 lowers the trust of an owner's turn when another sender's message joins it", async () => {
  const flags = { authorised: true, admin: true };
  await post("other-sender", {});
  for (const field of ["merged", "overheard"]) {
    await begin(await post(`with-${field}`, flags), { [field]: ["other-sender"] });
    assert.deepEqual(await judged(`with-${field}`), ["untrusted", "reaction"]);
  }
  await begin(await post("with-own", flags), { merged: ["owner-2"], overheard: [] });
  await post("owner-2", flags);
  assert.deepEqual(await judged("with-own"), ["owner", undefined]);
});

test("POL-019 gives the least trust to a turn whose row cannot be read", async () => {
  await store.inbox.post({ id: "torn", sessionKey, runId: "torn", at: 1, body: { turn: { runId: "other" } } });
  assert.deepEqual(await judged("torn"), ["untrusted", "unknown"]);
});

test("reads the mark of rows that earlier releases wrote", async () => {
  assert.equal(await trustOf(store, await post("old-turn", { source: "sessions_spawn", outside: true })), "untrusted");
  assert.equal(
    await trustOf(store, await post("new-turn", { source: "sessions_spawn", untrusted: true })),
    "untrusted",
  );
  assert.equal(await trustOf(store, await post("own-turn", { source: "sessions_spawn" })), "agent");
  for (const mark of ["outside", "untrusted"]) {
    await begin(await post(`beat-${mark}`, { source: "heartbeat" }), { [mark]: true });
    assert.equal(await trustOf(store, `beat-${mark}`), "untrusted");
  }
});

test("POL-019 vouches for senders only in the gateway's chat methods and in the owner's shell", () => {
  const sources = globSync("src/**/*.ts", { cwd: root })
    .filter((path) => !/\.(?:test|cases)\.ts$/.test(path))
    .map((path) => ({ path, code: readFileSync(join(root, path), "utf8") }));
  const files = (pattern: RegExp): string[] =>
    sources.flatMap(({ path, code }) => (pattern.test(code) ? [path] : [])).toSorted();
  assert.deepEqual(files(/\bauthorised: true\b/), ["src/cli/agent-here.ts", "src/gateway/methods/chat.ts"]);
  assert.deepEqual(files(/\badmin: true\b/), ["src/cli/agent-here.ts", "src/gateway/methods/chat.ts"]);
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
