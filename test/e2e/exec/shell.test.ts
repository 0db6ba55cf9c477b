// Which shell runs a command, and with which PATH.
import assert from "node:assert/strict";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test, type TestContext } from "node:test";

import { exec, gatewayFor, writeApprovals } from "../../harness/exec.ts";
import { noBubblewrap } from "../../harness/sandbox.ts";

describe("SHELL is fish", { skip: noBubblewrap }, () => {
  let folder: string;
  before(() => {
    folder = mkdtempSync(join(tmpdir(), "openclaw-fish-"));
    // Not a shell at all: what it is given must never be something bash or sh could have run.
    writeFileSync(
      join(folder, "fish"),
      `#!${process.execPath}\nconsole.log("fish was given " + process.argv.slice(2).join(" "));\n`,
      { mode: 0o755 },
    );
  });
  after(() => rmSync(folder, { recursive: true }));

  /** A machine on which `hidden` cannot be run: a device is mounted over each. */
  const without = (hidden: readonly string[]): readonly string[] => [
    "bwrap",
    "--dev-bind",
    "/",
    "/",
    "--die-with-parent",
    ...hidden.filter((path) => existsSync(path)).flatMap((path) => ["--dev-bind", "/dev/null", path]),
  ];
  const told = async (t: TestContext, hidden: readonly string[], command: string): Promise<string> => {
    const env = { SHELL: join(folder, "fish"), PATH: `${folder}:/usr/bin:/bin` };
    const gateway = await gatewayFor(t, { env, under: without(hidden) });
    return (await exec(gateway, { command })).text.trim();
  };
  const bash = ["/usr/bin/bash", "/usr/local/bin/bash"];

  test("bash runs the command when it is on PATH", async (t) => {
    assert.match(await told(t, [], "readlink /proc/$$/exe; echo ${BASH_VERSION:+bash}"), /\/bash\nbash$/);
  });

  test("sh runs it when bash is missing", async (t) => {
    const answer = await told(t, bash, "readlink /proc/$$/exe; echo ${BASH_VERSION:-no bash}");
    assert.match(answer, /sh\nno bash$/);
    assert.doesNotMatch(answer, /fish/);
  });

  test("fish itself runs it when both are missing", async (t) => {
    assert.match(await told(t, [...bash, "/usr/bin/sh"], "echo marker"), /^fish was given -l?c echo marker$/);
  });
});

test("host=gateway: the PATH of the login shell is merged into the command's", async (t) => {
  const gateway = await gatewayFor(t, {
    config: { tools: { exec: { host: "gateway", ask: "off" } } },
    env: { SHELL: "/bin/bash" },
  });
  writeFileSync(join(gateway.home, ".bash_profile"), 'export PATH="$PATH:/opt/from-login"\n');
  writeApprovals(gateway.state, { agents: { main: { allowlist: [{ pattern: "/usr/bin/printenv" }] } } });
  const { text } = await exec(gateway, { command: "printenv PATH" });
  assert.ok(text.trim().split(":").includes("/opt/from-login"), text);
});

test("started as a service without PATH, commands still find the usual folders in their order", async (t) => {
  const gateway = await gatewayFor(t, {
    config: { tools: { exec: { host: "gateway", security: "full", ask: "off" } } },
    env: { PATH: "", SHELL: "/bin/sh" },
  });
  const { text } = await exec(gateway, { command: 'printf %s "$PATH"' });
  const usual = text
    .trim()
    .split(":")
    .filter((folder) => ["/usr/local/bin", "/usr/bin", "/bin"].includes(folder));
  assert.deepEqual(usual, ["/usr/local/bin", "/usr/bin", "/bin"]);
  assert.equal(text.split(":").includes(""), false);
});
