// Allowlisted git, hg, svn, rsync and test runners, really run: no repository, hook or project file starts a program by them.
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";

import { exec, writeApprovals } from "../harness/exec.ts";
import { dispose, startGateway, type TestGateway } from "../harness/gateway.ts";

const lacks = (...programs: string[]): string | false =>
  programs.every((name) => spawnSync(name, ["--version"]).status === 0) ? false : `needs ${programs.join(" and ")}`;

const runners = [
  "pytest",
  "py.test",
  "bats",
  "coverage",
  "jest",
  "vitest",
  "mocha",
  "rspec",
  "phpunit",
  "claude",
  "codex",
  "aider",
  "gemini",
  "opencode",
];

const identity = ["-c", "user.name=a", "-c", "user.email=a@example.com"];

describe("an allowlisted program starts no other program that an attacker chose", { skip: lacks("git") }, () => {
  let gateway: TestGateway;
  let canary: string;
  const at = (...names: string[]): string => join(gateway.workspace, ...names);
  const git = (cwd: string, ...args: string[]): void => {
    execFileSync("git", [...identity, ...args], { cwd, stdio: "ignore", env: { ...process.env, HOME: gateway.home } });
  };
  const program = (file: string): void =>
    writeFileSync(file, `#!/bin/sh\ntouch '${canary}'\ncat >/dev/null\n`, { mode: 0o755 });

  before(async () => {
    gateway = await startGateway({
      config: { tools: { exec: { host: "gateway", security: "allowlist", ask: "off" } } },
    });
    canary = join(gateway.home, "canary");
    mkdirSync(at("bin"), { recursive: true });
    for (const name of runners) program(at("bin", name));
    writeApprovals(gateway.state, { agents: { main: { allowlist: [{ pattern: "/**" }] } } });
    git(gateway.workspace, "init", "-q", "mine");
    git(at("mine"), "commit", "-q", "--allow-empty", "-m", "x");
    git(gateway.workspace, "init", "-q", "--bare", "evil.git");
    for (const hook of [
      "pre-receive",
      "update",
      "post-receive",
      "post-update",
      "reference-transaction",
      "proc-receive",
    ])
      program(at("evil.git", "hooks", hook));
    git(gateway.workspace, "init", "-q", "worked");
    git(at("worked"), "commit", "-q", "--allow-empty", "-m", "x");
    git(at("worked"), "config", "receive.denyCurrentBranch", "updateInstead");
    git(at("worked"), "config", "core.fsmonitor", `touch '${canary}'; false`);
    git(at("worked"), "bundle", "create", "../packed.bundle", "HEAD");
  });
  after(() => dispose(gateway));

  test("control: the owner's own push runs the hooks of the other repository", () => {
    git(at("mine"), "push", "-q", "../evil.git", "HEAD:refs/heads/owner");
    assert.ok(existsSync(canary));
    rmSync(canary);
  });

  const named = [
    "../evil.git",
    "{{WS}}/evil.git",
    "file://{{WS}}/evil.git",
    "../worked",
    "file://{{WS}}/mine/../worked",
  ];
  const lines = [
    ...named.flatMap((address) => [
      `git push ${address} HEAD:refs/heads/x`,
      `git push -f ${address} HEAD:refs/heads/master`,
      `git fetch ${address}`,
      `git pull ${address} master`,
      `git ls-remote ${address}`,
      `git clone ${address} {{WS}}/copy`,
      `git clone --bare --mirror ${address} {{WS}}/copy.git`,
      `git archive --remote=${address} HEAD`,
      `git remote add -f x ${address}`,
      `git submodule add ${address} sub`,
    ]),
    "git clone ../packed.bundle {{WS}}/copy",
    "git push ext::sh% -c% touch% {{CANARY}} HEAD",
    "git -c protocol.file.allow=always push ../evil.git HEAD:refs/heads/x",
    "git -c url.{{WS}}/evil.git.insteadOf=https://example.com/ push https://example.com/ HEAD:refs/heads/x",
    "git -c remote.x.url={{WS}}/evil.git push x HEAD:refs/heads/x",
    "git -c remote.x.url=https://example.com/ -c remote.x.pushurl=../evil.git push x HEAD:refs/heads/x",
    "git --git-dir={{WS}}/evil.git status",
    "git bundle create x HEAD",
  ];
  for (const line of lines)
    test(line, async () => {
      const command = line.replaceAll("{{WS}}", gateway.workspace).replaceAll("{{CANARY}}", canary);
      const { details, text } = await exec(gateway, { command, workdir: at("mine") });
      assert.equal(existsSync(canary), false, text);
      assert.notEqual(details["status"], "completed", text);
    });

  test("a push that the owner's settings redirect to a path runs no hook", async () => {
    writeFileSync(
      join(gateway.home, ".gitconfig"),
      `[url "${at("evil.git")}"]\n\tinsteadOf = https://example.com/x.git\n[remote "near"]\n\turl = ${at("evil.git")}\n`,
    );
    for (const address of ["https://example.com/x.git", "near"]) {
      const { text, details } = await exec(gateway, {
        command: `git push ${address} HEAD:refs/heads/x`,
        workdir: at("mine"),
      });
      assert.equal(details["status"], "failed", text);
      assert.match(text, /transport 'file' not allowed/);
    }
    rmSync(join(gateway.home, ".gitconfig"));
    assert.equal(existsSync(canary), false);
  });

  test("refuses a remote that the repository's settings redirect to a path, and names it", async () => {
    git(at("mine"), "remote", "add", "near", "../evil.git");
    const { error } = await exec(gateway, { command: "git push near HEAD:refs/heads/x", workdir: at("mine") });
    git(at("mine"), "remote", "remove", "near");
    assert.equal(error?.type, "exec.denied");
    assert.match(error?.message ?? "", /repository on this machine, whose own hooks and settings would run: near/);
    assert.equal(existsSync(canary), false);
  });

  test("everyday git commands work", async () => {
    writeFileSync(at("mine", "notes.md"), "x\n");
    for (const command of [
      "git status --short",
      "git add notes.md",
      "git -c user.name=a -c user.email=a@example.com commit -m 'add notes'",
      "git log --oneline -n 3",
      "git diff HEAD~1",
      "git switch -c topic",
      "git branch -a",
      "git stash list",
    ]) {
      const { details, text } = await exec(gateway, { command, workdir: at("mine") });
      assert.equal(details["status"], "completed", `${command}: ${text}`);
    }
  });

  test("does not start hg with its own hooks", { skip: lacks("hg") }, async () => {
    execFileSync("hg", ["init", at("other-hg")]);
    writeFileSync(
      at("other-hg", ".hg", "hgrc"),
      `[hooks]\npre-status = touch '${canary}'\nchangegroup = touch '${canary}'\n`,
    );
    for (const command of [
      "hg status",
      "hg -R . log",
      "hg clone . ../copy-hg",
      `hg --config hooks.pre-status=touch\\ ${canary} status`,
    ]) {
      await exec(gateway, { command, workdir: at("other-hg") });
      assert.equal(existsSync(canary), false, command);
    }
  });

  test("svn starts no tunnel and no diff program", { skip: lacks("svn") }, async () => {
    for (const command of [
      `svn ls --config-option 'config:tunnels:x=touch ${canary}' svn+x://example.com/`,
      `svn diff --diff-cmd ${at("bin", "pytest")} .`,
      "svn status",
    ]) {
      await exec(gateway, { command, workdir: at("mine") });
      assert.equal(existsSync(canary), false, command);
    }
  });

  test("rsync starts no remote shell and still copies folders", { skip: lacks("rsync") }, async () => {
    for (const command of [
      `rsync -e ${at("bin", "pytest")} x: y`,
      `rsync --rsh=${at("bin", "pytest")} x: y`,
      `rsync --rsync-path=${at("bin", "pytest")} x localhost:y`,
      `rsync -a -M--x -e${at("bin", "pytest")} x localhost:y`,
    ]) {
      await exec(gateway, { command, workdir: at("mine") });
      assert.equal(existsSync(canary), false, command);
    }
    mkdirSync(at("a"));
    writeFileSync(at("a", "f"), "f");
    const { details } = await exec(gateway, { command: "rsync -a a/ b/" });
    assert.deepEqual([details["status"], existsSync(at("b", "f"))], ["completed", true]);
  });

  for (const name of runners)
    test(`an allowlist entry does not start ${name}`, async () => {
      const { error } = await exec(gateway, { command: `bin/${name} run x` });
      assert.equal(error?.type, "exec.denied");
      assert.equal(existsSync(canary), false);
    });
});
