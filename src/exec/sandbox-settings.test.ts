// An agent's sandbox settings override the defaults key by key; lists merge; a shared sandbox ignores them.
import assert from "node:assert/strict";
import { test } from "node:test";

import type { AgentId } from "../core/names.ts";
import type { Paths } from "../base/paths.ts";
import type { Config } from "../config/schema/index.ts";
import { sandboxSettings } from "./sandbox-settings.ts";

const paths: Paths = {
  home: "/h",
  state: "/h/.openclaw",
  config: "/h/.openclaw/openclaw.json",
  product: "openclaw",
  profile: undefined,
};
const agent = "work" as AgentId;
type Sandbox = NonNullable<NonNullable<NonNullable<Config["agents"]>["defaults"]>["sandbox"]>;

function settings(defaults: Sandbox, own: Sandbox = {}) {
  return sandboxSettings(
    { agents: { defaults: { sandbox: defaults }, list: [{ id: "work", sandbox: own }] } },
    agent,
    paths,
  );
}

test("without a config there is no sandbox, and every default is filled in", () => {
  assert.deepEqual(sandboxSettings({}, agent, paths), {
    mode: "off",
    backend: "auto",
    scope: "agent",
    workspaceAccess: "none",
    gitWrite: false,
    workspaceRoot: "/h/.openclaw/sandboxes",
    browser: { enabled: false, allowHostControl: false, autoStart: true, autoStartTimeoutMs: 12_000 },
    docker: {
      image: "openclaw-sandbox:bookworm-slim",
      containerPrefix: "openclaw-sbx-",
      workdir: "/workspace",
      readOnlyRoot: true,
      tmpfs: ["/tmp", "/var/tmp", "/run"],
      network: "none",
      user: undefined,
      capDrop: ["ALL"],
      env: {},
      setupCommand: undefined,
      pidsLimit: undefined,
      memory: undefined,
      memorySwap: undefined,
      cpus: undefined,
      ulimits: {},
      seccompProfile: undefined,
      apparmorProfile: undefined,
      dns: [],
      extraHosts: [],
      binds: [],
    },
    prune: { idleHours: 24, maxAgeDays: 7 },
  });
});

test("an agent's value overrides the default, key by key", () => {
  const { mode, scope, workspaceRoot, docker, prune } = settings(
    {
      mode: "all",
      scope: "session",
      docker: { image: "a", memory: "1g", env: { A: "1", B: "1" } },
      prune: { idleHours: 1 },
    },
    { mode: "non-main", workspaceRoot: "~/boxes", docker: { image: "b", env: { B: "2" } }, prune: { maxAgeDays: 0 } },
  );
  assert.deepEqual(
    { mode, scope, workspaceRoot, image: docker.image, memory: docker.memory, env: docker.env, prune },
    {
      mode: "non-main",
      scope: "session",
      workspaceRoot: "/h/boxes",
      image: "b",
      memory: "1g",
      env: { A: "1", B: "2" },
      prune: { idleHours: 1, maxAgeDays: 0 },
    },
  );
});

test("merges the mounts of the defaults and of the agent", () => {
  assert.deepEqual(settings({ docker: { binds: ["/a:/a"] } }, { docker: { binds: ["/b:/b", "/a:/a"] } }).docker.binds, [
    "/a:/a",
    "/b:/b",
  ]);
});

test("a shared sandbox takes docker and prune settings from the defaults only", () => {
  const { docker, prune, workspaceAccess } = settings(
    { scope: "shared", docker: { image: "a", binds: ["/a:/a"] } },
    { workspaceAccess: "rw", docker: { image: "b", binds: ["/b:/b"], setupCommand: "evil" }, prune: { idleHours: 1 } },
  );
  assert.deepEqual(
    { image: docker.image, binds: docker.binds, setup: docker.setupCommand, idle: prune.idleHours, workspaceAccess },
    { image: "a", binds: ["/a:/a"], setup: undefined, idle: 24, workspaceAccess: "rw" },
  );
});

test("scope overrides the older spelling perSession", () => {
  assert.equal(settings({ perSession: true }).scope, "session");
  assert.equal(settings({ perSession: false }).scope, "shared");
  assert.equal(settings({ perSession: true, scope: "agent" }).scope, "agent");
  assert.equal(settings({ scope: "agent" }, { perSession: false }).scope, "shared");
});

test("joins the lines of a setup command", () => {
  assert.equal(settings({ docker: { setupCommand: ["a", "b"] } }).docker.setupCommand, "a\nb");
});

test("an agent's browser settings override the defaults key by key, except in a shared sandbox", () => {
  const defaults = { browser: { enabled: true, autoStart: false } };
  const own = { browser: { allowHostControl: true } };
  assert.deepEqual(settings(defaults, own).browser, {
    enabled: true,
    allowHostControl: true,
    autoStart: false,
    autoStartTimeoutMs: 12_000,
  });
  assert.equal(settings({ ...defaults, scope: "shared" }, own).browser.allowHostControl, false);
});
