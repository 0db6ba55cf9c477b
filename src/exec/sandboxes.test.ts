// Which sandbox a session gets, which backend builds it, and when sandboxes are pruned.
import assert from "node:assert/strict";
import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";

import type { AgentId, SessionKey } from "../core/names.ts";
import { OpenClawError } from "../core/error.ts";
import type { Log } from "../base/log.ts";
import type { Paths } from "../base/paths.ts";
import type { Config } from "../config/schema/index.ts";
import { chooseBackend } from "./sandbox/choose-backend.ts";
import { sandboxWorks } from "./sandbox/detect.ts";
import type { Backend } from "./sandbox/spec.ts";
import { createSandboxes, type Sandboxes } from "./sandboxes.ts";
import { sandboxSettings } from "./sandbox-settings.ts";

type Sandbox = NonNullable<NonNullable<NonNullable<Config["agents"]>["defaults"]>["sandbox"]>;
const quiet: Log = { error() {}, warn() {}, info() {}, debug() {}, child: () => quiet };
const noSandbox = existsSync("/usr/bin/bwrap") ? false : "bubblewrap is absent: apt-get install bubblewrap";

interface Fixture {
  readonly home: string;
  readonly paths: Paths;
  readonly sandboxes: Sandboxes;
  tick(ms: number): void;
}

function openFixture(t: TestContext, sandbox: Sandbox, workspace?: string): Fixture {
  const home = mkdtempSync(join(tmpdir(), "openclaw-sandboxes-"));
  const state = join(home, ".openclaw");
  mkdirSync(state, { mode: 0o700 });
  const paths: Paths = { home, state, config: join(state, "openclaw.json"), product: "openclaw", profile: undefined };
  const config: Config = { agents: { defaults: { sandbox: { backend: "bubblewrap", ...sandbox } } } };
  let now = Date.now();
  const sandboxes = createSandboxes({
    paths,
    env: { ...process.env, HOME: home },
    config: () => config,
    log: quiet,
    clock: { now: () => now, ticks: () => now },
    workspaceOf: (agent) => workspace?.replace("~", home) ?? join(state, `workspace-${agent}`),
  });
  t.after(async () => {
    await sandboxes.close();
    rmSync(home, { recursive: true, force: true });
  });
  return {
    home,
    paths,
    sandboxes,
    tick(ms) {
      now += ms;
    },
  };
}

const who = (agent: string, rest = "main"): { agent: AgentId; session: SessionKey } => ({
  agent: agent as AgentId,
  session: `agent:${agent}:${rest}` as SessionKey,
});

test("the scope decides who shares a sandbox and its workspace", { skip: noSandbox }, async (t) => {
  const names = async (sandbox: Sandbox): Promise<string[]> => {
    const { sandboxes } = openFixture(t, sandbox);
    const all = [who("a"), who("a", "x"), who("b")];
    const found = await Promise.all(all.map(async (one) => (await sandboxes.of(one)).name));
    assert.deepEqual(
      new Set(all.map((one) => sandboxes.pathsOf(one).workspace)).size,
      sandbox.workspaceAccess === "rw" ? 2 : new Set(found).size,
    );
    return found;
  };
  assert.equal(new Set(await names({ scope: "session" })).size, 3);
  assert.equal(new Set(await names({ scope: "agent" })).size, 2);
  assert.equal(new Set(await names({ scope: "shared" })).size, 1);
  assert.equal(
    new Set(await names({ scope: "shared", workspaceAccess: "rw" })).size,
    2,
    "two workspaces cannot share a sandbox",
  );
});

test("concurrent calls share one sandbox, which is opened once", { skip: noSandbox }, async (t) => {
  const { sandboxes } = openFixture(t, { scope: "agent" });
  const found = await Promise.all([who("a"), who("a", "x"), who("a")].map((one) => sandboxes.of(one)));
  assert.equal(new Set(found).size, 1);
});

test("session keys that look alike after cleaning get different sandboxes", { skip: noSandbox }, async (t) => {
  const { sandboxes } = openFixture(t, { scope: "session" });
  const [one, two] = await Promise.all([sandboxes.of(who("a", "x:y")), sandboxes.of(who("a", "x-y"))]);
  assert.notEqual(one.name, two.name);
});

test(
  "rejects a workspace that is the state folder, the whole disk or a folder with keys",
  { skip: noSandbox },
  async (t) => {
    for (const workspace of ["~/.openclaw", "/", "~/.ssh", "~/link"]) {
      const { sandboxes, home } = openFixture(t, { workspaceAccess: "rw" }, workspace);
      symlinkSync(join(home, ".openclaw"), join(home, "link"));
      await assert.rejects(sandboxes.of(who("a")), { code: "sandbox.refused" }, workspace);
    }
  },
);

test("prunes idle sandboxes after hours and old ones after days; 0 means never", { skip: noSandbox }, async (t) => {
  const idle = openFixture(t, { prune: { idleHours: 2, maxAgeDays: 0 } });
  const { name } = await idle.sandboxes.of(who("a"));
  assert.deepEqual(await idle.sandboxes.prune(), []);
  idle.tick(3 * 3_600_000);
  assert.deepEqual(await idle.sandboxes.prune(), [name]);
  assert.deepEqual(await idle.sandboxes.list(), []);
  const never = openFixture(t, { prune: { idleHours: 0, maxAgeDays: 0 } });
  await never.sandboxes.of(who("a"));
  never.tick(1000 * 86_400_000);
  assert.deepEqual(await never.sandboxes.prune(), []);
  const old = openFixture(t, { prune: { idleHours: 0, maxAgeDays: 1 } });
  const kept = await old.sandboxes.of(who("a"));
  old.tick(2 * 86_400_000);
  utimesSync(join(old.paths.state, "boxes", kept.name, "box.json"), new Date(), new Date());
  assert.deepEqual(await old.sandboxes.prune(), [kept.name]);
});

test("ignores a damaged record and writes a new one", { skip: noSandbox }, async (t) => {
  const { sandboxes, paths } = openFixture(t, {});
  const { name } = await sandboxes.of(who("a"));
  writeFileSync(join(paths.state, "boxes", name, "box.json"), "{");
  assert.deepEqual(await sandboxes.list(), []);
});

const backend = (kind: Backend["kind"], fix?: string): Backend => ({
  kind,
  works: async () => (fix === undefined ? { works: true } : { works: false, reason: `${kind} is not here`, fix }),
  check: () => undefined,
  open: () => assert.fail("no sandbox was requested"),
  remove: async () => undefined,
  liveStatus: async () => new Map(),
  close: async () => undefined,
});
const settingsOf = (sandbox: Sandbox) =>
  sandboxSettings({ agents: { defaults: { sandbox } } }, "a" as AgentId, {
    home: "/h",
    state: "/h/s",
    config: "/h/s/c",
    product: "openclaw",
    profile: undefined,
  });

test("auto prefers bubblewrap, then docker; a network needs docker", async () => {
  const both = [backend("bubblewrap"), backend("docker")];
  const onlyDocker = [backend("bubblewrap", "apt-get install bubblewrap"), backend("docker")];
  assert.equal((await chooseBackend(settingsOf({}), both)).kind, "bubblewrap");
  assert.equal((await chooseBackend(settingsOf({}), onlyDocker)).kind, "docker");
  assert.equal((await chooseBackend(settingsOf({ backend: "docker" }), both)).kind, "docker");
  assert.equal((await chooseBackend(settingsOf({ docker: { network: "bridge" } }), both)).kind, "docker");
});

test("without a working backend the error names every fix, and the host is never used", async () => {
  const none = [backend("bubblewrap", "apt-get install bubblewrap"), backend("docker", "start docker")];
  await assert.rejects(chooseBackend(settingsOf({}), none), (error: unknown) => {
    assert.ok(error instanceof OpenClawError);
    assert.equal(error.code, "sandbox.unavailable");
    assert.equal(
      error.hint,
      "apt-get install bubblewrap; or start docker; or run without a sandbox: openclaw config set agents.defaults.sandbox.mode off",
    );
    return true;
  });
  await assert.rejects(
    chooseBackend(settingsOf({ backend: "docker" }), [backend("bubblewrap"), none[1] ?? backend("docker", "x")]),
    {
      code: "sandbox.unavailable",
    },
  );
});

test("bubblewrap rejects a network instead of sharing the host's", { skip: noSandbox }, async (t) => {
  const { sandboxes } = openFixture(t, { docker: { network: "bridge" } });
  await assert.rejects(sandboxes.of(who("a")), { code: "sandbox.refused" });
});

test("detection reports what works, or why no backend does", { skip: noSandbox }, async () => {
  const folder = join(tmpdir(), `openclaw-detect-${process.pid}`);
  const clock = { now: () => 0, ticks: () => 0 };
  assert.deepEqual(await sandboxWorks({ folder, env: process.env, log: quiet, clock }, "bubblewrap"), {
    backend: "bubblewrap",
  });
  const answer = await sandboxWorks({ folder, env: { PATH: "/nowhere" }, log: quiet, clock }, "docker");
  assert.deepEqual(answer, { reason: "docker: docker is not installed", fix: "apt-get install docker.io" });
  assert.equal(existsSync(folder), false);
});
