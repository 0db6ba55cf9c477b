import assert from "node:assert/strict";
import { existsSync, linkSync, mkdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";

import { openFixture, outcomeOf, SECRET } from "./fixture.cases.ts";

const fixture = openFixture();
after(() => fixture.close());
const { ws, state, home } = fixture;
const open = { workspaceOnly: false };
const write = async (path: string, overrides = {}) =>
  (await outcomeOf(fixture.use("write", { path, content: "x" }, overrides))).code;
const read = async (path: string, overrides = {}) => (await outcomeOf(fixture.use("read", { path }, overrides))).code;

test("never writes names that other programs execute, existing or not, in any spelling", async () => {
  for (const path of [
    ".git/config",
    ".git/hooks/pre-commit",
    ".git",
    "sub/.git/config",
    ".GIT/config",
    ".git./config",
    ".git /config",
    ".gi\u200ct/config",
    "git~1/config",
    ".git::$INDEX_ALLOCATION/config",
    "repo.git/config",
    "repo.git/hooks/update",
    ".envrc",
    "sub/.EnvRC",
    ".vscode/tasks.json",
    ".VSCode/settings.json",
    ".idea/workspace.xml",
    ".mcp.json",
    ".MCP.json",
    ".mcp.json.",
    ".cursor/mcp.json",
    ".claude/settings.local.json",
    ".venv/bin/python",
  ]) {
    for (const overrides of [{}, open])
      assert.equal(await write(path, overrides), "fs.protected", `${path} ${JSON.stringify(overrides)}`);
    assert.equal(
      (await outcomeOf(fixture.use("edit", { path, oldText: "a", newText: "b" }))).code,
      "fs.protected",
      path,
    );
  }
  assert.ok(!existsSync(join(ws, ".git")) && !existsSync(join(ws, ".vscode")));
});

test("protects a name also when a link inside the workspace leads to it", async () => {
  mkdirSync(join(ws, "real", ".git"), { recursive: true });
  symlinkSync("real/.git", join(ws, "innocent"));
  assert.equal(await write("innocent/config"), "fs.protected");
  assert.equal(await write("innocent/config", open), "fs.protected");
});

test("allows everyday file names", async () => {
  for (const path of [
    "package.json",
    ".gitignore",
    ".gitattributes",
    ".github/workflows/ci.yml",
    "src/index.ts",
    ".npmrc",
    ".env.example",
    ".husky/pre-commit",
    ".claude/commands/x.md",
    ".cursor/rules/x.mdc",
    "AGENTS.md",
    "memory/2026-01-01.md",
    "skills/mine/SKILL.md",
    "docs/git/config",
    "my.gitconfig.md",
    "config",
    "hooks/x.ts",
    "openclaw.json",
    "exec-approvals.json",
    ".openclaw/notes.md",
    "mcp.json.md",
    "venv.md",
    "dev/x",
    "proc/x",
  ]) {
    assert.equal(await write(path), "ok", path);
    assert.equal(await read(path), "ok", path);
  }
});

test("protects start-up files when paths are limited to the workspace, and allows them otherwise", async () => {
  for (const path of [".bashrc", ".profile", ".ssh/authorized_keys", ".config/autostart/x.desktop", ".gitconfig"]) {
    assert.equal(await write(path), "fs.protected", path);
    assert.equal(await write(path, open), "ok", path);
  }
  assert.equal(await write(join(home, ".bashrc")), "fs.outside");
});

test("denies reading and writing state, config and approvals in every mode", async () => {
  writeFileSync(join(state, "openclaw.sqlite"), SECRET);
  mkdirSync(join(state, "agents", "main", "agent"), { recursive: true });
  writeFileSync(join(state, "agents", "main", "agent", "auth-profiles.json"), SECRET);
  const inside = [
    "openclaw.json",
    "openclaw.json.bak.1",
    "exec-approvals.json",
    "openclaw.sqlite",
    "openclaw.sqlite-wal",
    "agents/main/agent/auth-profiles.json",
    "credentials/x.json",
    "identity/device.json",
    ".env",
    "unheard-of/x",
  ];
  for (const path of [...inside, "hooks/x.js", "plugins/x/index.js", "skills/x/SKILL.md", "extensions/x.js", "new"]) {
    assert.equal(await write(join(state, path), open), "fs.protected", path);
    assert.equal(await write(join(state.toUpperCase(), path), { ...open, workspaceOnly: true }), "fs.outside", path);
    assert.equal(await write(join(state, path)), "fs.outside", path);
  }
  for (const path of inside) {
    const { code, output } = await outcomeOf(fixture.use("read", { path: join(state, path) }, open));
    assert.equal(code, "fs.protected", path);
    assert.ok(!output.includes(SECRET));
  }
  assert.equal(await read(state, open), "fs.protected", "its list of files is private too");
  assert.equal(await read(join(state, "skills/x/SKILL.md"), open), "ok");
  assert.equal(
    await write(join(state, "workspace-other", "x.md"), open),
    "ok",
    "workspaces in the state directory are workspaces",
  );
  assert.equal(await write(join(home, ".openclaw-work", "openclaw.json"), open), "fs.protected", "another profile");
  assert.equal(await write(join(home, ".moltbot", "x"), open), "fs.protected", "the older name");
});

test("protects the state directory also through links and hard links", async () => {
  symlinkSync(state, join(home, "alias"));
  linkSync(join(state, "openclaw.json"), join(home, "copy.json"));
  symlinkSync(join(state, "openclaw.json"), join(home, "soft.json"));
  for (const path of ["alias/openclaw.json", "alias/new", "copy.json", "soft.json"]) {
    const { code, output } = await outcomeOf(fixture.use("read", { path: join(home, path) }, open));
    assert.equal(code, "fs.protected", path);
    assert.ok(!output.includes(SECRET));
    assert.equal(await write(join(home, path), open), "fs.protected", path);
  }
});

test("protects a state directory that is a link under both names", async () => {
  const other = openFixture();
  after(() => other.close());
  renameSync(other.state, join(other.home, "moved"));
  symlinkSync("moved", other.state);
  for (const path of [
    join(other.state, "openclaw.json"),
    join(other.home, "moved", "openclaw.json"),
    join(other.home, "moved", "hooks", "x.js"),
  ]) {
    assert.equal((await outcomeOf(other.use("write", { path, content: "x" }, open))).code, "fs.protected", path);
  }
  assert.match(readFileSync(join(other.home, "moved", "openclaw.json"), "utf8"), new RegExp(SECRET));
  assert.equal((await outcomeOf(other.use("write", { path: "x.md", content: "x" }, open))).code, "ok");
});

test("protects a config file at another place, existing or not", async () => {
  const other = openFixture();
  after(() => other.close());
  const config = join(other.ws, "conf", "openclaw.json");
  const moved = openFixture({ configPath: config, home: other.home, state: other.state });
  for (const overrides of [{}, open]) {
    assert.equal((await outcomeOf(moved.use("write", { path: config, content: "x" }, overrides))).code, "fs.protected");
    assert.equal(
      (await outcomeOf(moved.use("write", { path: `${config}.bak`, content: "x" }, overrides))).code,
      "fs.protected",
    );
  }
});

test(
  "rejects devices and processes in every mode",
  { skip: process.platform !== "linux" && "needs /proc" },
  async () => {
    for (const path of [
      "/proc/self/environ",
      "/proc/1/environ",
      `/proc/${process.pid}/environ`,
      "/proc/self/root/etc/passwd",
      "/proc/self/cwd/x",
      "/proc/thread-self/environ",
      "/dev/zero",
      "/dev/stdin",
      "/dev/fd/0",
      "/dev/shm/x",
      "/proc/kcore",
      "/proc",
    ]) {
      assert.equal(await read(path, open), "fs.special-file", path);
      assert.equal(await read(path), "fs.outside", path);
    }
    for (const path of ["/proc/sysrq-trigger", "/sys/power/state", "/dev/null", "/proc/cpuinfo"])
      assert.equal(await write(path, open), "fs.special-file", path);
    assert.equal(await read("/proc/cpuinfo", open), "ok");
    symlinkSync("/proc/self/environ", join(ws, "env"));
    assert.equal(await read("env"), "fs.link");
    assert.equal(await read("env", open), "fs.special-file");
  },
);

test("denies an untrusted call to change files that steer later turns, also through links and in other workspaces", async (t) => {
  const own: string[] = [];
  const place = openFixture({ protectedFolders: async () => own });
  t.after(() => place.close());
  own.push(place.ws, place.out);
  const [file, link] = [join(place.ws, "HEARTBEAT.md"), join(place.ws, "link.md")];
  writeFileSync(file, "old\n");
  symlinkSync(file, link);
  writeFileSync(join(place.ws, "draft.md"), "old\n");
  const wrap = (...lines: string[]) => ({ input: ["*** Begin Patch", ...lines, "*** End Patch"].join("\n") });
  const tries = [
    ["write", { path: "HEARTBEAT.md", content: "new" }],
    ["write", { path: "link.md", content: "new" }],
    ["write", { path: "memory.md", content: "new" }],
    ["write", { path: join(place.out, "AGENTS.md"), content: "new" }],
    ["edit", { path: "HEARTBEAT.md", oldText: "old", newText: "new" }],
    ["apply_patch", wrap("*** Update File: HEARTBEAT.md", "@@", "-old", "+new")],
    ["apply_patch", wrap("*** Delete File: HEARTBEAT.md")],
    ["apply_patch", wrap("*** Add File: SOUL.md", "+new")],
    ["apply_patch", wrap("*** Update File: draft.md", "*** Move to: USER.md", "@@", "-old", "+new")],
  ] as const;
  for (const [tool, args] of tries)
    await assert.rejects(place.use(tool, args, open), /untrusted content led to this turn/, tool);
  assert.equal(readFileSync(file, "utf8"), "old\n");
  await place.use("write", { path: "sub/AGENTS.md", content: "of a project\n" });
  await place.use("read", { path: "HEARTBEAT.md" });
  own.length = 0;
  await place.use("edit", { path: "sub/AGENTS.md", oldText: "of", newText: "for" });
});
