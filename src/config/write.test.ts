// Writes never replace an unseen version, are valid and atomic, and keep the last five versions.
import assert from "node:assert/strict";
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";

import JSON5 from "json5";

import { sha256 } from "../base/ids.ts";
import { resolvePaths } from "../base/paths.ts";
import { OpenClawError } from "../core/error.ts";
import { makeStateFolder } from "./folder.cases.ts";
import { loadConfig } from "./load.ts";
import { redacted } from "./redact.ts";
import { historyOf, mergePatch, overlayText, patchText, writeConfig } from "./write.ts";

const first = "{\n  // mine\n  gateway: { port: 1, auth: { token: 'gw-secret' } },\n}\n";

test("writes a valid text privately and keeps the old version", (t) => {
  const folder = makeStateFolder(t, { "openclaw.json": first });
  const nextText = first.replace("port: 1", "port: 2");
  const { changed, loaded } = writeConfig({ ...folder, nextText, baseHash: sha256(first) });
  const file = folder.paths.config;
  assert.deepEqual([changed, loaded.hash, loaded.config.gateway?.port], [true, sha256(nextText), 2]);
  assert.deepEqual([readFileSync(file, "utf8"), readFileSync(`${file}.bak`, "utf8")], [nextText, first]);
  assert.deepEqual([statSync(file).mode & 0o777, statSync(`${file}.bak`).mode & 0o777], [0o600, 0o600]);
});

test("keeps the last five versions, newest first", (t) => {
  const folder = makeStateFolder(t, {});
  for (let port = 1; port <= 8; port += 1) writeConfig({ ...folder, nextText: `{ gateway: { port: ${port} } }` });
  const kept = historyOf(folder.paths).map(
    (file) => loadConfig({ ...folder, text: readFileSync(file, "utf8") }).config.gateway?.port,
  );
  assert.deepEqual(kept, [7, 6, 5, 4, 3]);
});

test("does not write an equal text again", (t) => {
  const folder = makeStateFolder(t, { "openclaw.json": first });
  const before = statSync(folder.paths.config).mtimeMs;
  assert.equal(writeConfig({ ...folder, nextText: first }).changed, false);
  assert.deepEqual([statSync(folder.paths.config).mtimeMs, historyOf(folder.paths)], [before, []]);
});

test("an invalid text changes nothing", (t) => {
  const folder = makeStateFolder(t, { "openclaw.json": first });
  for (const nextText of ["{ gateway: { portt: 1 } }", "{ broken", "", "[]", "{ hooks: { enabled: true } }"]) {
    assert.throws(
      () => writeConfig({ ...folder, nextText }),
      (error: unknown) =>
        error instanceof OpenClawError &&
        error.code === "config.invalid" &&
        Array.isArray((error.details as { issues: unknown }).issues),
    );
  }
  assert.deepEqual([readFileSync(folder.paths.config, "utf8"), historyOf(folder.paths)], [first, []]);
});

test("rejects a stale base, with the changes since and without secrets", (t) => {
  const folder = makeStateFolder(t, { "openclaw.json": first });
  const second = first.replace("port: 1", "port: 2").replace("gw-secret", "other-secret");
  writeConfig({ ...folder, nextText: second });
  try {
    writeConfig({ ...folder, nextText: "{}", baseHash: sha256(first) });
    assert.fail("must be refused");
  } catch (error) {
    assert.ok(error instanceof OpenClawError);
    const { diff, ...rest } = error.details as { diff: string };
    assert.deepEqual(
      [error.code, rest],
      ["config.conflict", { currentHash: sha256(second), baseHash: sha256(first), diffOf: "what changed since" }],
    );
    assert.match(diff, /-.*port: 1.*\n\+.*port: 2/);
    assert.doesNotMatch(diff, /secret/);
  }
  assert.equal(readFileSync(folder.paths.config, "utf8"), second);
});

test("never saves a redaction marker", (t) => {
  const folder = makeStateFolder(t, { "openclaw.json": first });
  assert.throws(() => writeConfig({ ...folder, nextText: first.replace("gw-secret", redacted) }), {
    code: "config.redacted",
  });
  assert.equal(readFileSync(folder.paths.config, "utf8"), first);
});

test("never changes an older installation without an explicit request", (t) => {
  const { folder } = makeStateFolder(t, {});
  const home = join(dirname(folder), "other");
  mkdirSync(join(home, ".moltbot"), { recursive: true });
  writeFileSync(join(home, ".moltbot", "moltbot.json"), "{}");
  const env = { HOME: home };
  const paths = resolvePaths(env);
  assert.equal(paths.product, "moltbot");
  assert.throws(() => writeConfig({ paths, env, nextText: "{ ui: {} }" }), { code: "config.legacy" });
  assert.deepEqual([readFileSync(paths.config, "utf8"), readdirSync(join(home, ".moltbot"))], ["{}", ["moltbot.json"]]);
  assert.equal(writeConfig({ paths, env, nextText: "{ ui: {} }", allowLegacy: true }).changed, true);
});

test("a config that is a link stays a link", (t) => {
  const folder = makeStateFolder(t, { "dotfiles/real.json": "{}" });
  symlinkSync("dotfiles/real.json", folder.paths.config);
  writeConfig({ ...folder, nextText: "{ ui: {} }" });
  assert.equal(readFileSync(join(folder.folder, "dotfiles/real.json"), "utf8"), "{ ui: {} }");
});

test(
  "keeps the file when the folder is not writable",
  { skip: process.getuid?.() === 0 ? "root may write everywhere" : false },
  (t) => {
    const folder = makeStateFolder(t, { "openclaw.json": first });
    chmodSync(folder.folder, 0o500);
    t.after(() => chmodSync(folder.folder, 0o700));
    assert.throws(() => writeConfig({ ...folder, nextText: "{}" }), OpenClawError);
    assert.equal(readFileSync(folder.paths.config, "utf8"), first);
  },
);

test("a patch merges, removes by null, replaces lists, and keeps comments", () => {
  const text = "{\n  // a\n  tools: { allow: ['x', 'y'], deny: ['z'] }, // b\n  hooks: { token: 't' },\n}\n";
  const patch = `{ tools: { allow: ['w'], deny: null }, hooks: { token: '${redacted}', path: '/h' }, cron: { enabled: false, store: null } }`;
  assert.equal(
    patchText(text, patch),
    "{\n  // a\n  tools: { allow: ['w'] }, // b\n  hooks: { token: 't', path: '/h' },\n  cron: {\n    enabled: false,\n  },\n}\n",
  );
  assert.deepEqual(mergePatch({ a: { b: 1, c: 2 }, d: [1] }, { a: { b: null }, d: [2], e: { f: null } }), {
    a: { c: 2 },
    d: [2],
    e: {},
  });
});

test("values from a form keep comments, a text from an editor is saved unchanged", () => {
  const form = JSON.stringify({ gateway: { port: 2, auth: { token: "gw-secret" } }, ui: {} });
  assert.equal(overlayText(first, form), first.replace("port: 1", "port: 2").replace("} },\n}", "} },\n  ui: {},\n}"));
  assert.equal(overlayText(first, "{ ui: {} }"), "{ ui: {} }");
  assert.equal(overlayText('{"ui":{}}', form), form);
  assert.equal(overlayText("", form), form);
});

test("rejects an invalid patch", () => {
  for (const patch of ["[]", "4", "{ a", ""])
    assert.throws(() => patchText("{}", patch), { code: "config.bad-patch" }, patch);
  assert.throws(() => patchText("{}", `{ hooks: { token: '${redacted}' } }`), { code: "config.redacted" });
});

test("four concurrent writers lose no edit, and every version is complete", async (t) => {
  const folder = makeStateFolder(t, { "openclaw.json": "{\n  // keep me\n  env: { vars: {} },\n}\n" });
  const writers = ["A", "B", "C", "D"].map((name) => startWriter(folder.paths, name, 12));
  const codes = await Promise.all(writers.map(async (child) => (await once(child, "exit"))[0] as number));
  assert.deepEqual(codes, [0, 0, 0, 0]);
  const text = readFileSync(folder.paths.config, "utf8");
  const { env } = JSON5.parse(text) as { env: { vars: Record<string, string> } };
  assert.equal(Object.keys(env.vars).length, 48);
  assert.match(text, /\/\/ keep me/);
});

test("a writer killed at any moment leaves a valid file and no lock", async (t) => {
  const folder = makeStateFolder(t, { "openclaw.json": "{ env: { vars: {} } }" });
  for (let round = 0; round < 5; round += 1) {
    const child = startWriter(folder.paths, `K${round}`, 100_000);
    await once(child.stdout as NodeJS.ReadableStream, "data");
    await new Promise((done) => setTimeout(done, 20 + round * 17));
    child.kill("SIGKILL");
    await once(child, "exit");
    const loaded = loadConfig(folder);
    assert.deepEqual([loaded.valid, loaded.exists], [true, true]);
  }
  assert.equal(writeConfig({ ...folder, nextText: "{ ui: {} }" }).changed, true);
});

/** A process that adds keys one by one, each based on the version it just read. */
function startWriter(paths: unknown, name: string, count: number): ChildProcess {
  const module = (file: string): string => JSON.stringify(new URL(file, import.meta.url).href);
  const script = `
    const { writeConfig } = await import(${module("./write.ts")});
    const { editText } = await import(${module("./edit.ts")});
    const { loadConfig } = await import(${module("./load.ts")});
    const paths = ${JSON.stringify(paths)};
    for (let n = 0; n < ${count}; ) {
      const { raw, hash } = loadConfig({ paths, env: {} });
      try {
        writeConfig({ paths, env: {}, baseHash: hash, nextText: editText(raw, [{ path: ["env", "vars", "${name}" + n], value: "x" }]) });
        n += 1;
        process.stdout.write(".");
      } catch (error) {
        if (error.code !== "config.conflict" && error.code !== "config.busy") throw error;
      }
    }`;
  return spawn(process.execPath, ["--input-type=module", "-e", script], { stdio: ["ignore", "pipe", "inherit"] });
}
