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

test("makes the gateway's own code and its Node read-only", () => {
  const { programs } = pathRuleOptions("/bin/true");
  for (const path of [packageRoot(), process.execPath]) assert.ok(programs.includes(path), path);
});

test("for root also makes the system folders read-only", { skip: process.getuid?.() !== 0 }, () => {
  assert.ok(pathRuleOptions("/bin/true").programs.includes("/etc"));
});

test("shows the sockets of engines and buses only to their clients", () => {
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

test("does not treat a program that commands can write as a client", () => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "openclaw-client-")));
  try {
    copyFileSync("/bin/cat", join(folder, "docker"));
    assert.ok(covers(join(folder, "docker"), ENGINE));
  } finally {
    rmSync(folder, { recursive: true });
  }
});
