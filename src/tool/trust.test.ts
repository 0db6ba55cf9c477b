// Which turns may change steering files: by trust of the turn, also in the owner's own chat.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";

import type { SessionKey } from "../core/names.ts";
import type { Paths } from "../base/paths.ts";
import { openSqliteStore } from "../store/sqlite.ts";
import type { Store } from "../store/store.ts";
import { protectedFolders } from "./trust.ts";

const main = "agent:main:main" as SessionKey;
const room = "agent:main:telegram:group:-1" as SessionKey;
let folder: string;
let store: Store;
before(async () => {
  folder = mkdtempSync(join(tmpdir(), "openclaw-steering-"));
  store = await openSqliteStore({ file: join(folder, "s.sqlite") });
});
after(async () => {
  await store.close();
  rmSync(folder, { recursive: true, force: true });
});

const owners = { authorised: true, admin: true };
const sandboxed = "/boxes/agent-main";
let count = 0;

async function isClosed(sessionKey: SessionKey, source: string, flags: object, merged: readonly string[] = []) {
  const id = await post(sessionKey, source, flags);
  await store.runs.put({ id, sessionKey, state: "running", startedAt: 1, body: { merged } });
  const paths = { state: folder, home: folder } as Paths;
  const closed = await protectedFolders(store, paths, {
    session: sessionKey,
    turn: id,
    config: {},
    workspace: sandboxed,
  });
  assert.equal(closed.includes(sandboxed), closed.length > 0, "a sandbox's own files are closed with the agent's");
  return closed.length > 0;
}

async function post(sessionKey: SessionKey, source: string, flags: object): Promise<string> {
  const id = `turn-${(count += 1)}`;
  const turn = { runId: id, sessionKey, text: "hi", source, ...flags };
  await store.inbox.post({ id, sessionKey, runId: id, at: count, body: { turn, nonce: "n" } });
  return id;
}

test("POL-019 denies messages from a node, a hook or another session in the owner's chat to change steering files", async () => {
  for (const source of ["voice", "node", "hook", "sessions_send"])
    assert.equal(await isClosed(main, source, { authorised: false }), true, source);
  for (const source of ["heartbeat", "cron", "sessions_spawn", "http"])
    assert.equal(await isClosed(main, source, { authorised: false }), false, source);
  assert.equal(await isClosed(main, "chat", owners), false);
  const spoken = await post(main, "voice", { authorised: false });
  assert.equal(await isClosed(main, "chat", owners, [spoken]), true, "merged with the owner's message");
  assert.equal(await isClosed(main, "heartbeat", { authorised: false }, [spoken]), true, "merged with a heartbeat");
});

test("allows only the owner's messages to change steering files in a group", async () => {
  assert.equal(await isClosed(room, "telegram", { authorised: true }), true);
  assert.equal(await isClosed(room, "chat", owners), false);
});
