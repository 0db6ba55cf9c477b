// SBX-025: copies into a sandbox's workspace follow no link planted inside.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";

import { mirrorFiles } from "../../src/exec/sandbox/mirror.ts";
import { createSandboxFixture, type SandboxFixture } from "../../src/exec/sandbox.cases.ts";
import { noBubblewrap } from "../harness/sandbox.ts";

const rounds = Number(process.env["OPENCLAW_RACE_ROUNDS"] ?? 60);
const CANARY = "CANARY-025";

interface Fixture {
  readonly from: string;
  readonly to: string;
  readonly outside: string;
}

function lay(context: TestContext): Fixture {
  const home = mkdtempSync(join(tmpdir(), "mirror-"));
  context.after(() => rmSync(home, { recursive: true, force: true }));
  const [from, to, outside] = ["from", "to", "outside"].map((name) => join(home, name)) as [string, string, string];
  for (const folder of [from, to, outside]) mkdirSync(folder);
  mkdirSync(join(from, "skills", "one"), { recursive: true });
  writeFileSync(join(from, "skills", "one", "SKILL.md"), "how to");
  writeFileSync(join(from, "AGENTS.md"), "rules");
  writeFileSync(join(outside, "secret"), CANARY);
  return { from, to, outside };
}

const untouched = ({ outside }: Fixture): void => {
  assert.deepEqual(readdirSync(outside), ["secret"]);
  assert.equal(readFileSync(join(outside, "secret"), "utf8"), CANARY);
};

test("SBX-025 does not follow links in the target, above a name or in its place", async (context) => {
  const plants: Record<string, (setup: Fixture) => void> = {
    "a parent that leads out": ({ to, outside }) => symlinkSync(outside, join(to, "skills")),
    "a parent that leads to a folder inside": ({ to }) => {
      mkdirSync(join(to, "elsewhere"));
      symlinkSync("elsewhere", join(to, "skills"));
    },
    "a parent further down": ({ to, outside }) => {
      mkdirSync(join(to, "skills"));
      symlinkSync(outside, join(to, "skills", "one"));
    },
    "the name itself, at a file": ({ to, outside }) => {
      mkdirSync(join(to, "skills", "one"), { recursive: true });
      symlinkSync(join(outside, "secret"), join(to, "skills", "one", "SKILL.md"));
    },
    "the name itself, at nothing": ({ to, outside }) => {
      mkdirSync(join(to, "skills", "one"), { recursive: true });
      symlinkSync(join(outside, "made"), join(to, "skills", "one", "SKILL.md"));
    },
    "a second name of a file outside": ({ to, outside }) => {
      mkdirSync(join(to, "skills", "one"), { recursive: true });
      linkSync(join(outside, "secret"), join(to, "skills", "one", "SKILL.md"));
    },
  };
  for (const [name, plant] of Object.entries(plants)) {
    for (const put of ["missing", "always"] as const) {
      const setup = lay(context);
      plant(setup);
      const names = ["skills/one/SKILL.md", "AGENTS.md"];
      const { copied } = await mirrorFiles({ ...setup, names, put });
      assert.deepEqual(copied, ["AGENTS.md"], `${name}, ${put}`);
      untouched(setup);
    }
  }
});

test("SBX-025 does not read links and hard links in the source", async (context) => {
  const setup = lay(context);
  const { from, to, outside } = setup;
  symlinkSync(join(outside, "secret"), join(from, "SOUL.md"));
  linkSync(join(outside, "secret"), join(from, "USER.md"));
  symlinkSync(outside, join(from, "linked"));
  const names = ["SOUL.md", "USER.md", "linked/secret", "../outside/secret", "AGENTS.md", "TOOLS.md"];
  const { copied, passedOver } = await mirrorFiles({ from, to, names, put: "always" });
  assert.deepEqual(copied, ["AGENTS.md"]);
  assert.deepEqual(
    passedOver.map(({ name }) => name),
    names.slice(0, 4),
  );
  assert.deepEqual(readdirSync(to), ["AGENTS.md"]);
});

test(`SBX-025 a parent swapped for a link during the copy: ${rounds} rounds`, async (context) => {
  const setup = lay(context);
  const { from, to, outside } = setup;
  mkdirSync(join(from, "race", "dir"), { recursive: true });
  writeFileSync(join(from, "race", "dir", "planted"), "x");
  mkdirSync(join(to, "race", "dir"), { recursive: true });
  const racer = spawn(process.execPath, [join(import.meta.dirname, "fs-racer.ts"), "folder", to, outside], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let [copies, escapes] = [0, 0];
  try {
    await once(racer.stdout, "data");
    for (let round = 0; round < rounds; round += 1) {
      const { copied } = await mirrorFiles({ from, to, names: ["race/dir/planted"], put: "always" });
      copies += copied.length;
      if (!existsSync(join(outside, "planted"))) continue;
      escapes += 1;
      rmSync(join(outside, "planted"));
    }
    assert.equal(racer.exitCode, null, "the racer ran to the end");
  } finally {
    racer.kill("SIGKILL");
  }
  context.diagnostic(`${escapes} escapes in ${rounds} rounds, ${copies} copied`);
  untouched(setup);
  assert.equal(escapes, 0);
});

test(
  "SBX-025 fills a sandbox with its agent's files, twice, and follows no planted link",
  { skip: noBubblewrap },
  async (t) => {
    const setup = { backend: "bubblewrap", env: process.env, docker: {}, setuid: "" } as const;
    const settings = { workspaceAccess: "none", scope: "agent" } as const;
    const fixture: SandboxFixture = createSandboxFixture(setup, settings);
    t.after(() => fixture.close());
    const outside = join(fixture.home, "outside");
    mkdirSync(outside);
    writeFileSync(join(outside, "secret"), CANARY);
    const put = (name: string, text: string): void => writeFileSync(join(fixture.workspace, name), text);
    put("AGENTS.md", "the rules");
    put("TOOLS.md", "the tools");
    put("HEARTBEAT.md", "the beat");
    put("MEMORY.md", CANARY);
    symlinkSync(join(outside, "secret"), join(fixture.workspace, "USER.md"));
    linkSync(join(outside, "secret"), join(fixture.workspace, "SOUL.md"));

    const first = await fixture.run("ls; cat AGENTS.md TOOLS.md HEARTBEAT.md");
    assert.equal(first.text, "AGENTS.md\nHEARTBEAT.md\nTOOLS.md\nthe rulesthe toolsthe beat");
    for (const name of ["USER.md", "SOUL.md"])
      assert.ok(fixture.warnings.join("\n").includes(`"name":"${name}"`), name);

    await fixture.run(
      `rm AGENTS.md TOOLS.md; ln -s ${outside}/made AGENTS.md; ln -s ${outside}/secret TOOLS.md; echo mine > HEARTBEAT.md`,
    );
    assert.equal((await fixture.sandboxes.recreate({ all: true })).length, 1);
    const again = await fixture.run(
      "cat HEARTBEAT.md; readlink AGENTS.md TOOLS.md; cat TOOLS.md AGENTS.md SOUL.md USER.md",
    );
    assert.match(again.text, new RegExp(`^mine\n${outside}/made\n${outside}/secret\n`));
    assert.doesNotMatch(again.text, new RegExp(CANARY));
    assert.deepEqual(readdirSync(outside), ["secret"]);
    assert.equal(readFileSync(join(outside, "secret"), "utf8"), CANARY);
    assert.equal(lstatSync(join(fixture.workspace, "AGENTS.md")).isFile(), true);
    assert.equal(readFileSync(join(fixture.workspace, "HEARTBEAT.md"), "utf8"), "the beat");
  },
);

test("does not fill a shared sandbox or one with the agent's workspace", { skip: noBubblewrap }, async (t) => {
  const setup = { backend: "bubblewrap", env: process.env, docker: {}, setuid: "" } as const;
  const shared = createSandboxFixture(setup, { workspaceAccess: "none", scope: "shared" });
  t.after(() => shared.close());
  writeFileSync(join(shared.workspace, "AGENTS.md"), "of one agent");
  assert.equal((await shared.run("ls -A")).text.includes("AGENTS.md"), false);
});
