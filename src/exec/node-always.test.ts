// Programs that a node may remember: none whose arguments could become a command.
import assert from "node:assert/strict";
import { test } from "node:test";

import { rememberedOnNode } from "./node-always.ts";

for (const [command, program] of [
  ["uname -a", "uname"],
  ["/usr/bin/uptime", "/usr/bin/uptime"],
  ["  df  -h /srv ", "df"],
] as const)
  test(`${command}: ${program}`, () => assert.equal(rememberedOnNode(command), program));

for (const command of [
  "",
  "sh -c id",
  "/bin/bash x.sh",
  "bash",
  "python3 x.py",
  "python3.11 x.py",
  "node x.js",
  "perl -e 1",
  "env FOO=1 id",
  "sudo id",
  "nice id",
  "git status",
  "find .",
  "awk 1",
  "tar xf a.tar",
  "ssh host",
  "uname; id",
  "uname && id",
  "uname | cat",
  "uname > f",
  "uname $(id)",
  "uname `id`",
  "FOO=1 uname",
  "uname\nid",
  '"uname"',
  "un*me",
  "openclaw gateway run",
])
  test(`${JSON.stringify(command)} is never remembered`, () => assert.equal(rememberedOnNode(command), undefined));
