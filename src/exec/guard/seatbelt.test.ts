// The macOS profile as text, since it cannot run on another system.
import assert from "node:assert/strict";
import { test } from "node:test";

import { seatbeltProfile, underSeatbelt } from "./seatbelt.ts";
import type { PathRule } from "./path-rules.ts";

const rules: readonly PathRule[] = [
  { path: "/Users/me/data", access: "lock", isFolder: true },
  { path: "/Users/me/data/state", access: "hide", isFolder: true },
  { path: "/var/run/docker.sock", access: "hide", isFolder: false },
  { path: "/Users/me/data/state/skills", access: "read-only", isFolder: true },
  { path: '/Users/me/data/state/work "1"', access: "show", isFolder: true },
];

test("denies the gateway's folders, then allows the workspace in them", () => {
  assert.equal(
    seatbeltProfile(rules),
    String.raw`(version 1)
(allow default)
(deny mach-priv-task-port)
(deny file-write-unlink (literal "/Users/me/data"))
(deny file* (subpath "/Users/me/data/state"))
(deny file* (literal "/var/run/docker.sock"))
(allow file-read* (subpath "/Users/me/data/state/skills"))
(deny file-write* (subpath "/Users/me/data/state/skills"))
(allow file* (subpath "/Users/me/data/state/work \"1\""))`,
  );
});

test("starts the program under sandbox-exec in its own folder", () => {
  const launch = { argv: ["/bin/ls", "-l"], argv0: "ls", cwd: "/Users/me", env: { A: "1" } };
  assert.deepEqual(underSeatbelt(launch, []), {
    argv: ["/usr/bin/sandbox-exec", "-p", seatbeltProfile([]), "/bin/ls", "-l"],
    cwd: "/Users/me",
    env: { A: "1" },
  });
});
