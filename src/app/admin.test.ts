// Config changes by agents with a real store and files: approved, applied once, interrupted at every step.
import assert from "node:assert/strict";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test, type TestContext } from "node:test";

import type { ApprovalHandler } from "../approval/handler.ts";
import type { AgentId, SessionKey } from "../core/names.ts";
import { resolvePaths } from "../base/paths.ts";
import { loadConfig } from "../config/load.ts";
import { sentinelPath } from "../session/restart-notes.ts";
import type { Wake } from "../session/wake.ts";
import type { Admin, AdminCaller } from "../tool/admin.ts";
import { openAdmin, type OpenAdmin } from "../admin/admin.ts";
import { openRuntime, type Runtime } from "./runtime.ts";

const folder = mkdtempSync(join(tmpdir(), "openclaw-admin-"));
after(() => rmSync(folder, { recursive: true, force: true }));

const caller: AdminCaller = {
  agent: "main" as AgentId,
  session: "agent:main:main" as SessionKey,
  asker: async () => ({ tool: "gateway", agent: "main", session: "agent:main:main", turn: "a-turn", hints: {} }),
};
const owner = { clientId: "page", surface: "webchat" };
const TEXT = `{
  gateway: { mode: "local", auth: { mode: "token", token: "a-secret-of-the-owner-0123" } },
  // how commands run
  tools: { exec: { ask: "on-miss" } }, // mine
}
`;
const loosen = { action: "config.patch", raw: "{tools:{exec:{ask:'off'}}}", delayMs: 5, note: "please" } as const;

interface Ground {
  readonly runtime: Runtime;
  readonly admin: Admin;
  readonly front: OpenAdmin;
  readonly notified: [string, string][];
  readonly restarts: string[];
  readonly file: string;
  close(): Promise<void>;
}

let count = 0;
const newHome = (text = TEXT): string => {
  count += 1;
  const home = join(folder, `home-${count}`);
  mkdirSync(join(home, ".openclaw"), { recursive: true });
  writeFileSync(join(home, ".openclaw", "openclaw.json"), text);
  return home;
};

/** What stands behind a gateway, without its port. `dead` ends it the way kill -9 would leave the store. */
async function open(t: TestContext, home: string): Promise<Ground> {
  const env = { HOME: home };
  const paths = resolvePaths(env);
  const runtime = await openRuntime({ paths, env, loaded: loadConfig({ paths, env }), consoleLevel: "silent" });
  const notified: [string, string][] = [];
  const restarts: string[] = [];
  const wake: Wake = {
    notify: async (session, text) => void notified.push([session, text]),
    notifyAndWait: () => Promise.resolve(undefined),
    resume: () => Promise.resolve(),
    close() {},
  };
  const front = openAdmin({
    ...runtime,
    broker: runtime.commands.broker,
    wake: () => wake,
    restart: (reason) => void restarts.push(reason),
    recallTool: runtime.recallTool,
  });
  let isOpen = true;
  const close = async (): Promise<void> => {
    if (!isOpen) return;
    isOpen = false;
    await front.close();
    await runtime.close();
  };
  t.after(close);
  await front.recover();
  await runtime.commands.broker.recover();
  return { runtime, admin: front.admin, front, notified, restarts, file: paths.config, close };
}

async function until(holds: () => boolean): Promise<void> {
  for (let tries = 0; !holds(); tries++) {
    if (tries > 12_000) throw new Error("never");
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
const idOf = ({ details }: Awaited<ReturnType<Admin["change"]>>): string => String(details["approvalId"]);

test("allowed: writes the change once with comments kept, leaves a note, and restarts once", async (t) => {
  const ground = await open(t, newHome());
  const { admin, runtime, notified, restarts, file } = ground;
  const asked = await admin.change(loosen, caller);
  assert.equal(asked.details["status"], "approval-pending");
  assert.equal(readFileSync(file, "utf8"), TEXT);
  const again = await admin.change(loosen, caller);
  assert.equal(idOf(again), idOf(asked), "the same question is asked once");
  await runtime.commands.broker.answer(idOf(asked), "allow-once", owner);
  await until(() => restarts.length > 0);
  assert.equal(readFileSync(file, "utf8"), TEXT.replace('"on-miss"', '"off"'));
  assert.deepEqual(restarts, ["config.patch: approved by the owner"]);
  assert.equal(existsSync(sentinelPath(runtime.paths.state)), true);
  assert.deepEqual(notified, [], "notified after the restart, not before");
  await ground.close();
  const next = await open(t, runtime.paths.home);
  assert.equal(next.notified.length, 1);
  assert.match(
    next.notified[0]?.[1] ?? "",
    /config\.patch done[\s\S]*The owner allowed it \(id=[0-9a-f-]+\)[\s\S]*Note: please/,
  );
  assert.equal(existsSync(sentinelPath(runtime.paths.state)), false);
});

for (const [how, answer, said] of [
  ["denied", (g: Ground, id: string) => g.runtime.commands.broker.answer(id, "deny", owner), /denied by the owner/],
  [
    "withdrawn with its turn",
    (g: Ground) => g.runtime.commands.broker.withdrawAll(caller.session, "its turn was stopped"),
    /its turn was stopped/,
  ],
] as const)
  test(`${how}: writes no change and notifies the session with the reason`, async (t) => {
    const ground = await open(t, newHome());
    const id = idOf(await ground.admin.change(loosen, caller));
    await answer(ground, id);
    await until(() => ground.notified.length > 0);
    assert.match(ground.notified[0]?.[1] ?? "", said);
    assert.equal(readFileSync(ground.file, "utf8"), TEXT);
    assert.deepEqual(ground.restarts, []);
  });

test("expires without an answer and notifies the session", async (t) => {
  const ground = await open(t, newHome());
  await ground.admin.change({ ...loosen, timeoutMs: 40 }, caller);
  await until(() => ground.notified.length > 0);
  assert.match(
    ground.notified[0]?.[1] ?? "",
    /Config change denied \(id=[0-9a-f-]+\): the approval expired without an answer\. Nothing was written/,
  );
  assert.equal(readFileSync(ground.file, "utf8"), TEXT);
});

test("denies the change with a diff when the file changed meanwhile", async (t) => {
  const ground = await open(t, newHome());
  const id = idOf(await ground.admin.change(loosen, caller));
  const edited = TEXT.replace("// mine", "// still mine");
  writeFileSync(ground.file, edited);
  await ground.runtime.commands.broker.answer(id, "allow-once", owner);
  await until(() => ground.notified.length > 0);
  assert.match(ground.notified[0]?.[1] ?? "", /has changed since it was read\n--- a\/openclaw\.json\n/);
  assert.equal(readFileSync(ground.file, "utf8"), edited);
  assert.deepEqual(ground.restarts, []);
});

test("applies a change that is approved after a restart, once", async (t) => {
  const first = await open(t, newHome());
  const id = idOf(await first.admin.change(loosen, caller));
  await first.close();
  const next = await open(t, first.runtime.paths.home);
  assert.equal(next.runtime.commands.broker.pending()[0]?.kind, "config");
  await next.runtime.commands.broker.answer(id, "allow-once", owner);
  await until(() => next.restarts.length > 0);
  assert.match(readFileSync(next.file, "utf8"), /ask: "off" \} \}, \/\/ mine/);
  await assert.rejects(next.runtime.commands.broker.answer(id, "allow-once", owner), /unknown approval id/);
});

/** Stands for a process that dies while it carries out what was allowed. */
const neverEnding: ApprovalHandler = {
  name: "config",
  kind: "config",
  canAllowAlways: false,
  card: () => assert.fail("asks for nothing"),
  recheck: async () => {},
  run: () => new Promise(() => {}),
  denied: async () => {},
  interrupted: async () => {},
};

for (const [when, isWritten, said] of [
  ["before it was written", false, /stopped before it was written/],
  ["after it was written", true, /Config change applied/],
] as const)
  test(`killed ${when}: does not repeat the change, and reports its true outcome once`, async (t) => {
    const first = await open(t, newHome());
    const id = idOf(await first.admin.change(loosen, caller));
    const { broker } = first.runtime.commands;
    await first.front.close();
    broker.register("config", async () => neverEnding);
    await broker.answer(id, "allow-once", owner);
    await until(() => broker.get(id)?.state === "started");
    if (isWritten) writeFileSync(first.file, TEXT.replace('"on-miss"', '"off"'));
    const before = readFileSync(first.file, "utf8");
    await first.close();
    const next = await open(t, first.runtime.paths.home);
    await until(() => next.notified.length > 0);
    assert.match(next.notified[0]?.[1] ?? "", said);
    assert.equal(readFileSync(next.file, "utf8"), before);
    await next.close();
    const third = await open(t, first.runtime.paths.home);
    assert.deepEqual(third.notified, []);
  });

test("denies a change that was allowed but killed before it began, and notifies the session", async (t) => {
  const first = await open(t, newHome());
  const id = idOf(await first.admin.change(loosen, caller));
  const { broker } = first.runtime.commands;
  await first.front.close();
  let loads = 0;
  broker.register("config", () => (loads++ === 0 ? Promise.resolve(neverEnding) : new Promise(() => {})));
  await broker.answer(id, "allow-once", owner);
  await first.close();
  const next = await open(t, first.runtime.paths.home);
  await until(() => next.notified.length > 0);
  assert.match(next.notified[0]?.[1] ?? "", /between the answer and the start/);
  assert.equal(readFileSync(next.file, "utf8"), TEXT);
});

test("shows no secret on the card, and a changed secret by its path", async (t) => {
  const ground = await open(t, newHome());
  await ground.admin.change(
    { action: "config.patch", raw: "{gateway:{auth:{token:'another-secret-9876543210'}}}" },
    caller,
  );
  const [approval] = ground.runtime.commands.broker.pending();
  const shown = JSON.stringify([approval?.card, approval?.request]);
  assert.doesNotMatch(shown, /a-secret-of-the-owner|another-secret/);
  assert.match(shown, /Only secrets change/);
  assert.match(shown, /gateway\.auth\.token \(changed\): decides who may connect/);
  assert.doesNotMatch(JSON.stringify(approval?.body), /a-secret-of-the-owner/, "nor does what is kept");
});

test("keeps redacted secrets in config.apply and changes only the difference", async (t) => {
  const ground = await open(t, newHome());
  const { details } = await ground.admin.configGet();
  const config = details["config"] as Record<string, unknown>;
  assert.match(JSON.stringify(config), /__OPENCLAW_REDACTED__/);
  const raw = JSON.stringify({ ...config, ui: { assistant: { name: "Ada" } } });
  const done = await ground.admin.change({ action: "config.apply", raw, baseHash: String(details["hash"]) }, caller);
  assert.equal(done.details["ok"], true, JSON.stringify(done));
  const text = readFileSync(ground.file, "utf8");
  assert.match(text, /a-secret-of-the-owner-0123/);
  assert.match(text, /\/\/ how commands run[\s\S]*\/\/ mine/);
  assert.match(text, /Ada/);
  assert.deepEqual(ground.restarts, ["config.apply: config"]);
});

test("does not restart for a change without effect", async (t) => {
  const ground = await open(t, newHome());
  const same = await ground.admin.change({ ...loosen, raw: "{tools:{exec:{ask:'on-miss'}}}" }, caller);
  assert.equal(same.details["changed"], false);
  assert.deepEqual([ground.restarts, ground.runtime.commands.broker.pending()], [[], []]);
});

for (const [what, ask, code] of [
  ["an unknown key", { ...loosen, raw: "{nope:1}" }, "config.invalid"],
  ["a stale base hash", { ...loosen, baseHash: "0".repeat(64) }, "config.conflict"],
  ["no object", { ...loosen, raw: "[1]" }, "config.bad-patch"],
  ["broken JSON5", { ...loosen, raw: "{a:" }, "config.bad-patch"],
  [
    "the marker where nothing is stored",
    { ...loosen, raw: "{hooks:{token:'__OPENCLAW_REDACTED__'}}" },
    "config.redacted",
  ],
  [
    "more than anybody reads",
    { ...loosen, raw: JSON.stringify({ tools: { deny: Array.from({ length: 3000 }, (_, at) => `tool-${at}`) } }) },
    "approval.too-long",
  ],
] as const)
  test(`rejects ${what} before asking for approval, and leaves the file unchanged`, async (t) => {
    const ground = await open(t, newHome());
    await assert.rejects(ground.admin.change(ask, caller), { code });
    assert.equal(readFileSync(ground.file, "utf8"), TEXT);
    assert.deepEqual(ground.runtime.commands.broker.pending(), []);
  });

test("rejects a stale base hash with the difference", async (t) => {
  const ground = await open(t, newHome());
  const { details } = await ground.admin.configGet();
  await ground.admin.edit("ui.assistant.name", { text: "Bea" });
  await assert.rejects(
    ground.admin.change({ ...loosen, baseHash: String(details["hash"]) }, caller),
    /has changed since it was read\n--- a\/openclaw\.json[\s\S]*\+.*Bea/,
  );
});

test("stops restarting after three quick restarts, and still writes the change", async (t) => {
  const home = newHome();
  const restarts: number[] = [];
  for (let i = 0; i < 5; i++) {
    const ground = await open(t, home);
    await ground.admin.change({ ...loosen, raw: `{ui:{assistant:{name:'n${i}'}}}` }, caller);
    restarts.push(ground.restarts.length);
    assert.match(readFileSync(ground.file, "utf8"), new RegExp(`n${i}`));
    await ground.close();
  }
  assert.deepEqual(restarts, [1, 1, 1, 0, 0]);
});

test("applies overrides without writing them, keeps them over an edit, and drops them with the process", async (t) => {
  const ground = await open(t, newHome());
  const { admin, runtime, file } = ground;
  await admin.overrides.set("ui.assistant.name", "Test");
  assert.equal(runtime.settings.now().config.ui?.assistant?.name, "Test");
  assert.equal(readFileSync(file, "utf8"), TEXT);
  await admin.edit("messages.responsePrefix", { text: "hi" });
  runtime.settings.use(runtime.settings.read());
  assert.equal(runtime.settings.now().config.ui?.assistant?.name, "Test");
  assert.equal(runtime.settings.now().config.messages?.responsePrefix, "hi");
  await assert.rejects(admin.overrides.set("ui.nope", "1"), { code: "config.invalid" });
  await admin.overrides.unset("tools.exec.ask");
  assert.deepEqual(
    admin.overrides.list().map(({ path }) => path),
    ["ui.assistant.name", "tools.exec.ask"],
  );
  await admin.overrides.reset();
  assert.equal(runtime.settings.now().config.ui?.assistant?.name, undefined);
  assert.equal(runtime.settings.now().config.tools?.exec?.ask, "on-miss");
  await admin.overrides.set("ui.assistant.name", "Test");
  await ground.close();
  const next = await open(t, runtime.paths.home);
  assert.deepEqual(next.admin.overrides.list(), []);
  assert.equal(next.runtime.settings.now().config.ui?.assistant?.name, undefined);
});
