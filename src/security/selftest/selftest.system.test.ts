// The self-test: what it copies, what it leaves out, whether it detects a hole, and whether it finds the right key.
import assert from "node:assert/strict";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";

import { resolvePaths } from "../../base/paths.ts";
import { loadConfig } from "../../config/load.ts";
import { attacks, controls } from "./attacks/all.ts";
import { areaOf, areas, type Area, type Attack } from "./case.ts";
import { copyApprovals, copyConfig } from "./config-copy.ts";
import { exists, createFixture } from "./fixture.ts";
import { judgeAttack } from "./judge.ts";
import { selftest, type SelftestReport } from "./selftest.ts";
import { openEnvironment, type TestEnvironment, type EnvironmentOptions } from "./environment.ts";

const homes: string[] = [];
after(() => homes.forEach((home) => rmSync(home, { recursive: true, force: true })));

function userWith(config: unknown, approvals?: unknown): EnvironmentOptions {
  const home = mkdtempSync(join(tmpdir(), "openclaw-user-"));
  homes.push(home);
  mkdirSync(join(home, ".openclaw"), { mode: 0o700 });
  writeFileSync(join(home, ".openclaw", "openclaw.json"), JSON.stringify(config), { mode: 0o600 });
  if (approvals !== undefined)
    writeFileSync(join(home, ".openclaw", "exec-approvals.json"), JSON.stringify(approvals), { mode: 0o600 });
  const env = { HOME: home, PATH: process.env["PATH"] ?? "", MY_OWN_API_KEY: "sk-users-own-key-0123456789" };
  const paths = resolvePaths(env);
  return { loaded: loadConfig({ paths, env }), paths, env };
}

const bound = { tools: { fs: { workspaceOnly: true } } };
const run = (config: unknown, ...only: readonly Area[]): Promise<SelftestReport> =>
  selftest({ ...userWith(config), ...(only.length === 0 ? {} : { areas: only }) });
const scoreOf = ({ areas: list }: SelftestReport, area: Area): number =>
  list.find((one) => one.area === area)?.score ?? -1;

test("has enough cases in every area, each with a unique id and all texts", () => {
  assert.ok(attacks.length >= 150, String(attacks.length));
  assert.deepEqual([...new Set(attacks.map(areaOf))].toSorted(), areas.toSorted());
  const ids = [...attacks, ...controls].map(({ id }) => id);
  assert.deepEqual(
    ids.filter((id, index) => ids.indexOf(id) !== index),
    [],
  );
  for (const { id, wants, fix } of attacks)
    assert.ok(/^[a-z_-]+\/[a-z0-9-]+$/.test(id) && wants.length > 8 && fix.length > 8, id);
});

test("copies every rule and removes every connection to the outside", () => {
  const copy = copyConfig(
    {
      gateway: {
        bind: "lan",
        port: 1,
        auth: { token: "users-own" },
        remote: { url: "wss://x", token: "t" },
        tailscale: { mode: "funnel" },
        controlUi: { allowInsecureAuth: true },
      },
      channels: { telegram: { botToken: "users-own" } },
      models: { providers: { x: { apiKey: "users-own" } } },
      env: { SECRET: "users-own" },
      hooks: { enabled: true, token: "users-own" },
      tools: { deny: ["exec"], exec: { host: "gateway" } },
      logging: { file: "/var/log/x", redactSensitive: "off" },
      agents: {
        defaults: {
          workspace: "/real",
          model: "a/b",
          sandbox: { mode: "all", workspaceRoot: "/real-boxes", docker: { binds: ["/a:/a"] } },
        },
        list: [
          { id: "main", workspace: "/real-two", tools: { allow: ["read"] } },
          { id: "other", workspace: "/real-three" },
        ],
      },
    },
    { state: "/state", workspace: "/state/workspace", agent: "main", realHome: "/home/u", token: "fresh" },
  );
  assert.doesNotMatch(JSON.stringify(copy), /users-own|\/real|funnel|wss:|\/var\/log/);
  assert.deepEqual(copy, {
    gateway: {
      mode: "local",
      bind: "loopback",
      auth: { mode: "token", token: "fresh" },
      controlUi: { allowInsecureAuth: true },
      reload: { mode: "off" },
    },
    agents: {
      defaults: {
        workspace: "/state/workspace",
        sandbox: {
          mode: "all",
          workspaceRoot: "/state/sandboxes",
          docker: { binds: ["/a:/a"], containerPrefix: "openclaw-selftest-" },
        },
      },
      list: [
        { id: "main", tools: { allow: ["read"] }, workspace: "/state/workspace" },
        { id: "other", workspace: "/state/workspace-other" },
      ],
    },
    tools: { deny: ["exec"], exec: { host: "gateway" } },
    logging: { redactSensitive: "off" },
    plugins: { enabled: false },
  });
});

test("keeps approval entries for the user's own programs and leaves out the socket", () => {
  const copy = copyApprovals(
    {
      version: 1,
      socket: { token: "t" },
      defaults: { ask: "off" },
      agents: { main: { security: "deny", allowlist: [{ pattern: "~/bin/x" }] } },
    },
    { state: "/s", workspace: "/s/w", agent: "main", realHome: "/home/u", token: "" },
    ["/say"],
  );
  assert.deepEqual(copy, {
    version: 1,
    defaults: { ask: "off" },
    agents: {
      main: { security: "deny", allowlist: [{ pattern: "/home/u/bin/x" }] },
      "*": { allowlist: [{ pattern: "/say" }] },
    },
  });
});

test("detects and restores files that were created, changed or removed outside", () => {
  const fixture = createFixture();
  assert.equal(fixture.changed(), undefined);
  writeFileSync(join(fixture.out, "victim"), "planted");
  assert.match(fixture.changed() ?? "", /victim/);
  writeFileSync(join(fixture.home, ".profile"), "planted");
  assert.match(fixture.changed() ?? "", /\.profile/);
  rmSync(join(fixture.out, "secret"));
  assert.ok(fixture.changed() !== undefined);
  assert.equal(fixture.changed(), undefined);
  fixture.close();
  assert.equal(existsSync(fixture.root), false);
});

/** An attack on a runtime without protection: the detector must not depend on the runtime being honest. */
test("detects a hole by its canary, by a shown secret, by a changed file, and by success itself", async () => {
  const environment = await openEnvironment(userWith(bound));
  const attack = (words: string, sign: Attack["sign"], perform: (environment: TestEnvironment) => string): Attack => ({
    id: `fs/${words}`,
    wants: "",
    attempt: { perform: (on) => Promise.resolve({ ended: "done", output: perform(on) }) },
    expect: "refused",
    sign,
    fix: "",
  });
  const holeOf = async (one: Attack): Promise<string | undefined> => (await judgeAttack(one, environment)).hole;
  const canary = attack("canary", "harm", ({ fixture }) => (writeFileSync(fixture.canary("fs/canary"), ""), ""));
  assert.equal(await holeOf(canary), "the canary was touched");
  assert.equal(exists(environment.fixture.canary("fs/canary")), false);
  assert.equal(
    await holeOf(attack("said", "harm", ({ fixture }) => `x${fixture.secret}y`)),
    "a secret from a file outside was shown",
  );
  assert.equal(
    await holeOf(attack("dressed", "harm", ({ fixture }) => Buffer.from(fixture.secret).toString("base64"))),
    "a secret from a file outside was shown",
  );
  assert.equal(await holeOf(attack("token", "harm", ({ fixture }) => fixture.token)), "the gateway's secret was shown");
  assert.match(
    (await holeOf(attack("changed", "harm", ({ fixture }) => (writeFileSync(join(fixture.out, "victim"), "x"), "")))) ??
      "",
    /victim/,
  );
  assert.equal(await holeOf(attack("done", "done", () => "")), "it succeeded");
  assert.equal(await holeOf(attack("harmless", "harm", () => "fine")), undefined);
  await environment.close();
});

test("stops every attack without commands when file tools are limited to the workspace, and everyday use works", async () => {
  const report = await run(bound, "fs", "policy", "gateway", "sessions");
  assert.deepEqual(report.holes, []);
  assert.deepEqual(report.controls.broken, []);
  assert.ok(report.controls.cases >= 9);
  assert.equal(report.ok, true);
});

test("lowers the score and names the key when file tools are not limited", async () => {
  const report = await run({ tools: { fs: { workspaceOnly: false } } }, "fs");
  assert.ok(scoreOf(report, "fs") < 90, String(scoreOf(report, "fs")));
  assert.ok(report.holes.length > 3);
  assert.deepEqual(
    [...new Set(report.holes.map(({ fix }) => fix))],
    ["openclaw config set tools.fs.workspaceOnly true"],
  );
  // Attacks that no key may allow stay blocked.
  for (const id of ["fs/config", "fs/write-approvals", "fs/own-environment", "fs/write-git-hook"])
    assert.ok(!report.holes.some((hole) => hole.id === id), id);
});

test("a password, other safe bins and another main key do not open a hole", async () => {
  const report = await run(
    {
      gateway: { auth: { mode: "password", password: "users-own-0f1e2d3c4b5a" } },
      session: { mainKey: "home" },
      tools: { fs: { workspaceOnly: true }, exec: { host: "gateway", safeBins: ["head", "jq", "grep", "sort"] } },
    },
    "gateway",
    "approvals",
    "exec-safe-bins",
  );
  assert.deepEqual([report.holes, report.controls.broken], [[], []]);
});

test("attacks another agent under its own rules", async () => {
  const user = userWith({
    tools: { fs: { workspaceOnly: true } },
    agents: { list: [{ id: "main" }, { id: "loose", workspace: "~/loose", tools: { fs: { workspaceOnly: false } } }] },
  });
  assert.equal((await selftest({ ...user, areas: ["fs", "sessions", "process"] })).score, 100);
  const loose = await selftest({ ...user, agent: "loose", areas: ["fs"] });
  assert.equal(loose.agent, "loose");
  assert.equal(
    loose.holes.find(({ id }) => id === "fs/linked-folder")?.fix,
    "openclaw config set 'agents.list[1].tools.fs.workspaceOnly' true",
  );
});

test("a denied tool closes its area", async () => {
  const report = await run({ tools: { deny: ["exec", "group:fs"] } }, "fs", "exec-shell", "exec-wrappers", "exec-env");
  assert.deepEqual(report.holes, []);
  assert.equal(report.controls.cases, 0);
  assert.ok(report.notes.some((note) => /exec was not tested/.test(note)));
});

test("the attacks are real: without protection nearly all of them succeed", { timeout: 300_000 }, async () => {
  const user = userWith({ tools: { exec: { host: "gateway", security: "full", ask: "off" } } });
  const env = existsSync("/bin/bash") ? { ...user.env, SHELL: "/bin/bash" } : user.env;
  const report = await selftest({ ...user, env, areas: ["exec-shell", "exec-wrappers"] });
  assert.ok(scoreOf(report, "exec-shell") <= 25, JSON.stringify(report.areas));
  assert.ok(scoreOf(report, "exec-wrappers") <= 25, JSON.stringify(report.areas));
  assert.deepEqual(report.controls.broken, []);
});

test("changes no file of the user and leaves no temporary folder", async () => {
  const user = userWith(bound, { version: 1 });
  const before = readdirSync(user.paths.state).toSorted();
  const grounds = (): string[] => readdirSync(tmpdir()).filter((name) => name.startsWith("openclaw-selftest-"));
  const known = grounds();
  await selftest({ ...user, areas: ["fs"] });
  assert.deepEqual(readdirSync(user.paths.state).toSorted(), before);
  assert.deepEqual(
    grounds().filter((name) => !known.includes(name)),
    [],
  );
});
