// What a guarded command may not change or connect to on this machine.
import assert from "node:assert/strict";
import { copyFileSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";

import { packageRoot } from "../../base/version.ts";
import { pathRuleOptions } from "./path-rule-options.ts";

const covers = (program: string, socket: string): boolean => pathRuleOptions(program).services.includes(socket);
const ENGINE = "/run/docker.sock";

test("what the gateway runs from is kept: its own code and its Node", () => {
  const { programs } = pathRuleOptions("/bin/true");
  for (const path of [packageRoot(), process.execPath]) assert.ok(programs.includes(path), path);
});

test("root's commands also leave alone what every program obeys", { skip: process.getuid?.() !== 0 }, () => {
  assert.ok(pathRuleOptions("/bin/true").programs.includes("/etc"));
});

test("only their own clients see the sockets of engines and buses", () => {
  const bus = join(process.env["XDG_RUNTIME_DIR"] ?? `/run/user/${process.getuid?.()}`, "bus");
  assert.deepEqual(
    ["/bin/cat", "/usr/bin/docker", "/usr/bin/systemctl"].map((program) => [
      covers(program, ENGINE),
      covers(program, bus),
    ]),
    [
      [true, true],
      [false, true],
      [true, false],
    ],
  );
});

test("a program that a command could have put there is no client, whatever its name", () => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "openclaw-client-")));
  try {
    copyFileSync("/bin/cat", join(folder, "docker"));
    assert.ok(covers(join(folder, "docker"), ENGINE));
  } finally {
    rmSync(folder, { recursive: true });
  }
});
