// A disk that is full or read-only: typed errors, nothing torn, and the gateway goes on when there is room again.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";

import { verifyStore } from "../../../src/store/verify.ts";
import { detailsOf, invoke, openclaw, operator, startGateway, type TestGateway } from "../../harness/gateway.ts";

const skip =
  process.platform !== "linux" || process.getuid?.() !== 0 ? "needs root on Linux to mount a small tmpfs" : false;

test("a full disk refuses changes by name, keeps stored data, and recovers", { skip, timeout: 300_000 }, async () => {
  const home = mkdtempSync(join(tmpdir(), "openclaw-full-"));
  execFileSync("mount", ["-t", "tmpfs", "-o", "size=6m", "tmpfs", home]);
  let gateway: TestGateway | undefined;
  try {
    // The cache of compiled code is elsewhere: it may take all there is, and is not what this is about.
    gateway = await startGateway({ home, env: { XDG_CACHE_HOME: join(tmpdir(), "openclaw-test-cache") } });
    const wire = await operator(gateway);
    const kept = await invoke(gateway, "write", { path: "kept.txt", content: "old\n" });
    assert.equal(kept.status, 200, JSON.stringify(kept.body));
    assert.equal((await wire.request("sessions.patch", { key: "agent:main:kept", label: "kept" })).ok, true);
    fill(join(home, "ballast"));

    const write = await invoke(gateway, "write", { path: "kept.txt", content: "x".repeat(200_000) });
    assert.ok(write.status === 400 || write.status === 503, String(write.status));
    assert.match(JSON.stringify(write.body), /"code":"(?:fs|store)\.full"/);
    const patch = await wire.request("sessions.patch", { key: "agent:main:lost", label: "x".repeat(60) });
    if (patch.ok !== true)
      assert.deepEqual(
        { code: patch.error?.code, reason: detailsOf(patch)["code"] },
        { code: "UNAVAILABLE", reason: "store.full" },
      );
    assert.equal((await wire.request("health")).ok, true);
    assert.equal((await invoke(gateway, "agents_list")).status, 200);
    assert.equal(readFileSync(join(gateway.workspace, "kept.txt"), "utf8"), "old\n");
    assert.deepEqual(readdirSync(gateway.workspace), ["kept.txt"]);

    rmSync(join(home, "ballast"));
    assert.equal((await invoke(gateway, "write", { path: "kept.txt", content: "new\n" })).status, 200);
    assert.equal((await wire.request("sessions.patch", { key: "agent:main:later", label: "later" })).ok, true);
    wire.end();
    assert.equal(await gateway.stop(), 0);
    const report = await verifyStore(join(gateway.state, "openclaw.sqlite"));
    assert.equal(report.ok, true, JSON.stringify(report));
  } finally {
    await gateway?.stop("SIGKILL");
    execFileSync("umount", ["-l", home]);
    rmSync(home, { recursive: true, force: true });
  }
});

for (const signal of ["SIGTERM", "SIGKILL"] as const) {
  test(
    `a start on a full disk after ${signal} reads stored data, names what to delete, and continues with space`,
    { skip, timeout: 300_000 },
    async () => {
      const home = mkdtempSync(join(tmpdir(), "openclaw-full-start-"));
      execFileSync("mount", ["-t", "tmpfs", "-o", "size=6m", "tmpfs", home]);
      const env = { XDG_CACHE_HOME: join(tmpdir(), "openclaw-test-cache"), OPENCLAW_STORE_CHECK_MS: "50" };
      let gateway: TestGateway | undefined;
      try {
        gateway = await startGateway({ home, env });
        const before = await operator(gateway);
        for (const label of ["one", "two"])
          assert.equal((await before.request("sessions.patch", { key: `agent:main:${label}`, label })).ok, true);
        before.end();
        await gateway.stop(signal);
        const kept = join(gateway.state, "openclaw.sqlite.before-v4");
        writeFileSync(kept, Buffer.alloc(100_000));
        fill(join(home, "ballast"));

        gateway = await startGateway({ home, env });
        assert.ok(gateway.output().includes(`safe to delete: ${kept} (100 KB)`), gateway.output());
        const wire = await operator(gateway, { identity: null });
        const list = await wire.call("sessions.list");
        assert.deepEqual(new Set(list.sessions.map(({ label }) => label)), new Set(["one", "two"]));
        const refused = await wire.request("sessions.patch", { key: "agent:main:three", label: "three" });
        assert.equal(detailsOf(refused)["code"], "store.full");
        const shown = await openclaw(home, ["sessions", "--json"], env);
        assert.equal(shown.code, 0, shown.stderr);
        assert.match(shown.stdout, /agent:main:two/);

        rmSync(join(home, "ballast"));
        assert.equal((await wire.request("sessions.patch", { key: "agent:main:three", label: "three" })).ok, true);
        assert.doesNotMatch(gateway.output(), /the store is damaged/);
        wire.end();
        assert.equal(await gateway.stop(), 0);
        const report = await verifyStore(join(gateway.state, "openclaw.sqlite"));
        assert.deepEqual([report.ok, report.counts["sessions"]], [true, 3]);
      } finally {
        await gateway?.stop("SIGKILL");
        execFileSync("umount", ["-l", home]);
        rmSync(home, { recursive: true, force: true });
      }
    },
  );
}

test("a read-only disk prevents the start, with the path and the fix", { skip, timeout: 300_000 }, async () => {
  const home = mkdtempSync(join(tmpdir(), "openclaw-ro-"));
  execFileSync("mount", ["-t", "tmpfs", "-o", "size=4m", "tmpfs", home]);
  try {
    const gateway = await startGateway({ home });
    await gateway.stop();
    execFileSync("mount", ["-o", "remount,ro", home]);
    await assert.rejects(startGateway({ home }), (error: Error) => {
      assert.match(error.message, new RegExp(join(home, ".openclaw")));
      assert.match(error.message, /fix: /);
      return true;
    });
  } finally {
    execFileSync("umount", ["-l", home]);
    rmSync(home, { recursive: true, force: true });
  }
});

function fill(file: string): void {
  for (let size = 4_000_000; size >= 512; size /= 2) {
    try {
      for (;;) writeFileSync(file, Buffer.alloc(size), { flag: "a" });
    } catch (error) {
      assert.equal((error as NodeJS.ErrnoException).code, "ENOSPC");
    }
  }
}
