// The docker box against the shared cases, on a real engine of the test's own; and what only containers have.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { utimesSync } from "node:fs";
import { join } from "node:path";
import { after, describe, test } from "node:test";

import { noEngine, startEngine, type TestEngine } from "../../../test/harness/docker.ts";
import { sandboxCases, createYard, type SandboxFixture } from "../sandbox.cases.ts";

let engine: TestEngine | undefined;

async function ground(): Promise<SandboxFixture | string> {
  const reason = noEngine();
  if (reason !== false) return reason;
  const started = await startEngine();
  if (typeof started === "string") return started;
  engine = started;
  return groundOf(started);
}

const groundOf = ({ env, image }: TestEngine): SandboxFixture => ({
  backend: "docker",
  env: { ...process.env, ...env },
  docker: { image },
  setuid: "/usr/bin/setuid-id id",
});

sandboxCases("docker", ground);

describe("containers", () => {
  after(() => engine?.stop());

  test("a missing image is an error that names the command to get it", async (t) => {
    if (engine === undefined) return t.skip("no engine");
    const yard = createYard(groundOf(engine), { docker: { image: "openclaw-absent:1" } });
    try {
      await assert.rejects(yard.run("true"), { code: "sandbox.no-image" });
    } finally {
      await yard.close();
    }
  });

  test("changed settings wait while a container is in use, and are taken up later", async (t) => {
    if (engine === undefined) return t.skip("no engine");
    const settings: { env: Record<string, string> } = { env: { STATE: "first" } };
    const yard = createYard(groundOf(engine), { docker: settings });
    try {
      assert.equal((await yard.run("echo $STATE")).text, "first");
      settings.env = { STATE: "second" };
      const changed = createYard(groundOf(engine), { docker: settings }, { beside: yard });
      assert.equal((await changed.run("echo $STATE")).text, "first");
      assert.match(changed.warnings.join(), /openclaw sandbox recreate --agent main/);
      await changed.sandboxes.close();
      const [sandbox] = await yard.sandboxes.list();
      const long = Date.now() / 1000 - 3600;
      utimesSync(join(yard.home, ".openclaw", "boxes", sandbox?.name ?? "", "box.json"), long, long);
      const later = createYard(groundOf(engine), { docker: settings }, { beside: yard });
      assert.equal((await later.run("echo $STATE")).text, "second");
      await later.sandboxes.close();
    } finally {
      await yard.close();
    }
  });

  test("a container that somebody removed is built anew", async (t) => {
    if (engine === undefined) return t.skip("no engine");
    const yard = createYard(groundOf(engine));
    try {
      await yard.run("true");
      const [sandbox] = await yard.sandboxes.list();
      execFileSync("docker", ["rm", "-f", sandbox?.name ?? ""], {
        env: { ...process.env, ...engine.env },
        stdio: "ignore",
      });
      await yard.sandboxes.close();
      const again = createYard(groundOf(engine), {}, { beside: yard });
      assert.equal((await again.run("echo back")).text, "back");
      await again.sandboxes.close();
    } finally {
      await yard.close();
    }
  });

  test("secrets of a call are on no command line", async (t) => {
    if (engine === undefined) return t.skip("no engine");
    const yard = createYard(groundOf(engine));
    try {
      const sandbox = await yard.sandbox();
      const launch = await sandbox.launch({
        argv: ["/bin/sh", "-c", "true"],
        cwd: "/workspace",
        env: { TOKEN: "s3cret" },
        tty: false,
      });
      assert.doesNotMatch(JSON.stringify([launch.argv, launch.env]), /s3cret/);
      launch.gone?.();
    } finally {
      await yard.close();
    }
  });
});
