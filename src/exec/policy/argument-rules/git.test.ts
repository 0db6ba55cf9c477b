// git with an allowlist entry: which subcommands, options and repositories are allowed.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, describe, it } from "node:test";

import { decide, openPolicyFixture } from "../fixture.cases.ts";

const fixture = openPolicyFixture();
const { context, workspace } = fixture;
after(() => fixture.close());

async function verdict(command: string): Promise<string> {
  const { judgment } = await decide(command, context, { allowlist: ["/usr/bin/*"] });
  return judgment.outcome === "run" ? "run" : judgment.code;
}

describe("git", () => {
  const repository = join(workspace, "repo");
  mkdirSync(repository);
  const git = (...args: string[]): void => void execFileSync("git", args, { cwd: repository, stdio: "ignore" });
  git("init", "-q");
  git("config", "user.name", "a");
  git("config", "user.email", "a@b");
  git("commit", "-q", "--allow-empty", "-m", "x");
  execFileSync("git", ["init", "-q", "--bare", "other.git"], { cwd: repository });
  writeFileSync(join(repository, "other.bundle"), "");
  const inRepo = (command: string): Promise<string> => verdict(`cd repo && ${command}`);

  for (const command of [
    "git status",
    "git log --oneline -n 20",
    "git log -p --stat",
    "git diff HEAD~1 -- a",
    "git show HEAD",
    "git --no-pager log",
    "git -C . status",
    "git commit -m 'a; b'",
    "git commit --amend --no-edit",
    "git add -A",
    "git switch -c topic",
    "git push -u origin main",
    "git clone --depth 1 --filter=blob:none https://example.com/x.git",
    "git clone git@example.com:x/y.git",
    "git grep -n x",
    "git stash pop",
    "git --version",
    "git remote -v",
    "git config --get user.name",
    "git worktree list",
    "git config user.name",
    "git log --patch",
    "git stash show -p",
    "git rebase --abort",
    "git format-patch -1 --stdout",
    "git fsck",
    "git grep -nF x",
    "git commit -nm x",
    "git commit --signoff -m x",
    "git -c color.ui=always -c core.quotepath=off status",
    "git -c core.fsmonitor=false status",
    "git config user.email me@example.com",
    "git config --local core.autocrlf input",
    "git config --global --get user.name",
    "git remote add origin https://example.com/x.git",
    "git remote set-url origin git@example.com:x/y.git",
    "git remote remove origin",
    "git merge -s ours topic",
    "git rebase --strategy=ort main",
    "git apply --check x.patch",
    "git submodule status",
    "git push origin main",
    "git fetch origin docs",
    "git pull --ff-only",
    "git clone -b main https://example.com/x.git ./elsewhere",
    "git clone https://example.com/x.git ../elsewhere",
    "git ls-remote https://example.com/x.git",
    "git push ssh://git@example.com/x.git HEAD:refs/heads/x",
    "git fetch git@example.com:x/y.git",
    "git remote add backup ../backup.git",
  ])
    it(`allowed: ${command}`, async () => assert.equal(await inRepo(command), "run"));

  for (const command of [
    "git -c core.pager=id log",
    "git -ccore.pager=id log",
    "git --config-env=core.pager=X log",
    "git --exec-path=/tmp status",
    "git --git-dir=/tmp status",
    "git -p log",
    "git x",
    "git config core.pager id",
    "git config --get core.pager --add x",
    "git config --list --file x",
    "git config -e",
    "git worktree add x",
    "git symbolic-ref refs/x refs/y",
    "git bisect run id",
    "git submodule foreach id",
    "git filter-branch",
    "git difftool -x id",
    "git help log",
    "git log --help",
    "git rebase -x id HEAD~1",
    "git rebase --exec=id HEAD~1",
    "git rebase --exe id HEAD~1",
    "git rebase -i HEAD~1",
    "git grep -Oid x",
    "git grep --open-files-in-pager=id x",
    "git diff --output=x",
    "git diff --outpu=x",
    "git diff --ext-diff",
    "git clone -c core.sshCommand=id x",
    "git clone -u id x",
    "git clone --upload-pack=id x",
    "git clone --upload=id x",
    "git clone --template=/tmp x",
    "git clone ext::id",
    "git fetch 'ext::sh -c id'",
    "git pull fd::3",
    "git push --receive-pack=id origin",
    "git push --exec=id origin",
    "git ls-remote --upload-pack=id x",
    "git commit",
    "git commit -e -m x",
    "git commit -S -m x",
    "git add -e",
    "git add -p",
    "git remote add x ext::id",
    "git archive --exec=id HEAD",
    "git daemon",
    "git rebase --continue",
    "git merge -s x y",
    "git pull --strategy=x",
    "git fetch evil://x",
    "git branch --edit-description",
    "git grep -nOid x",
    "git grep -FOid x",
    "git add -np",
    "git clean -ni",
    "git clone -nu id x",
    "git commit -nS -m x",
    "git clone --recursive x",
    "git log --grep -- --output=x",
    "git log -S -- --output=x",
    "git log --format=%G?",
    "git tag -v v1",
    "git config --show-origin alias.x '!id'",
    "git fetch ssh://-oProxyCommand=id/x",
    "git clone -- -oProxyCommand=id",
    "git pull --rebase=interactive",
    "git format-patch -1",
    "git -c color.ui=always -c core.pager=id log",
    "git -c Core.FSMonitor=id status",
    "git -c remote.x.url=ext::id fetch x",
    "git -c 'remote.x.url=\"foo\"://y' fetch x",
    "git -c alias.x=!id x",
    "git -c",
    "git config remote.x.url ext::id",
    "git config --global user.name x",
    "git config user.name x --file=y",
    "git config set core.pager id",
    "git remote add --mirror=fetch x foo://bar",
    "git remote set-url --push origin ext::id",
    "git remote update",
    "git merge -s ours -s x y",
    "git rebase --strategy x main",
    "git apply --unsafe-paths x.patch",
    "git apply --rej x.patch",
    "git submodule update --init",
    "git submodule status --recursive",
    "git push ../other.git HEAD",
    "git push ./other.git HEAD",
    "git push .. HEAD",
    "git push file:///srv/other.git HEAD",
    "git push FILE:///srv/other.git HEAD",
    "git push --repo=../other.git",
    "git push other HEAD",
    "git fetch /srv/other.git",
    "git fetch --shallow-since 2020 /srv/other.git",
    "git fetch --multiple origin ../other.git",
    "git fetch other",
    "git pull other main",
    "git clone other x",
    "git clone --depth 1 file:///srv/other.git",
    "git clone ~/other.git",
    "git clone -- ../other.git",
    "git ls-remote other",
    "git ls-remote other.bundle",
  ])
    it(`refused: ${command}`, async () => assert.equal(await inRepo(command), "exec.arguments"));

  const settings: readonly [key: string, value: string][] = [
    ["core.fsmonitor", "id"],
    ["core.sshCommand", "id"],
    ["core.hooksPath", "x"],
    ["core.pager", "id"],
    ["alias.status", "!id"],
    ["diff.external", "id"],
    ["diff.x.textconv", "id"],
    ["filter.x.clean", "id"],
    ["include.path", "x"],
    ["credential.helper", "!id"],
    ["remote.origin.uploadpack", "id"],
    ["remote.origin.url", "ext::id"],
    ["url.ext::id.insteadOf", "x"],
    ["branch.main.remote", "ext::id"],
    ["branch.main.pushRemote", "ext::id"],
    ["gc.recentObjectsHook", "id"],
    ["gpg.program", "id"],
    ["protocol.ext.allow", "always"],
  ];
  for (const [key, value] of settings) {
    it(`rejects a repository that sets ${key}`, async () => {
      git("config", key, value);
      const answer = await inRepo("git status");
      git("config", "--unset", key);
      assert.equal(answer, "exec.arguments");
    });
  }

  describe("a remote that refers to a repository on this machine", () => {
    const named: readonly [key: string, value: string, refused: readonly string[], allowed: readonly string[]][] = [
      [
        "remote.near.url",
        "../other.git",
        ["git fetch near", "git fetch --all", "git pull"],
        ["git fetch far", "git status"],
      ],
      ["remote.far.pushurl", "file:///srv/other.git", ["git push far main", "git push"], ["git log"]],
      ["branch.main.remote", "../other.git", ["git pull", "git fetch"], ["git diff"]],
    ];
    for (const [key, value, refused, allowed] of named) {
      it(`${key} = ${value}`, async () => {
        git("config", "remote.far.url", "https://example.com/x.git");
        git("config", key, value);
        const answers = async (commands: readonly string[]): Promise<string[]> => Promise.all(commands.map(inRepo));
        const seen = [await answers(refused), await answers(allowed)];
        git("config", "--unset", key);
        git("config", "--remove-section", "remote.far");
        assert.deepEqual(seen, [refused.map(() => "exec.arguments"), allowed.map(() => "run")]);
      });
    }
  });

  it("rejects hooks only for subcommands that run them", async () => {
    writeFileSync(join(repository, ".git/hooks/pre-commit"), "#!/bin/sh\n");
    chmodSync(join(repository, ".git/hooks/pre-commit"), 0o755);
    assert.deepEqual([await inRepo("git status"), await inRepo("git commit -m x")], ["run", "exec.arguments"]);
    rmSync(join(repository, ".git/hooks/pre-commit"));
    writeFileSync(join(repository, ".git/hooks/post-index-change"), "#!/bin/sh\n");
    assert.equal(await inRepo("git status"), "exec.arguments");
    rmSync(join(repository, ".git/hooks/post-index-change"));
  });

  it("treats a folder that looks like a repository as one", async () => {
    const bare = join(workspace, "bare");
    for (const folder of ["objects", "refs"]) mkdirSync(join(bare, folder), { recursive: true });
    writeFileSync(join(bare, "HEAD"), "ref: refs/heads/main\n");
    writeFileSync(join(bare, "config"), "[core]\n\tfsmonitor = id\n");
    assert.equal(await verdict("cd bare && git status"), "exec.arguments");
  });

  const settingsThatRun = "[core]\n\tfsmonitor = id\n";

  it("treats a folder with a dangling HEAD link as a repository", async () => {
    const folder = join(workspace, "linked-head");
    for (const name of ["objects", "refs"]) mkdirSync(join(folder, name), { recursive: true });
    symlinkSync("refs/heads/main", join(folder, "HEAD"));
    writeFileSync(join(folder, "config"), settingsThatRun);
    assert.equal(await verdict("cd linked-head && git status"), "exec.arguments");
  });

  it("follows a folder that keeps its settings elsewhere", async () => {
    for (const name of ["shared/objects", "shared/refs", "pointing"])
      mkdirSync(join(workspace, name), { recursive: true });
    writeFileSync(join(workspace, "pointing", "HEAD"), "ref: refs/heads/main\n");
    writeFileSync(join(workspace, "pointing", "commondir"), "../shared\n");
    writeFileSync(join(workspace, "shared", "config"), settingsThatRun);
    assert.equal(await verdict("cd pointing && git log"), "exec.arguments");
  });

  it("looks behind a .git without a HEAD, as git does", async () => {
    const folder = join(workspace, "hollow");
    for (const name of [".git", "objects", "refs"]) mkdirSync(join(folder, name), { recursive: true });
    writeFileSync(join(folder, "HEAD"), "ref: refs/heads/main\n");
    writeFileSync(join(folder, "config"), settingsThatRun);
    assert.equal(await verdict("cd hollow && git status"), "exec.arguments");
  });

  it("judges a program that starts git in its folder by the repository there", async () => {
    const { bin } = fixture;
    writeFileSync(join(bin, "gh"), "#!/bin/sh\n", { mode: 0o755 });
    const gh = async (): Promise<string> => {
      const { judgment } = await decide("cd repo && gh pr status", context, {
        allowlist: [join(bin, "*"), "/usr/bin/*"],
      });
      return judgment.outcome === "run" ? "run" : judgment.code;
    };
    assert.equal(await gh(), "run");
    git("config", "core.fsmonitor", "id");
    assert.equal(await gh(), "exec.arguments");
    git("config", "--unset", "core.fsmonitor");
  });

  it("checks a linked repository inside", async () => {
    const inner = join(repository, "inner");
    mkdirSync(inner);
    execFileSync("git", ["init", "-q"], { cwd: inner });
    execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "--allow-empty", "-m", "x"], {
      cwd: inner,
    });
    git("add", "inner");
    assert.equal(await inRepo("git status"), "run");
    writeFileSync(join(inner, ".git/hooks/post-index-change"), "#!/bin/sh\n");
    assert.equal(await inRepo("git status"), "exec.arguments");
    rmSync(join(inner, ".git/hooks/post-index-change"));
    execFileSync("git", ["config", "core.fsmonitor", "id"], { cwd: inner });
    assert.equal(await inRepo("git status"), "exec.arguments");
    git("update-index", "--index-version", "4");
    assert.equal(await inRepo("git status"), "exec.arguments");
  });
});
