// "Always" is offered only where no file decides what the program does, and is valid only while the program is unchanged.
import assert from "node:assert/strict";
import { chmodSync, copyFileSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, describe, it } from "node:test";

import { alwaysCovers } from "./always.ts";
import { analyze } from "./analyze.ts";
import { effectivePolicy, type AllowEntry } from "./effective.ts";
import { makePlan } from "./freeze.ts";
import { openPolicyFixture } from "./fixture.cases.ts";
import { judge } from "./decide.ts";

const fixture = openPolicyFixture();
after(() => fixture.close());
const bin = join(fixture.workspace, "bin");
mkdirSync(bin);
const context = { ...fixture.context, path: [bin, ...fixture.context.path] };

function program(name: string, text = "#!/bin/sh\necho one\n"): string {
  const path = join(bin, name);
  writeFileSync(path, text);
  chmodSync(path, 0o755);
  return path;
}

async function offered(command: string): Promise<readonly AllowEntry[]> {
  const analysis = await analyze(command, context);
  const shared = { env: {}, shell: "/bin/sh", host: "gateway", agent: "main", session: "agent:main:main" } as const;
  return alwaysCovers(makePlan({ analysis, context, ...shared })).entries;
}

async function outcome(command: string, allowlist: readonly AllowEntry[]): Promise<string> {
  const policy = effectivePolicy(
    { ask: "on-miss" },
    { version: 1, agents: { main: { allowlist: [...allowlist] } } },
    "main",
  );
  return judge({ analysis: await analyze(command, context), policy, safeBins: [] }).outcome;
}

describe("always", () => {
  for (const name of [
    ..."make just npm pytest terraform cargo go docker bats tox ctest mytool eslint jest mocha prettier mypy".split(
      " ",
    ),
    ..."gradle mvn rake ansible-playbook helm kubectl pulumi packer vagrant cmake ninja meson bazel deno bun".split(
      " ",
    ),
  ])
    it(`is not offered for ${name}, which reads its instructions from files`, async () => {
      program(name);
      assert.deepEqual(await offered(`${name} test`), []);
      assert.deepEqual(await offered(`nice ${name} test`), []);
    });

  for (const command of [
    "./build.sh",
    "bin/tool2 x",
    "sh build.sh",
    "python3 x.py",
    "sed -n -f x.sed a",
    "awk -f x.awk a",
    "jq -f x.jq a",
    "xz --files=list",
    "xz --file=list",
  ])
    it(`is not offered for ${command}`, async () => {
      program("tool2");
      writeFileSync(join(fixture.workspace, "build.sh"), "echo one\n", { mode: 0o755 });
      for (const name of ["x.py", "x.sed", "x.awk", "x.jq"]) writeFileSync(join(fixture.workspace, name), "1\n");
      program("jq", "\0 not a script");
      assert.deepEqual(await offered(command), []);
    });

  it("is not offered for a script or a link that has the name of a plain program", async () => {
    program("ls");
    assert.deepEqual(await offered("ls -l"), []);
    symlinkSync("/usr/bin/env", join(bin, "stat"));
    assert.deepEqual(await offered("stat x"), []);
  });

  it("is offered for a plain program elsewhere, and ends when its file changes", async () => {
    copyFileSync("/usr/bin/touch", join(bin, "touch"));
    const entries = await offered("touch x");
    assert.match(entries[0]?.sha256 ?? "", /^[0-9a-f]{64}$/);
    assert.equal(await outcome("touch x", entries), "run");
    copyFileSync("/usr/bin/mkdir", join(bin, "touch"));
    assert.equal(await outcome("touch x", entries), "ask");
  });

  it("asks again for an entry of an older version that did not bind the content", async () => {
    const path = program("deploy2");
    const words = { pattern: path, args: ["now"], cwd: fixture.workspace };
    assert.equal(await outcome("deploy2 now", [words]), "ask");
    assert.equal(
      await outcome("deploy2 now", [{ pattern: path }]),
      "run",
      "an entry that the owner wrote still applies",
    );
    writeFileSync(join(fixture.workspace, "Makefile"), "all:\n\techo one\n");
    assert.equal(await outcome("make", [{ pattern: "**/make", args: [], cwd: fixture.workspace }]), "ask");
  });
});
