// Choice of the shell, and the PATH of the login shell.
import assert from "node:assert/strict";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";

import { createMask } from "../base/mask.ts";
import { openLog } from "../base/log.ts";
import { createLoginPath, searchPath } from "./login-path.ts";
import { chooseShell } from "./shell.ts";

const having =
  (...paths: string[]) =>
  (program: string): string | undefined =>
    paths.find((path) => path === program || path.endsWith(`/${program}`));

test("uses SHELL, but bash or sh instead of fish when there is one", () => {
  const fish = { SHELL: "/usr/bin/fish" };
  assert.equal(chooseShell({ SHELL: "/bin/zsh" }, having("/bin/zsh", "/bin/sh")), "/bin/zsh");
  assert.equal(chooseShell(fish, having("/usr/bin/fish", "/bin/bash", "/bin/sh")), "/bin/bash");
  assert.equal(chooseShell(fish, having("/usr/bin/fish", "/bin/sh")), "/bin/sh");
  assert.equal(chooseShell(fish, having("/usr/bin/fish")), "/usr/bin/fish");
});

test("uses sh without SHELL, or when it is missing or refuses logins", () => {
  const find = having("/bin/sh", "/usr/sbin/nologin", "/bin/false");
  for (const env of [
    {},
    { SHELL: "" },
    { SHELL: "/gone/zsh" },
    { SHELL: "/usr/sbin/nologin" },
    { SHELL: "/bin/false" },
  ]) {
    assert.equal(chooseShell(env, find), "/bin/sh");
  }
  assert.equal(
    chooseShell({}, () => undefined),
    "/bin/sh",
  );
});

test("merges folders in order, without duplicates and relative ones", () => {
  assert.deepEqual(
    searchPath({
      prepend: ["~/bin", "/opt/x", "rel"],
      login: ["/l", "/usr/bin"],
      own: "/g:.::/usr/bin:/l",
      home: "/h",
    }),
    ["/h/bin", "/opt/x", "/l", "/usr/bin", "/g", "/usr/local/bin", "/bin"],
  );
});

test("asks the login shell once, ignores its other output, and falls back when it is silent", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "login-path-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const log = openLog({ level: "silent", consoleLevel: "silent", consoleStyle: "json", mask: createMask() });
  t.after(() => log.close());
  writeFileSync(
    join(folder, ".profile"),
    `echo "welcome back"; echo x >> ${folder}/asked; PATH=/from/profile:rel:$PATH; sleep 30 &\n`,
  );
  const env = { HOME: folder, PATH: "/usr/bin:/bin" };
  const path = createLoginPath({ shell: "/bin/sh", env, log });
  const answers = await Promise.all([path(), path()]);
  assert.equal(answers[0]?.[0], "/from/profile");
  assert.equal(answers[0], await path());
  assert.ok(!answers[0].includes("rel"));

  const slow = join(folder, "slow");
  writeFileSync(slow, "#!/bin/sh\nexec sleep 60\n");
  chmodSync(slow, 0o755);
  assert.deepEqual(await createLoginPath({ shell: slow, env, log, timeoutMs: 100 })(), []);
  assert.deepEqual(await createLoginPath({ shell: join(folder, "none"), env, log })(), []);
});
