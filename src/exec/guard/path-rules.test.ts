// Which paths are hidden, shown and locked for a guarded command, and when that is impossible.
import assert from "node:assert/strict";
import { linkSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { once } from "node:events";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, test } from "node:test";

import type { GuardedPaths } from "./guarded-paths.ts";
import { ruleFor, pathRulesFor, type PathRuleOptions } from "./path-rules.ts";

let home: string;
let state: string;
beforeEach(() => {
  home = realpathSync(mkdtempSync(join(tmpdir(), "openclaw-view-")));
  state = join(home, ".openclaw");
  mkdirSync(join(state, "workspace"), { recursive: true });
  writeFileSync(join(state, "openclaw.json"), "{}");
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

const placesWith = (over: Partial<GuardedPaths> = {}): GuardedPaths => ({
  home,
  state,
  workspace: join(state, "workspace"),
  configs: [join(state, "openclaw.json")],
  hidden: [],
  readOnly: [],
  ...over,
});
const options: PathRuleOptions = { programs: [], services: [], mounts: [] };

/** The access at each of these paths, or the reason why they cannot be hidden. */
function seen(over: Partial<GuardedPaths>, paths: readonly string[]): unknown {
  const pathRules = pathRulesFor(placesWith(over), options);
  if (!pathRules.works) return pathRules.reason.replaceAll(home, "~");
  return paths.map((path) => ruleFor(path, pathRules.rules)?.access);
}

test("hides the state folder and shows the workspace in it", () => {
  const paths = [state, join(state, "exec-approvals.json"), join(state, "workspace", "x"), home];
  assert.deepEqual(seen({}, paths), ["hide", "hide", "show", undefined]);
});

test("hides the state folder inside a workspace that is the home", () => {
  assert.deepEqual(seen({ workspace: home }, [state, join(state, "workspace"), home]), ["hide", "hide", undefined]);
});

test("hides a state folder that is the home itself and shows the workspace", () => {
  const paths = { state: home, configs: [join(home, "openclaw.json")], workspace: join(home, "work") };
  mkdirSync(paths.workspace);
  assert.deepEqual(seen(paths, [home, paths.workspace]), ["hide", "show"]);
});

test("hides the workspaces of other agents, also around this one, but not the home", () => {
  for (const name of ["other", "team/me"]) mkdirSync(join(home, name), { recursive: true });
  const over = { workspace: join(home, "team", "me"), hidden: [join(home, "other"), join(home, "team"), home] };
  assert.deepEqual(seen(over, [join(home, "other"), join(home, "team"), over.workspace, home]), [
    "hide",
    "hide",
    "show",
    undefined,
  ]);
});

test("hides the folder of a config elsewhere, once it exists", () => {
  const config = join(home, "etc", "openclaw", "openclaw.json");
  assert.equal(
    seen({ configs: [config] }, []),
    "the folder ~/etc/openclaw does not exist, and a command could create it",
  );
  mkdirSync(join(home, "etc", "openclaw"), { recursive: true });
  assert.deepEqual(seen({ configs: [config] }, [config, join(home, "etc")]), ["hide", undefined]);
});

test("hides a folder in the workspace that contains a config", () => {
  const config = join(state, "workspace", "settings", "agents.json5");
  mkdirSync(join(state, "workspace", "settings"));
  assert.deepEqual(seen({ configs: [config] }, [config, join(state, "workspace")]), ["hide", "show"]);
});

test("locks the names of folders above the state folder", () => {
  const deep = join(home, "a", "b", "state");
  mkdirSync(join(deep, "workspace"), { recursive: true });
  const pathRules = pathRulesFor(placesWith({ state: deep, configs: [], workspace: join(deep, "workspace") }), options);
  const locks = pathRules.works
    ? pathRules.rules.filter(({ access }) => access === "lock").map(({ path }) => path)
    : [];
  assert.deepEqual(
    locks.filter((path) => path.startsWith(`${home}/`)),
    [join(home, "a"), join(home, "a", "b")],
  );
});

test("locks the names of folders above every hidden and read-only path", () => {
  const [hidden, readOnly] = [join(home, "a", "b", "token"), join(home, "c", "page")];
  mkdirSync(join(home, "a", "b"), { recursive: true });
  writeFileSync(hidden, "x");
  mkdirSync(readOnly, { recursive: true });
  const pathRules = pathRulesFor(placesWith({ hidden: [hidden], readOnly: [readOnly] }), options);
  const rules = pathRules.works
    ? pathRules.rules.map(({ path, access }) => `${access} ${path.replace(home, "~")}`)
    : [];
  for (const rule of ["hide ~/a/b/token", "lock ~/a", "lock ~/a/b", "read-only ~/c/page", "lock ~/c"])
    assert.ok(rules.includes(rule), `${rule}: ${rules.join(", ")}`);
});

test("puts no lock into a read-only folder, which would make it writable", () => {
  const inner = join(home, "code", "bin", "node");
  mkdirSync(join(home, "code", "bin"), { recursive: true });
  writeFileSync(inner, "x");
  const pathRules = pathRulesFor(placesWith({ readOnly: [join(home, "code"), inner] }), options);
  const inside = pathRules.works ? pathRules.rules.filter(({ path }) => path.startsWith(join(home, "code"))) : [];
  assert.deepEqual(inside, [{ path: join(home, "code"), access: "read-only", isFolder: true }]);
});

test("leaves a read-only path inside the workspace writable for its agent", () => {
  const readOnly = join(state, "workspace", "page");
  mkdirSync(readOnly);
  assert.deepEqual(seen({ readOnly: [readOnly] }, [readOnly]), ["show"]);
});

test("hides the sockets of services that exist", async () => {
  const socket = join(home, "bus");
  const server = createServer().listen(socket);
  await once(server, "listening");
  try {
    const pathRules = pathRulesFor(placesWith(), { ...options, services: [socket, join(home, "nothing")] });
    assert.equal(pathRules.works && ruleFor(socket, pathRules.rules)?.access, "hide");
    assert.equal(pathRules.works && ruleFor(join(home, "nothing"), pathRules.rules)?.access, undefined);
  } finally {
    server.close();
  }
});

test("refuses when the gateway's files cannot be separated from others", () => {
  assert.equal(seen({ workspace: state }, []), "the state folder ~/.openclaw is the workspace itself");
  assert.equal(
    seen({ configs: [join(home, "openclaw.json")] }, []),
    "the config file ~/openclaw.json lies in ~, which also contains other files",
  );
  assert.equal(
    seen({ configs: [join(state, "workspace", "openclaw.json")] }, []),
    "the config file ~/.openclaw/workspace/openclaw.json lies in ~/.openclaw/workspace, which also contains other files",
  );
});

test("refuses a state folder behind a link that a command could replace", () => {
  symlinkSync(state, join(home, "link"));
  assert.equal(seen({ state: join(home, "link") }, []), "~/link is a link that a command could replace");
});

test("follows a config that is a link in the state folder, and hides the folder of the file", () => {
  mkdirSync(join(home, "dotfiles"));
  writeFileSync(join(home, "dotfiles", "openclaw.json"), "{}");
  rmSync(join(state, "openclaw.json"));
  symlinkSync(join(home, "dotfiles", "openclaw.json"), join(state, "openclaw.json"));
  assert.deepEqual(seen({}, [join(home, "dotfiles")]), ["hide"]);
});

test("refuses a config with a second hard link", () => {
  linkSync(join(state, "openclaw.json"), join(state, "workspace", "twin"));
  assert.match(String(seen({}, [])), /openclaw\.json has a second name/);
});

test("refuses an older installation that a new folder would replace", () => {
  const over = { state: join(home, ".moltbot"), configs: [], workspace: join(home, ".moltbot", "workspace") };
  mkdirSync(over.workspace, { recursive: true });
  rmSync(state, { recursive: true });
  assert.match(String(seen({ ...over, alternateState: state }, [])), /would read it in place of ~\/\.moltbot/);
  assert.deepEqual(seen(over, [over.state]), ["hide"]);
});

test("hides every other path of the mount table that leads there", () => {
  symlinkSync(home, join(home, "bound"));
  const mounts = [
    { device: "8:1", root: "/", path: "/" },
    { device: "8:1", root: home, path: join(home, "bound") },
  ];
  const pathRules = pathRulesFor(placesWith(), { ...options, mounts });
  assert.equal(pathRules.works && ruleFor(join(home, "bound", ".openclaw", "x"), pathRules.rules)?.access, "hide");
});
