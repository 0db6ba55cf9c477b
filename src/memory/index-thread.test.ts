// The index thread as seen from the main thread: start, crash, and changes of settings in order.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";

import type { AgentId } from "../core/names.ts";
import type { IndexSettings } from "./settings.ts";
import { createIndexThread, type IndexThread } from "./index-thread.ts";

const home = realpathSync(mkdtempSync(join(tmpdir(), "memory-thread-")));
const thread = createIndexThread(() => undefined);
after(async () => {
  await thread.close();
  rmSync(home, { recursive: true, force: true });
});

function settingsIn(name: string, more: Partial<IndexSettings> = {}): IndexSettings {
  const workspace = join(home, name, "ws");
  mkdirSync(join(workspace, "memory"), { recursive: true });
  writeFileSync(join(workspace, "memory", "a.md"), "apple\n\nbanana\n");
  return {
    agent: "main" as AgentId,
    file: join(home, name, "main.sqlite"),
    workspace,
    extraPaths: [],
    chunking: { tokens: 400, overlap: 80 },
    watch: true,
    debounceMs: 50,
    intervalMs: 0,
    ...more,
  };
}

async function find(by: IndexThread, settings: IndexSettings, query: string): Promise<string[]> {
  const audience = { withoutPaths: [], sources: ["memory" as const] };
  const weights = { text: 1, vector: 0 };
  const { hits } = await by.ask(settings, "search", { query, limit: 5, audience, fresh: true, weights });
  return hits.map(({ path }) => path);
}

test("answers many concurrent calls, also while settings change", async () => {
  const settings = settingsIn("many");
  const other = { ...settings, debounceMs: 51 };
  const third = { ...settings, extraPaths: [home] };
  const answers = await Promise.all(
    Array.from({ length: 30 }, (_each, at) => find(thread, [settings, other, third][at % 3] ?? settings, "apple")),
  );
  // Calls with outdated settings may arrive while the first scan still runs.
  assert.ok(answers.every((paths) => paths.every((path) => path === "memory/a.md" || path.startsWith(home))));
  assert.ok((await find(thread, third, "apple")).includes("memory/a.md"));
});

test("returns a failure as the original error", async () => {
  const settings = settingsIn("long");
  await assert.rejects(find(thread, settings, "x".repeat(9000)), {
    code: "memory.query-too-long",
    name: "OpenClawError",
  });
  const blocked = settingsIn("blocked");
  mkdirSync(join(blocked.file, "x"), { recursive: true });
  await assert.rejects(find(thread, blocked, "apple"), { name: "OpenClawError" });
  rmSync(blocked.file, { recursive: true });
  assert.deepEqual(await find(thread, blocked, "apple"), ["memory/a.md"]);
});

test("names an owner in another process, and opens the index after it ended", async () => {
  const settings = settingsIn("owned");
  const code = `import { openEngine } from ${JSON.stringify(import.meta.resolve("./engine.ts"))};
    openEngine(${JSON.stringify(settings)}, () => {}); process.kill(process.pid, "SIGKILL");`;
  spawnSync(process.execPath, ["--input-type=module", "-e", code], { stdio: "inherit" });
  assert.deepEqual(await find(thread, settings, "banana"), ["memory/a.md"]);
  const second = createIndexThread(() => undefined);
  await assert.rejects(find(second, settings, "banana"), { code: "memory.busy" });
  await second.close();
});

test("closes without waiting for a long indexing, which the next thread continues", { timeout: 600_000 }, async () => {
  const settings = settingsIn("large");
  const count = 1500;
  for (let at = 0; at < count; at += 1)
    writeFileSync(join(settings.workspace, "memory", `${at}.md`), `apple ${"filler words ".repeat(1000)}`);
  const own = createIndexThread(() => undefined);
  await own.ask(settings, "status", {});
  const cut = own.ask(settings, "sync", {});
  await own.close();
  const { files } = await cut;
  assert.ok(files < count, `${files} files were read in before the end`);
  assert.equal((await thread.ask(settings, "sync", {})).files, count + 1);
});

test("releases its indexes when closed", async () => {
  const settings = settingsIn("again");
  const own = createIndexThread(() => undefined);
  assert.deepEqual(await find(own, settings, "apple"), ["memory/a.md"]);
  await own.close();
  assert.deepEqual(await find(thread, settings, "apple"), ["memory/a.md"]);
});

test("starts no thread after the close", async () => {
  const settings = settingsIn("closed");
  const first = createIndexThread(() => undefined);
  assert.deepEqual(await find(first, settings, "apple"), ["memory/a.md"]);
  await first.close();
  await assert.rejects(first.ask(settings, "begin"), { code: "memory.closed" });
  assert.deepEqual(await find(thread, settings, "apple"), ["memory/a.md"]);
});
