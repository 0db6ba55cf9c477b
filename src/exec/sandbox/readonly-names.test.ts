// Placeholders for missing names: present while a command works in the folder, removed afterwards, also after a crash.
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { setTimeout as wait } from "node:timers/promises";

import { createNameProtection } from "./readonly-names.ts";

const plain = { isHome: false, gitWrite: false, hidden: [] };

function setup(t: TestContext): { workspace: string; ledger: string } {
  const folder = mkdtempSync(join(tmpdir(), "openclaw-shield-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const workspace = join(folder, "work");
  mkdirSync(workspace);
  return { workspace, ledger: join(folder, "ledger") };
}

test("creates placeholders for missing names and removes them shortly after the last user", async (t) => {
  const { workspace, ledger } = setup(t);
  writeFileSync(join(workspace, "mine.txt"), "mine");
  const nameProtection = createNameProtection(ledger);
  const first = await nameProtection.protect(workspace, plain);
  const second = await nameProtection.protect(workspace, plain);
  assert.ok(first.names.emptyFolders.includes(".git"));
  assert.ok(first.names.readOnly.includes(".mcp.json"));
  assert.deepEqual(second.names, first.names);
  first.drop();
  first.drop();
  await wait(700);
  assert.ok(readdirSync(workspace).includes(".git"), "the second one still works here");
  second.drop();
  await wait(700);
  assert.deepEqual(readdirSync(workspace), ["mine.txt"]);
  assert.deepEqual(readdirSync(ledger), []);
});

test("keeps a placeholder that was filled meanwhile", async (t) => {
  const { workspace, ledger } = setup(t);
  const nameProtection = createNameProtection(ledger);
  await nameProtection.protect(workspace, plain);
  writeFileSync(join(workspace, ".git", "HEAD"), "ref: refs/heads/main\n");
  writeFileSync(join(workspace, ".envrc"), "export A=1\n");
  nameProtection.close();
  assert.deepEqual(readdirSync(workspace).sort(), [".envrc", ".git"]);
});

test("shows existing names as they are and pins the folders around them", async (t) => {
  const { workspace, ledger } = setup(t);
  mkdirSync(join(workspace, ".config", "git"), { recursive: true });
  writeFileSync(join(workspace, ".config", "git", "config"), "[core]");
  writeFileSync(join(workspace, ".git"), "gitdir: elsewhere");
  const nameProtection = createNameProtection(ledger);
  const { pinned, readOnly, emptyFolders } = (await nameProtection.protect(workspace, plain)).names;
  assert.deepEqual(pinned, [".config"]);
  assert.ok(readOnly.includes(".config/git") && readOnly.includes(".git"));
  assert.ok(!emptyFolders.includes(".config"));
  nameProtection.close();
  assert.deepEqual(readdirSync(workspace).sort(), [".config", ".git"]);
});

test("protects the names that shells and logins obey in a home folder", async (t) => {
  const { workspace, ledger } = setup(t);
  writeFileSync(join(workspace, ".bashrc"), "alias x=y\n");
  writeFileSync(join(workspace, ".config"), "a file where a folder is usual");
  const nameProtection = createNameProtection(ledger);
  const { readOnly, emptyFolders } = (await nameProtection.protect(workspace, { ...plain, isHome: true })).names;
  for (const name of [".bashrc", ".profile", ".config"]) assert.ok(readOnly.includes(name), name);
  assert.ok(emptyFolders.includes(".ssh"));
  nameProtection.close();
  assert.deepEqual(readdirSync(workspace).sort(), [".bashrc", ".config"]);
  assert.equal(readFileSync(join(workspace, ".bashrc"), "utf8"), "alias x=y\n");
});

test("rejects a link under a protected name", async (t) => {
  const { workspace, ledger } = setup(t);
  symlinkSync("/etc", join(workspace, ".idea"));
  await assert.rejects(createNameProtection(ledger).protect(workspace, plain), { code: "sandbox.unsafe-link" });
});

const protectIn = (workspace: string, ledger: string, then: string): string[] => [
  "--input-type=module-typescript",
  "-e",
  `import { createNameProtection } from ${JSON.stringify(new URL("readonly-names.ts", import.meta.url).href)};
   const protection = createNameProtection(${JSON.stringify(ledger)});
   await protection.protect(${JSON.stringify(workspace)}, ${JSON.stringify(plain)});
   ${then}`,
];

test("removes the placeholders of a killed process", async (t) => {
  const { workspace, ledger } = setup(t);
  assert.throws(() =>
    execFileSync(process.execPath, protectIn(workspace, ledger, `process.kill(process.pid, "SIGKILL");`), {
      stdio: "ignore",
    }),
  );
  assert.ok(readdirSync(workspace).includes(".git"));
  const nameProtection = createNameProtection(ledger);
  await nameProtection.protect(workspace, plain);
  nameProtection.close();
  assert.deepEqual(readdirSync(workspace), []);
});

test("checks a git folder that was made before a crash", async (t) => {
  const { workspace, ledger } = setup(t);
  const make = `mkdirSync(join(workspace, "sub/.git/objects"), { recursive: true });
    mkdirSync(join(workspace, "sub/.git/refs"));
    writeFileSync(join(workspace, "sub/.git/HEAD"), "ref: refs/heads/main");
    writeFileSync(join(workspace, "sub/.git/config"), "[core]\\n\\tfsmonitor = id");`;
  const then = `const { mkdirSync, writeFileSync } = await import("node:fs"); const { join } = await import("node:path");
    const workspace = ${JSON.stringify(workspace)}; ${make} process.kill(process.pid, "SIGKILL");`;
  assert.throws(() => execFileSync(process.execPath, protectIn(workspace, ledger, then), { stdio: "ignore" }));
  const warnings: string[] = [];
  const nameProtection = createNameProtection(ledger, { warn: (message) => void warnings.push(message) });
  await nameProtection.protect(workspace, plain);
  nameProtection.close();
  assert.deepEqual(readdirSync(join(workspace, "sub/.git")).sort(), ["HEAD.set-aside", "config", "objects", "refs"]);
  assert.match(warnings.join(), /because of sub\/\.git: core\.fsmonitor/);
});

test("keeps the protection while another process works there, which then cleans up for both", async (t) => {
  const { workspace, ledger } = setup(t);
  const nameProtection = createNameProtection(ledger);
  await nameProtection.protect(workspace, plain);
  const other = spawn(
    process.execPath,
    protectIn(
      workspace,
      ledger,
      `console.log("up"); process.stdin.once("data", () => { protection.close(); process.exit(0); });`,
    ),
    {
      stdio: ["pipe", "pipe", "inherit"],
    },
  );
  await new Promise((resolve) => other.stdout.once("data", resolve));
  nameProtection.close();
  assert.ok(readdirSync(workspace).includes(".git"));
  other.stdin.write("end\n");
  await new Promise((resolve) => other.once("exit", resolve));
  assert.deepEqual(readdirSync(workspace), []);
});
