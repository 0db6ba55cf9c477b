// Which hooks are found where, which of two with the same name wins, and why one does not run.
import assert from "node:assert/strict";
import { chmodSync, linkSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";

import { resolvePaths } from "../../base/paths.ts";
import type { Config } from "../../config/schema/index.ts";
import { OpenClawError } from "../../core/error.ts";
import { bundledCards } from "./bundled/cards.ts";
import { readCard } from "./card.ts";
import { discoverHooks } from "./discover.ts";
import { readHookFiles } from "./folder.ts";
import type { HookRow } from "./hook.ts";
import { scriptOf } from "./pinned.ts";

interface Place {
  readonly home: string;
  readonly state: string;
  readonly workspace: string;
  readonly put: (folder: string, name: string, card?: string) => string;
  readonly rows: (internal: object, more?: object) => Record<string, HookRow>;
}

function place(t: TestContext): Place {
  const home = mkdtempSync(join(tmpdir(), "openclaw-hooks-"));
  t.after(() => rmSync(home, { recursive: true, force: true }));
  const env = { HOME: home, PATH: process.env["PATH"] };
  const paths = resolvePaths(env);
  mkdirSync(paths.state, { mode: 0o700 });
  return {
    home,
    state: paths.state,
    workspace: join(paths.state, "workspace"),
    put(folder, name, card = "metadata: { openclaw: { events: [command:new] } }") {
      const own = join(folder, name);
      mkdirSync(own, { recursive: true, mode: 0o700 });
      writeFileSync(join(own, "HOOK.md"), `---\n${card}\n---\n`, { mode: 0o600 });
      writeFileSync(join(own, "handler.js"), "export default () => {};\n", { mode: 0o600 });
      return own;
    },
    rows(internal, more = {}) {
      const config = { hooks: { internal }, ...more } as Config;
      const found = discoverHooks({ config, paths, env, bundled: bundledCards });
      return Object.fromEntries(found.map((row) => [row.name, row]));
    },
  };
}

const on = (...names: string[]): object => ({
  enabled: true,
  entries: Object.fromEntries(names.map((name) => [name, { enabled: true }])),
});

test("prefers the state folder to bundled hooks and those to extra folders; a workspace only with a pin", (t) => {
  const { put, rows, state, home, workspace } = place(t);
  const extra = join(home, "extra");
  put(extra, "boot-md");
  put(extra, "lone");
  put(join(state, "hooks"), "command-logger");
  put(join(state, "hooks"), "session-memory");
  const own = put(join(workspace, "hooks"), "session-memory");
  const load = { load: { extraDirs: [extra] } };
  const plain = rows({ ...on("boot-md", "command-logger", "session-memory", "lone"), ...load });
  assert.deepEqual(
    Object.values(plain).map(({ name, source, runs }) => [name, source, runs]),
    [
      ["boot-md", "bundled", true],
      ["command-logger", "managed", true],
      ["lone", "extra", true],
      ["session-memory", "managed", true],
    ],
  );
  const pin = readHookFiles(own).digest;
  const pinned = rows({ enabled: true, entries: { "session-memory": { enabled: true, pin } } });
  assert.deepEqual([pinned["session-memory"]?.source, pinned["session-memory"]?.runs], ["workspace", true]);
});

test("runs no hook unless both switches are on", (t) => {
  const { put, rows, state } = place(t);
  put(join(state, "hooks"), "mine");
  const entries = { mine: { enabled: true } };
  const states = [
    {},
    { entries },
    { enabled: true },
    { enabled: true, entries: { mine: { enabled: false } } },
    { enabled: true, entries: { mine: {} } },
  ];
  for (const internal of states) assert.equal(rows(internal)["mine"]?.runs, false, JSON.stringify(internal));
  assert.equal(rows({ enabled: true, entries })["mine"]?.runs, true);
});

test("requires a pin for a folder inside a workspace, also through a link", (t) => {
  const { put, rows, state, home, workspace } = place(t);
  put(join(workspace, "tools"), "inner");
  symlinkSync(join(workspace, "tools"), join(home, "looks-safe"));
  for (const folder of [join(workspace, "tools"), join(home, "looks-safe")]) {
    const row = rows({ ...on("inner"), load: { extraDirs: [folder] } })["inner"];
    assert.deepEqual([row?.needsPin, row?.runs], [true, false], folder);
  }
  put(join(state, "hooks"), "mine");
  const wide = rows(on("mine"), { agents: { defaults: { workspace: home } } })["mine"];
  assert.deepEqual([wide?.needsPin, wide?.runs], [true, false], "a workspace that contains the state folder");
});

test("does not run links, hard links, and files that other users can write", (t) => {
  const { put, rows, state, home } = place(t);
  const hooks = join(state, "hooks");
  const spoil: Record<string, (own: string) => void> = {
    loose: (own) => chmodSync(join(own, "handler.js"), 0o666),
    open: (own) => chmodSync(own, 0o777),
    linked: (own) => linkSync(join(own, "handler.js"), join(home, "second")),
    pointing(own) {
      rmSync(join(own, "handler.js"));
      symlinkSync(join(home, "elsewhere.js"), join(own, "handler.js"));
      writeFileSync(join(home, "elsewhere.js"), "export default () => {};");
    },
    empty: (own) => rmSync(join(own, "handler.js")),
  };
  for (const [name, change] of Object.entries(spoil)) change(put(hooks, name));
  symlinkSync(put(join(home, "far"), "away"), join(hooks, "away"));
  const found = rows(on(...Object.keys(spoil), "away"));
  for (const name of [...Object.keys(spoil), "away"]) {
    assert.equal(found[name]?.runs, false, name);
    assert.ok((found[name]?.problem ?? "").length > 10, name);
  }
});

test("compares every file with the pin, and runs a copy of what was compared", (t) => {
  const { put, rows, workspace, state } = place(t);
  const own = put(join(workspace, "hooks"), "pinned");
  writeFileSync(join(own, "part.js"), "export const n = 1;");
  const entry = { enabled: true, pin: readHookFiles(own).digest };
  const internal = { enabled: true, entries: { pinned: entry } };
  const row = rows(internal)["pinned"];
  assert.equal(row?.runs, true);
  const script = scriptOf(row as HookRow, state);
  assert.ok(script.startsWith(join(state, "cache", "hooks", "sha256-")));
  const changes = [
    () => writeFileSync(join(own, "part.js"), "export const n = 2;"),
    () => writeFileSync(join(own, "more.js"), ""),
    () => symlinkSync("/etc/passwd", join(own, "link")),
  ];
  for (const change of changes) {
    change();
    assert.equal(rows(internal)["pinned"]?.runs, false);
    assert.throws(() => scriptOf(row as HookRow, state), OpenClawError);
  }
});

test("checks the requirements of a hook, unless it sets always", (t) => {
  const { put, rows, state } = place(t);
  const hooks = join(state, "hooks");
  const needs =
    "requires: { bins: [node, no-such-x], anyBins: [no-such-y, node], env: [HOME, NO_ENV], config: [gateway.port, workspace.dir], os: [plan9] }";
  put(hooks, "needy", `metadata: { openclaw: { events: [command], ${needs} } }`);
  put(hooks, "always", `metadata: { openclaw: { events: [command], always: true, ${needs} } }`);
  const found = rows(on("needy", "always"));
  assert.deepEqual(found["needy"]?.missing, [
    "system plan9",
    "program no-such-x",
    "environment NO_ENV",
    "config gateway.port",
  ]);
  assert.deepEqual([found["needy"]?.runs, found["always"]?.runs], [false, true]);
  const given = { enabled: true, entries: { needy: { enabled: true, env: { NO_ENV: "1" } } } };
  const less = rows(given, { gateway: { port: 1 } })["needy"];
  assert.deepEqual(less?.missing, ["system plan9", "program no-such-x"]);
});

test("reads a card, or rejects it with the reason", () => {
  const full = `---
name: full
description: "All of it"
homepage: https://x.org
metadata:
  { "openclaw": { "emoji": "🔧", "events": ["command:new", "agent:bootstrap"], "export": "run", "install": [{ "kind": "npm" }] } }
---
`;
  assert.deepEqual(readCard(full, "folder"), {
    name: "full",
    description: "All of it",
    emoji: "🔧",
    homepage: "https://x.org",
    events: ["command:new", "agent:bootstrap"],
    exportName: "run",
    always: false,
    requires: { bins: [], anyBins: [], env: [], config: [], os: [] },
  });
  const wrong: readonly (readonly [string, RegExp])[] = [
    ["name: ../up", /is not a valid hook name/],
    ["name: x", /events is empty/],
    ["metadata: { openclaw: { events: [tool:call] } }", /no event "tool:call"/],
    ["metadata: text", /metadata must be an object/],
    ["metadata: { openclaw: { events: [command], requires: { bins: [1] } } }", /bins must be a list of texts/],
    ["name: 5\nmetadata: { openclaw: { events: [command] } }", /name must be text/],
  ];
  for (const [text, words] of wrong) assert.throws(() => readCard(`---\n${text}\n---\n`, "folder"), words, text);
});
