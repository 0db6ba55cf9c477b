// Runs the shared sandbox cases with docker on a private engine, plus cases that only containers have.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { utimesSync } from "node:fs";
import { join } from "node:path";
import { after, describe, test } from "node:test";

import { noEngine, startEngine, type TestEngine } from "../../../test/harness/docker.ts";
import { sandboxCases, createSandboxFixture, type BackendSetup } from "../sandbox.cases.ts";

let engine: TestEngine | undefined;

async function setup(): Promise<BackendSetup | string> {
  const reason = noEngine();
  if (reason !== false) return reason;
  const started = await startEngine();
  if (typeof started === "string") return started;
  engine = started;
  return setupOf(started);
}

const setupOf = ({ env, image }: TestEngine): BackendSetup => ({
  backend: "docker",
  env: { ...process.env, ...env },
  docker: { image },
  setuid: "/usr/bin/setuid-id id",
});

sandboxCases("docker", setup);

describe("containers", () => {
  after(() => engine?.stop());

  test("reports the command that gets a missing image", async (t) => {
    if (engine === undefined) return t.skip("no engine");
    const fixture = createSandboxFixture(setupOf(engine), { docker: { image: "openclaw-absent:1" } });
    try {
      await assert.rejects(fixture.run("true"), { code: "sandbox.no-image" });
    } finally {
      await fixture.close();
    }
  });

  test("keeps a container in use when settings change, and replaces it later", async (t) => {
    if (engine === undefined) return t.skip("no engine");
    const settings: { env: Record<string, string> } = { env: { STATE: "first" } };
    const fixture = createSandboxFixture(setupOf(engine), { docker: settings });
    try {
      assert.equal((await fixture.run("echo $STATE")).text, "first");
      settings.env = { STATE: "second" };
      const changed = createSandboxFixture(setupOf(engine), { docker: settings }, { beside: fixture });
      assert.equal((await changed.run("echo $STATE")).text, "first");
      assert.match(changed.warnings.join(), /openclaw sandbox recreate --agent main/);
      await changed.sandboxes.close();
      const [sandbox] = await fixture.sandboxes.list();
      const long = Date.now() / 1000 - 3600;
      utimesSync(join(fixture.home, ".openclaw", "boxes", sandbox?.name ?? "", "box.json"), long, long);
      const later = createSandboxFixture(setupOf(engine), { docker: settings }, { beside: fixture });
      assert.equal((await later.run("echo $STATE")).text, "second");
      await later.sandboxes.close();
    } finally {
      await fixture.close();
    }
  });

  test("builds a container again after it was removed outside", async (t) => {
    if (engine === undefined) return t.skip("no engine");
    const fixture = createSandboxFixture(setupOf(engine));
    try {
      await fixture.run("true");
      const [sandbox] = await fixture.sandboxes.list();
      execFileSync("docker", ["rm", "-f", sandbox?.name ?? ""], {
        env: { ...process.env, ...engine.env },
        stdio: "ignore",
      });
      await fixture.sandboxes.close();
      const again = createSandboxFixture(setupOf(engine), {}, { beside: fixture });
      assert.equal((await again.run("echo back")).text, "back");
      await again.sandboxes.close();
    } finally {
      await fixture.close();
    }
  });

  test("puts no secret of a call on a command line", async (t) => {
    if (engine === undefined) return t.skip("no engine");
    const fixture = createSandboxFixture(setupOf(engine));
    try {
      const sandbox = await fixture.sandbox();
      const launch = await sandbox.launch({
        argv: ["/bin/sh", "-c", "true"],
        cwd: "/workspace",
        env: { TOKEN: "s3cret" },
        tty: false,
      });
      assert.doesNotMatch(JSON.stringify([launch.argv, launch.env]), /s3cret/);
      launch.gone?.();
    } finally {
      await fixture.close();
    }
  });
});
