// Repositories in a sandboxed session are read-only unless the owner allows changes, and the result names the key.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";

import { asAgent, call, exec } from "../../harness/exec.ts";
import { dispose, startGateway, tempHome, type TestGateway } from "../../harness/gateway.ts";
import { noBubblewrap } from "../../harness/sandbox.ts";

const noGit = spawnSync("git", ["--version"]).status === 0 ? false : "needs git";
const commit = "git -c user.name=a -c user.email=a@example.com commit -q --allow-empty -m next";

describe("git in a sandboxed session", { skip: noBubblewrap || noGit }, () => {
  let gateway: TestGateway;
  const workspaceOf = (agent: string): string => join(gateway.home, agent);
  const ownersGit = (folder: string, ...args: string[]): string => {
    const words = ["-c", "user.name=a", "-c", "user.email=a@example.com", ...args];
    return spawnSync("git", words, { cwd: folder, encoding: "utf8", env: { ...process.env, HOME: gateway.home } })
      .stdout;
  };

  before(async () => {
    const home = tempHome();
    const agent = (id: string, sandbox: object = {}): object => ({ id, workspace: join(home, id), sandbox });
    gateway = await startGateway({
      home,
      config: {
        agents: {
          defaults: { sandbox: { mode: "all", workspaceAccess: "rw", backend: "bubblewrap" } },
          list: [agent("main"), agent("free", { gitWrite: true })],
        },
      },
    });
    for (const id of ["main", "free"]) {
      mkdirSync(workspaceOf(id), { recursive: true });
      ownersGit(workspaceOf(id), "init", "-q");
      ownersGit(workspaceOf(id), "commit", "-q", "--allow-empty", "-m", "first");
    }
  });
  after(() => dispose(gateway));

  test("status, log and diff work", async () => {
    const { details, text } = await exec(gateway, { command: "git status --short && git log --oneline && git diff" });
    assert.equal(details["status"], "completed", text);
    assert.match(text, /first/);
  });

  test("a commit fails, and the answer names the key that allows it", async () => {
    for (const command of [commit, "echo x > f; git add f", "git switch -c topic", "echo x > .git/config"]) {
      const { details, text } = await exec(gateway, { command });
      assert.equal(details["status"], "failed", command);
      assert.match(text, /read-only in this sandbox[\s\S]*agents\.list\[\]\.sandbox\.gitWrite/, command);
    }
    assert.match(ownersGit(workspaceOf("main"), "log", "--oneline"), /^\S+ first\n$/);
  });

  test("other failures do not mention it", async () => {
    const { text } = await exec(gateway, { command: "git log nosuch" });
    assert.doesNotMatch(text, /gitWrite/);
  });

  test("an agent with gitWrite commits, and still cannot write hooks and settings", async () => {
    const free = asAgent("free");
    assert.equal((await exec(gateway, { command: commit }, free)).details["status"], "completed");
    assert.match(ownersGit(workspaceOf("free"), "log", "--oneline"), /next\n\S+ first/);
    for (const command of ["git config core.fsmonitor id", "echo x > .git/hooks/pre-commit"])
      assert.equal((await exec(gateway, { command }, free)).details["status"], "failed");
  });

  test("a nested repository that would run a program outside is set aside, and the result says so", async () => {
    const canary = join(gateway.home, "canary");
    const command = `git init -q sub && git -C sub config core.fsmonitor "touch ${canary}; false" && git init -q fine`;
    const { text } = await exec(gateway, { command });
    assert.match(text, /because of sub\/\.git: core\.fsmonitor\. It was set aside: HEAD is now HEAD\.set-aside/);
    for (const folder of ["sub", "fine", "."]) {
      ownersGit(join(workspaceOf("main"), folder), "status");
      ownersGit(join(workspaceOf("main"), folder), "add", "-A");
      ownersGit(join(workspaceOf("main"), folder), "status");
    }
    assert.equal(existsSync(canary), false);
    assert.ok(existsSync(join(workspaceOf("main"), "fine", ".git", "HEAD")));
  });

  test("file tools do not write into git folders either", async () => {
    ownersGit(workspaceOf("main"), "init", "-q", "--bare", "store.git");
    writeFileSync(join(workspaceOf("main"), "notes.md"), "x\n");
    for (const path of [".git/config", "fine/.git/hooks/pre-commit", "store.git/config", "made/HEAD"]) {
      const { error } = await call(gateway, "write", { path, content: "x" });
      assert.equal(error?.details?.["refused"] ?? error?.type, true, `${path}: ${error?.message}`);
    }
    const patch = "*** Begin Patch\n*** Add File: fine/.git/hooks/post-checkout\n+x\n*** End Patch";
    assert.notEqual((await call(gateway, "apply_patch", { input: patch })).error, undefined);
    assert.equal(existsSync(join(workspaceOf("main"), "fine/.git/hooks/post-checkout")), false);
  });
});
