// Reads one value without the schema: from the file when it is set, otherwise the default.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

import { makeStateFolder } from "./folder.cases.ts";
import { peekConfig } from "./peek.ts";

test("reads the file first, then the default, then undefined", async (t) => {
  const folder = makeStateFolder(
    t,
    { "openclaw.json": "{ gateway: { port: 4, $include: './x' } }", x: "{ bind: '${BIND}', port: 5 }" },
    { BIND: "lan" },
  );
  assert.deepEqual(await peekConfig(folder, "gateway.port"), { found: true, value: 4, from: "file" });
  assert.deepEqual(await peekConfig(folder, "gateway.bind"), { found: true, value: "lan", from: "file" });
  assert.deepEqual(await peekConfig(folder, "gateway.reload.mode"), { found: true, value: "hybrid", from: "default" });
  assert.deepEqual(await peekConfig(folder, "gateway.zzz"), { found: false, value: undefined, from: "none" });
});

test("reports an unreadable file", async (t) => {
  const folder = makeStateFolder(t, { "openclaw.json": "{ gateway: " });
  await assert.rejects(peekConfig(folder, "gateway.port"), {
    code: "config.invalid",
    message: /openclaw\.json:1:12 {2}gateway: not JSON5/,
  });
});

test("reads a value of the file without the schema library", (t) => {
  const folder = makeStateFolder(t, { "openclaw.json": "{ gateway: { port: 4 } }" });
  const script = `
    const { peekConfig } = await import(${JSON.stringify(new URL("./peek.ts", import.meta.url).href)});
    const { value } = await peekConfig({ paths: ${JSON.stringify(folder.paths)}, env: {} }, "gateway.port");
    console.log(JSON.stringify(value));`;
  const hook = `data:text/javascript,import { registerHooks } from "node:module"; registerHooks({ load(url, context, next) { if (url.includes("typebox")) throw new Error("loaded " + url); return next(url, context); } });`;
  const result = spawnSync(process.execPath, ["--import", hook, "--input-type=module", "-e", script], {
    encoding: "utf8",
    cwd: fileURLToPath(new URL("../..", import.meta.url)),
  });
  assert.equal(result.stderr, "");
  assert.equal(result.stdout, "4\n");
});
