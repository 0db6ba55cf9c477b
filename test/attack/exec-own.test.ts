// Attacks on commands that are ours, beside the shared corpus: each must be refused, and plain work beside it must run.
import assert from "node:assert/strict";
import { chmodSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";

import { noBubblewrap } from "../harness/sandbox.ts";
import { openExecFixture, type ExecAttack, type ExecFixture } from "./exec.cases.ts";
import { controls, environments, everything, fine, ordinary, plain, planted, streams } from "./exec-own.cases.ts";

type Setup = NonNullable<ExecAttack["input"]["setup"]>;

const allowlisted = { host: "gateway", security: "allowlist", ask: "off" };
const setups = {
  plain: {
    exec: allowlisted,
    allowlist: ["/bin/echo", "/bin/ls", "/usr/bin/rg", "/usr/bin/git", "/usr/bin/python3"],
  },
  everything: { exec: allowlisted, allowlist: ["/**"] },
  streams: {
    exec: { ...allowlisted, safeBins: ["cut", "uniq", "head", "tail", "tr", "wc", "sort", "grep", "jq"] },
    allowlist: [],
  },
  full: { exec: { host: "gateway", security: "full", ask: "off" } },
} satisfies Record<string, Setup>;

const attack = (setup: Setup, command: string, env?: Record<string, string>): ExecAttack => ({
  id: "own",
  area: "exec",
  tool: "exec",
  expect: "deny",
  claim: "",
  input: { setup, params: { command, ...(env === undefined ? {} : { env }) } },
});

const lines: readonly ExecAttack[] = [
  ...plain.map((command) => attack(setups.plain, command)),
  ...everything.map((command) => attack(setups.everything, command)),
  ...planted.map((command) => attack(setups.everything, `{{OUT}}/bin/${command}`)),
  ...streams.map((command) => attack(setups.streams, command)),
];
const overrides = environments.map((env) => attack(setups.full, "ls", env));
const workable: readonly ExecAttack[] = [
  ...controls.map((command) => attack(setups.plain, command)),
  ...fine.map((command) => attack(setups.everything, command)),
  ...ordinary.map((env) => attack(setups.full, "ls", env)),
];

describe("further attacks on commands", () => {
  let fixture: ExecFixture;
  before(async () => {
    fixture = await openExecFixture([...lines, ...overrides, ...workable]);
    plant(fixture);
  });
  after(() => fixture.close());

  for (const one of [...lines, ...overrides])
    test(`refused: ${nameOf(one)}`, async () => {
      const called = await fixture.run(one);
      assert.deepEqual(fixture.harm(called), []);
      assert.notEqual(called.status, 200, called.text);
      assert.ok(
        called.error?.details?.["refused"] === true || /^(?:tool|exec)\.bad-/.test(called.error?.type ?? ""),
        `${called.error?.type}: ${called.text}`,
      );
    });

  for (const one of workable)
    test(`runs: ${nameOf(one)}`, { skip: noBubblewrap }, async () => {
      const called = await fixture.run(one);
      // The program may fail on its own (no repository here); what counts is that it was started.
      assert.match(String(called.details["status"]), /completed|failed/, called.text);
      assert.deepEqual(fixture.harm(), []);
    });
});

/** Programs this machine may not have: whichever of them is started, the canary tells. */
function plant({ out, canary, workspaceOf }: ExecFixture): void {
  const bin = join(out, "bin");
  mkdirSync(bin, { recursive: true });
  for (const command of planted) {
    const file = join(bin, command.split(" ")[0] ?? "");
    writeFileSync(file, `#!/bin/sh\ntouch '${canary}'\n`);
    chmodSync(file, 0o755);
  }
  for (const one of [...lines, ...workable]) {
    const folder = workspaceOf(one);
    writeFileSync(join(folder, "script.py"), "print(1)\n");
    writeFileSync(join(folder, "Makefile"), "all:\n\t@echo made\n");
    writeFileSync(join(folder, "evil.mk"), `all:\n\t@touch '${canary}'\n`);
    mkdirSync(join(folder, "ünï"), { recursive: true });
    layRepositories(folder, canary);
  }
}

/** Three folders that git takes for repositories although they have no .git of the usual kind. */
function layRepositories(folder: string, canary: string): void {
  const settings = `[core]\n\tbare = false\n\tfsmonitor = touch '${canary}'; false\n\tsshCommand = touch '${canary}'; false\n`;
  for (const name of ["linked-head", "hollow", "shared"])
    for (const part of ["objects", "refs"]) mkdirSync(join(folder, name, part), { recursive: true });
  for (const name of ["pointing", "hollow/.git"]) mkdirSync(join(folder, name), { recursive: true });
  for (const name of ["linked-head", "hollow"])
    writeFileSync(join(folder, name, "config"), `${settings}\tworktree = ${join(folder, name)}\n`);
  writeFileSync(join(folder, "shared", "config"), settings);
  for (const name of ["pointing", "hollow"]) writeFileSync(join(folder, name, "HEAD"), "ref: refs/heads/main\n");
  writeFileSync(join(folder, "pointing", "commondir"), "../shared\n");
  rmSync(join(folder, "linked-head", "HEAD"), { force: true });
  symlinkSync("refs/heads/main", join(folder, "linked-head", "HEAD"));
}

function nameOf({ input }: ExecAttack): string {
  return JSON.stringify(input.params?.env ?? input.params?.command ?? "").slice(0, 150);
}
