// Which paths are covered, shown and locked for a command, and when that cannot be done.
import assert from "node:assert/strict";
import { linkSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { once } from "node:events";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, test } from "node:test";

import type { GuardPlaces } from "./places.ts";
import { deciding, viewOf, type ViewOptions } from "./view.ts";

let home: string;
let state: string;
beforeEach(() => {
  home = realpathSync(mkdtempSync(join(tmpdir(), "openclaw-view-")));
  state = join(home, ".openclaw");
  mkdirSync(join(state, "workspace"), { recursive: true });
  writeFileSync(join(state, "openclaw.json"), "{}");
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

const placesWith = (over: Partial<GuardPlaces> = {}): GuardPlaces => ({
  home,
  state,
  workspace: join(state, "workspace"),
  configs: [join(state, "openclaw.json")],
  hidden: [],
  kept: [],
  ...over,
});
const options: ViewOptions = { programs: [], services: [], mounts: [] };

/** What decides about each of these paths, or the reason why nothing does. */
function seen(over: Partial<GuardPlaces>, paths: readonly string[]): unknown {
  const view = viewOf(placesWith(over), options);
  if (!view.works) return view.reason.replaceAll(home, "~");
  return paths.map((path) => deciding(path, view.steps)?.does);
}

test("covers the state folder and shows the workspace in it", () => {
  const paths = [state, join(state, "exec-approvals.json"), join(state, "workspace", "x"), home];
  assert.deepEqual(seen({}, paths), ["cover", "cover", "show", undefined]);
});

test("covers the state folder inside of a workspace that is the home", () => {
  assert.deepEqual(seen({ workspace: home }, [state, join(state, "workspace"), home]), ["cover", "cover", undefined]);
});

test("covers a state folder that is the home itself and shows the workspace", () => {
  const places = { state: home, configs: [join(home, "openclaw.json")], workspace: join(home, "work") };
  mkdirSync(places.workspace);
  assert.deepEqual(seen(places, [home, places.workspace]), ["cover", "show"]);
});

test("covers the workspaces of other agents, also around this one, but not the home", () => {
  for (const name of ["other", "team/me"]) mkdirSync(join(home, name), { recursive: true });
  const over = { workspace: join(home, "team", "me"), hidden: [join(home, "other"), join(home, "team"), home] };
  assert.deepEqual(seen(over, [join(home, "other"), join(home, "team"), over.workspace, home]), [
    "cover",
    "cover",
    "show",
    undefined,
  ]);
});

test("covers the folder of a config that lies elsewhere, once it exists", () => {
  const config = join(home, "etc", "openclaw", "openclaw.json");
  assert.equal(
    seen({ configs: [config] }, []),
    "the folder ~/etc/openclaw does not exist, and a command could create it",
  );
  mkdirSync(join(home, "etc", "openclaw"), { recursive: true });
  assert.deepEqual(seen({ configs: [config] }, [config, join(home, "etc")]), ["cover", undefined]);
});

test("covers a folder inside of the workspace that holds a config", () => {
  const config = join(state, "workspace", "settings", "agents.json5");
  mkdirSync(join(state, "workspace", "settings"));
  assert.deepEqual(seen({ configs: [config] }, [config, join(state, "workspace")]), ["cover", "show"]);
});

test("locks the names of folders above the state folder", () => {
  const deep = join(home, "a", "b", "state");
  mkdirSync(join(deep, "workspace"), { recursive: true });
  const view = viewOf(placesWith({ state: deep, configs: [], workspace: join(deep, "workspace") }), options);
  const locks = view.works ? view.steps.filter(({ does }) => does === "lock").map(({ path }) => path) : [];
  assert.deepEqual(
    locks.filter((path) => path.startsWith(`${home}/`)),
    [join(home, "a"), join(home, "a", "b")],
  );
});

test("locks the names of folders above every covered and every kept place", () => {
  const [hidden, kept] = [join(home, "a", "b", "token"), join(home, "c", "page")];
  mkdirSync(join(home, "a", "b"), { recursive: true });
  writeFileSync(hidden, "x");
  mkdirSync(kept, { recursive: true });
  const view = viewOf(placesWith({ hidden: [hidden], kept: [kept] }), options);
  const steps = view.works ? view.steps.map(({ path, does }) => `${does} ${path.replace(home, "~")}`) : [];
  for (const step of ["cover ~/a/b/token", "lock ~/a", "lock ~/a/b", "show-read-only ~/c/page", "lock ~/c"])
    assert.ok(steps.includes(step), `${step}: ${steps.join(", ")}`);
});

test("puts no lock into a read-only folder, which would open it again", () => {
  const inner = join(home, "code", "bin", "node");
  mkdirSync(join(home, "code", "bin"), { recursive: true });
  writeFileSync(inner, "x");
  const view = viewOf(placesWith({ kept: [join(home, "code"), inner] }), options);
  const inside = view.works ? view.steps.filter(({ path }) => path.startsWith(join(home, "code"))) : [];
  assert.deepEqual(inside, [{ path: join(home, "code"), does: "show-read-only", isFolder: true }]);
});

test("leaves a kept place that lies in the workspace to its agent", () => {
  const kept = join(state, "workspace", "page");
  mkdirSync(kept);
  assert.deepEqual(seen({ kept: [kept] }, [kept]), ["show"]);
});

test("covers sockets of services, where they are", async () => {
  const socket = join(home, "bus");
  const server = createServer().listen(socket);
  await once(server, "listening");
  try {
    const view = viewOf(placesWith(), { ...options, services: [socket, join(home, "nothing")] });
    assert.equal(view.works && deciding(socket, view.steps)?.does, "cover");
    assert.equal(view.works && deciding(join(home, "nothing"), view.steps)?.does, undefined);
  } finally {
    server.close();
  }
});

test("refuses where the gateway's files cannot be told from others", () => {
  assert.equal(seen({ workspace: state }, []), "the state folder ~/.openclaw is the workspace itself");
  assert.equal(
    seen({ configs: [join(home, "openclaw.json")] }, []),
    "the config file ~/openclaw.json lies in ~, which holds other files too",
  );
  assert.equal(
    seen({ configs: [join(state, "workspace", "openclaw.json")] }, []),
    "the config file ~/.openclaw/workspace/openclaw.json lies in ~/.openclaw/workspace, which holds other files too",
  );
});

test("refuses a state folder behind a link that a command could replace", () => {
  symlinkSync(state, join(home, "link"));
  assert.equal(seen({ state: join(home, "link") }, []), "~/link is a link that a command could replace");
});

test("follows a config that is a link in the state folder, and covers the folder of the file", () => {
  mkdirSync(join(home, "dotfiles"));
  writeFileSync(join(home, "dotfiles", "openclaw.json"), "{}");
  rmSync(join(state, "openclaw.json"));
  symlinkSync(join(home, "dotfiles", "openclaw.json"), join(state, "openclaw.json"));
  assert.deepEqual(seen({}, [join(home, "dotfiles")]), ["cover"]);
});

test("refuses a config with a second name", () => {
  linkSync(join(state, "openclaw.json"), join(state, "workspace", "twin"));
  assert.match(String(seen({}, [])), /openclaw\.json has a second name/);
});

test("refuses an older installation that a new folder would replace", () => {
  const over = { state: join(home, ".moltbot"), configs: [], workspace: join(home, ".moltbot", "workspace") };
  mkdirSync(over.workspace, { recursive: true });
  rmSync(state, { recursive: true });
  assert.match(String(seen({ ...over, rival: state }, [])), /would read it in place of ~\/\.moltbot/);
  assert.deepEqual(seen(over, [over.state]), ["cover"]);
});

test("covers every other path of the mount table that leads there", () => {
  symlinkSync(home, join(home, "bound"));
  const mounts = [
    { device: "8:1", root: "/", path: "/" },
    { device: "8:1", root: home, path: join(home, "bound") },
  ];
  const view = viewOf(placesWith(), { ...options, mounts });
  assert.equal(view.works && deciding(join(home, "bound", ".openclaw", "x"), view.steps)?.does, "cover");
});
