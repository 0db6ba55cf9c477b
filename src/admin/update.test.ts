// update.run with real git and npm on temporary checkouts.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, test } from "node:test";

import { createMask } from "../base/mask.ts";
import { packageRoot } from "../base/version.ts";
import { runUpdate, updateText, type UpdateReport } from "./update.ts";

const folder = mkdtempSync(join(tmpdir(), "openclaw-update-"));
after(() => rmSync(folder, { recursive: true, force: true }));

// npm beside the node that runs this.
const env = { PATH: `${dirname(process.execPath)}:${process.env["PATH"]}`, HOME: folder, SECRET_API_KEY: "sk-hidden" };
const git = (cwd: string, ...words: string[]): string =>
  execFileSync("git", ["-c", "user.name=T", "-c", "user.email=t@example.org", ...words], {
    cwd,
    env: { ...env, GIT_CONFIG_NOSYSTEM: "1" },
    stdio: ["ignore", "pipe", "pipe"],
  })
    .toString()
    .trim();

let count = 0;
/** An upstream and a clone of it that is one commit behind. */
function checkout(build = "node -e \"require('fs').writeFileSync('built', process.env.SECRET_API_KEY ?? 'no key')\""): {
  readonly upstream: string;
  readonly clone: string;
  readonly publish: (files: Record<string, string>) => void;
} {
  count += 1;
  const upstream = join(folder, `up-${count}`);
  const clone = join(folder, `clone-${count}`);
  mkdirSync(upstream);
  git(upstream, "init", "-q", "-b", "main");
  const publish = (files: Record<string, string>): void => {
    for (const [name, text] of Object.entries(files)) writeFileSync(join(upstream, name), text);
    git(upstream, "add", "-A");
    git(upstream, "commit", "-q", "-m", "step");
  };
  publish({
    "package.json": JSON.stringify({ name: "x", version: "1.0.0", scripts: { build } }),
    "package-lock.json": JSON.stringify({
      name: "x",
      version: "1.0.0",
      lockfileVersion: 3,
      packages: { "": { name: "x", version: "1.0.0" } },
    }),
    ".gitignore": "built\nbuilding\nnode_modules\n",
    "code.txt": "old\n",
  });
  git(folder, "clone", "-q", upstream, clone);
  git(clone, "config", "user.name", "T");
  git(clone, "config", "user.email", "t@example.org");
  return { upstream, clone, publish };
}
const run = (root: string, signal = new AbortController().signal): Promise<UpdateReport> =>
  runUpdate({ root, env, mask: createMask(), signal });

test("fetches, rebases, installs and builds a checkout that is behind its upstream", async () => {
  const { clone, publish } = checkout();
  publish({ "code.txt": "new\n" });
  const report = await run(clone);
  assert.equal(report.status, "ok", JSON.stringify(report, null, 1));
  assert.deepEqual(
    report.steps.map(({ name, ok }) => `${name} ${ok}`),
    ["clean", "present commit", "upstream", "fetch", "compare", "rebase", "new commit", "install", "build"].map(
      (name) => `${name} true`,
    ),
  );
  assert.equal(readFileSync(join(clone, "code.txt"), "utf8"), "new\n");
  assert.equal(readFileSync(join(clone, "built"), "utf8"), "no key", "no credential of the gateway reaches a build");
  assert.match(updateText(report), /^Update ok\.\n[0-9a-f]{12} → [0-9a-f]{12}$/);
});

test("skips a checkout that is up to date, has local changes or no upstream, with the reason", async () => {
  const { clone } = checkout();
  const same = await run(clone);
  assert.deepEqual([same.status, same.reason], ["skipped", "already up to date"]);
  writeFileSync(join(clone, "code.txt"), "mine\n");
  const dirty = await run(clone);
  assert.deepEqual([dirty.status, dirty.reason], ["skipped", "the checkout has local changes"]);
  assert.equal(readFileSync(join(clone, "code.txt"), "utf8"), "mine\n");
  git(clone, "checkout", "-q", "--", ".");
  git(clone, "branch", "--unset-upstream");
  assert.equal((await run(clone)).reason, "the branch follows no upstream");
});

test("aborts a rebase that conflicts", async () => {
  const { clone, publish } = checkout();
  writeFileSync(join(clone, "code.txt"), "mine\n");
  git(clone, "commit", "-qam", "mine");
  const before = git(clone, "rev-parse", "HEAD");
  publish({ "code.txt": "theirs\n" });
  const report = await run(clone);
  assert.deepEqual([report.status, report.reason], ["error", "the rebase failed; the checkout is unchanged"]);
  assert.equal(git(clone, "rev-parse", "HEAD"), before);
  assert.equal(git(clone, "status", "--porcelain"), "");
  assert.equal(readFileSync(join(clone, "code.txt"), "utf8"), "mine\n");
});

test("restores the old commit after a failed build, and shows the end of its output", async () => {
  const { clone, publish } = checkout("node -e \"console.error('no such thing'); process.exit(3)\"");
  const before = git(clone, "rev-parse", "HEAD");
  publish({ "code.txt": "new\n" });
  const report = await run(clone);
  assert.equal(report.status, "error");
  assert.equal(git(clone, "rev-parse", "HEAD"), before);
  assert.equal(existsSync(join(clone, "built")), false);
  assert.match(updateText({ ...report, steps: report.steps.filter(({ name }) => name === "build") }), /no such thing/);
});

test("skips an installed package with the command that updates it, and runs no command", async () => {
  const plain = join(folder, "plain");
  mkdirSync(plain);
  const report = await run(plain);
  assert.deepEqual(
    { ...report, root: "" },
    {
      status: "skipped",
      mode: "package",
      root: "",
      reason: "this installation is a package, not a git checkout",
      command: "npm install -g openclaw@latest, then: openclaw gateway restart",
      steps: [],
    },
  );
});

test("ends the current step on a stop and restores the old commit", async () => {
  const { clone, publish } = checkout(
    "node -e \"require('fs').writeFileSync('building', ''); setTimeout(() => {}, 60000)\"",
  );
  publish({ "code.txt": "new\n" });
  const before = git(clone, "rev-parse", "HEAD");
  const control = new AbortController();
  const build = setInterval(() => {
    if (!existsSync(join(clone, "building"))) return;
    clearInterval(build);
    control.abort();
  }, 20);
  const report = await run(clone, control.signal);
  assert.equal(report.reason, "build failed; the checkout is back at the old commit");
  assert.equal(git(clone, "rev-parse", "HEAD"), before);
});

test("updates the folder that this code runs from", () => {
  const { name } = JSON.parse(readFileSync(join(packageRoot(), "package.json"), "utf8")) as { name: string };
  assert.equal(name, "openclaw");
});
