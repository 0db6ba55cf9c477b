// update.run through the front door: of an installation that is a package, and of a checkout that is up to date.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { cpSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";

import { call } from "../exec-kit.ts";
import { dispose, root, startGateway, type TestGateway } from "../kit.ts";

test("update.run of a package changes nothing and says what to run; of a checkout it looks upstream first", async (t) => {
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

async function updateRun(gateway: TestGateway): Promise<Record<string, unknown>> {
  const { details, error } = await call(gateway, "gateway", { action: "update.run" });
  assert.equal(error, undefined, JSON.stringify(error));
  return details;
}
