// The one service that changes the config: which text is written, what is rejected, and the effect it reports.
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";

import { resolvePaths } from "../base/paths.ts";
import { changeConfig, changeKey, editConfig, readingsOf, type ChangeTarget } from "./change.ts";

const TEXT = '{\n  // mine\n  gateway: { mode: "local", port: 18789 },\n}\n';

function place(t: TestContext, text = TEXT): ChangeTarget & { read(): string } {
  const home = mkdtempSync(join(tmpdir(), "openclaw-change-"));
  t.after(() => rmSync(home, { recursive: true, force: true }));
  mkdirSync(join(home, ".openclaw"));
  const env = { HOME: home };
  const paths = resolvePaths(env);
  writeFileSync(paths.config, text);
  return { paths, env, read: () => readFileSync(paths.config, "utf8") };
}

test("writes the first value that is valid for the key and keeps comments", (t) => {
  const at = place(t);
  const number = changeKey(at, "gateway.port", { values: readingsOf("18900") });
  assert.deepEqual([number.changed, number.path, number.effect], [true, "gateway.port", "restarts"]);
  const text = changeKey(at, "ui.assistant.name", { values: readingsOf("7") });
  assert.equal(text.effect, "at-once");
  assert.match(at.read(), /\/\/ mine\n {2}gateway: \{ mode: "local", port: 18900 \}[\s\S]*name: "7"/);
});

test("rejects a value that no reading makes valid, and writes nothing", (t) => {
  const at = place(t);
  assert.throws(() => changeKey(at, "gateway.port", { values: readingsOf("many") }), {
    code: "config.invalid",
    message: /^nothing was written, because the config would be invalid:\n {2}gateway\.port: /,
  });
  assert.equal(at.read(), TEXT);
});

test("rejects the removal of a key that is not set", (t) => {
  assert.throws(() => changeKey(place(t), "tools.deny", { remove: true }), { code: "config.not-found" });
});

test("rejects a change that was made for another text", (t) => {
  const at = place(t);
  assert.throws(() => changeConfig(at, () => "{}", { baseHash: "0".repeat(64) }), { code: "config.conflict" });
  assert.equal(at.read(), TEXT);
});

test("fixes an invalid config step by step, and names only the issues a change adds", (t) => {
  const at = place(t, '{ gateway: { mode: "local", portt: 1 }, toools: {} }');
  const edit = (path: string, options = {}) => editConfig(at, () => [{ path, value: 1 }], options);
  assert.throws(
    () => edit("ui.nope", { stepwise: true }),
    (error: Error) => {
      assert.match(error.message, /ui\.nope/);
      assert.doesNotMatch(error.message, /toools/);
      return true;
    },
  );
  const change = changeKey(at, "toools", { remove: true }, { stepwise: true });
  assert.deepEqual([change.changed, change.after.valid, change.effect], [true, false, "restart-needed"]);
});
