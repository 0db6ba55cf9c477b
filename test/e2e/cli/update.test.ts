// update.run through the front door: of a package, of a checkout that is up to date, and of one that is behind.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { test } from "node:test";

import { call, until } from "../../harness/exec.ts";
import { say, startFakeOpenAI } from "../../fakes/openai.ts";
import { dispose, operator, root, startGateway, type TestGateway, type Wire } from "../../harness/gateway.ts";
import { modelConfig } from "../../harness/model.ts";

test("update.run of a package changes nothing and names the command; of a checkout it checks upstream first", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "openclaw-installed-"));
  const installed = join(folder, "openclaw");
  for (const name of ["src", "openclaw.mjs", "package.json"])
    cpSync(join(root, name), join(installed, name), { recursive: true });
  symlinkSync(join(root, "node_modules"), join(installed, "node_modules"));
  const gateway = await startGateway({
    config: { commands: { restart: true } },
    under: ["sh", "-c", `exec "$0" "${installed}/openclaw.mjs" gateway run`],
  });
  t.after(async () => {
    await dispose(gateway);
    rmSync(folder, { recursive: true, force: true });
  });
  const packaged = await updateRun(gateway);
  assert.deepEqual([packaged["status"], packaged["mode"], packaged["steps"]], ["skipped", "package", []]);
  assert.match(String(packaged["command"]), /npm install/);

  const git = (...words: readonly string[]): unknown =>
    execFileSync("git", ["-c", "user.name=t", "-c", "user.email=t@t", ...words], { cwd: installed, stdio: "pipe" });
  git("init", "-q", "-b", "main");
  writeFileSync(join(installed, ".git", "info", "exclude"), "node_modules\n");
  git("add", "-A");
  git("commit", "-q", "-m", "first");
  execFileSync("git", ["clone", "-q", "--bare", installed, join(folder, "upstream.git")], { stdio: "pipe" });
  git("remote", "add", "origin", join(folder, "upstream.git"));
  git("fetch", "-q", "origin");
  git("branch", "-q", "--set-upstream-to=origin/main");
  const checkout = await updateRun(gateway);
  assert.deepEqual([checkout["status"], checkout["mode"]], ["skipped", "git"], JSON.stringify(checkout));
  assert.match(String(checkout["reason"]), /up to date/);
  assert.equal((await fetch(`${gateway.url}/health`)).status, 200);
});

test("update.run of an outdated checkout fetches, rebases, installs and builds; the new code runs, and the session is informed", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "openclaw-behind-"));
  const [upstream, installed] = [join(folder, "upstream"), join(folder, "openclaw")];
  // Beside the checkout: `npm ci` empties the one inside it.
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
  mkdirSync(upstream);
  for (const name of ["src", "openclaw.mjs"]) cpSync(join(root, name), join(upstream, name), { recursive: true });
  const publish = publisher(upstream);
  publish("1.0.1");
  execFileSync("git", ["clone", "-q", upstream, installed], { stdio: "pipe" });
  const server = await startFakeOpenAI(() => say("HEARTBEAT_OK"));
  const gateway = await startGateway({
    config: modelConfig(server),
    under: ["sh", "-c", `exec "$0" "${installed}/openclaw.mjs" gateway run`],
    env: {
      PATH: `${dirname(process.execPath)}:${process.env["PATH"]}`,
      ...gitIdentity,
    },
  });
  t.after(async () => {
    await dispose(gateway);
    await server.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const before = await versionOf(gateway);
  publish("1.0.2");
  const { details, error } = await call(gateway, "gateway", {
    action: "update.run",
    note: "new code, please check",
    delayMs: 100,
  });
  assert.equal(error, undefined, JSON.stringify(error));
  assert.equal(details["status"], "ok", JSON.stringify(details));
  assert.deepEqual(
    (details["steps"] as { name: string; ok: boolean }[]).map(({ name, ok }) => `${name} ${ok}`),
    ["clean", "present commit", "upstream", "fetch", "compare", "rebase", "new commit", "install", "build"].map(
      (name) => `${name} true`,
    ),
  );
  assert.equal(existsSync(join(installed, "built")), true);
  const after = await until(
    () => versionOf(gateway).catch(() => before),
    (version) => version !== before,
    240_000,
  );
  assert.deepEqual([before, after], ["1.0.1", "1.0.2"]);
  assert.equal(gateway.process.exitCode, null, "the same process, with the code that is on the disk now");
  const told = await until(
    () => server.requests.map(({ body }) => JSON.stringify(body)).find((text) => text.includes("Gateway restarted")),
    (text) => text !== undefined,
    240_000,
  );
  assert.match(told ?? "", /Gateway restarted \(update\.run done/);
  assert.match(told ?? "", /new code, please check/);
});

const gitIdentity = {
  GIT_AUTHOR_NAME: "t",
  GIT_AUTHOR_EMAIL: "t@example.invalid",
  GIT_COMMITTER_NAME: "t",
  GIT_COMMITTER_EMAIL: "t@example.invalid",
};

/** Commits a release: a package without dependencies, so that npm needs no network. */
function publisher(folder: string): (version: string) => void {
  const git = (...words: readonly string[]): unknown =>
    execFileSync("git", words, { cwd: folder, stdio: "pipe", env: { ...process.env, ...gitIdentity } });
  git("init", "-q", "-b", "main");
  const { name, type, bin } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as Record<string, unknown>;
  const scripts = { build: "node -e \"require('fs').writeFileSync('built', '')\"" };
  return (version) => {
    const lock = { name, version, lockfileVersion: 3, packages: { "": { name, version } } };
    writeFileSync(join(folder, "package.json"), JSON.stringify({ name, version, type, bin, scripts }, null, 2));
    writeFileSync(join(folder, "package-lock.json"), JSON.stringify(lock));
    writeFileSync(join(folder, ".gitignore"), "built\nnode_modules\n");
    git("add", "-A");
    git("commit", "-q", "-m", version);
  };
}

async function versionOf(gateway: TestGateway): Promise<string> {
  const wire: Wire = await operator(gateway);
  const hello = wire.frames.find(({ type }) => type === "res")?.payload as { server: { version: string } };
  wire.end();
  return hello.server.version;
}

async function updateRun(gateway: TestGateway): Promise<Record<string, unknown>> {
  const { details, error } = await call(gateway, "gateway", { action: "update.run" });
  assert.equal(error, undefined, JSON.stringify(error));
  return details;
}
