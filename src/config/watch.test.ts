// Every way of saving is reported once, and no event without a change.
import assert from "node:assert/strict";
import {
  appendFileSync,
  mkdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";

import { writeFileAtomic } from "../base/atomic-file.ts";
import { makeStateFolder } from "./folder.cases.ts";
import { watchConfig, type ConfigWatch } from "./watch.ts";

interface Listener {
  readonly watch: ConfigWatch;
  /** Resolves with the number of calls once there is at least one more. */
  readonly next: () => Promise<number>;
  readonly count: () => number;
}

function listen(context: TestContext, files: readonly string[]): Listener {
  let calls = 0;
  let wake = (): void => {};
  const watch = watchConfig({
    files,
    debounceMs: 30,
    onChange() {
      calls += 1;
      wake();
    },
  });
  context.after(() => watch.close());
  const next = (): Promise<number> => {
    const { promise, resolve } = Promise.withResolvers<number>();
    // Keeps the process alive: the watcher does not.
    const hold = setInterval(() => {}, 1000);
    wake = () => {
      clearInterval(hold);
      resolve(calls);
    };
    return promise;
  };
  return { watch, next, count: () => calls };
}

const rest = (): Promise<void> => new Promise((done) => setTimeout(done, 150));

test("reports writes in place, renames, removal and return", { timeout: 300_000 }, async (t) => {
  const { paths, folder } = makeStateFolder(t, { "openclaw.json": "{}" });
  const { next } = listen(t, [paths.config]);
  const saves: (() => void)[] = [
    () => appendFileSync(paths.config, " "),
    () => writeFileAtomic(paths.config, "{ ui: {} }"),
    () => writeFileAtomic(paths.config, "{ }"),
    () => unlinkSync(paths.config),
    () => writeFileSync(paths.config, "{}"),
    () => {
      writeFileSync(join(folder, "tmp"), "{ cron: {} }");
      renameSync(join(folder, "tmp"), paths.config);
    },
  ];
  for (const [index, save] of saves.entries()) {
    const changed = next();
    save();
    assert.equal(await changed, index + 1);
  }
});

test("ignores other files and unchanged files", { timeout: 300_000 }, async (t) => {
  const { paths, write } = makeStateFolder(t, { "openclaw.json": "{}" });
  const { count } = listen(t, [paths.config]);
  write("sessions.json", "x");
  write("openclaw.json.bak", "x");
  utimesSync(paths.config, new Date(), new Date(0));
  utimesSync(paths.config, new Date(), new Date(0));
  await rest();
  assert.ok(count() <= 1);
});

test("follows included files", { timeout: 300_000 }, async (t) => {
  const { paths, folder, write } = makeStateFolder(t, { "openclaw.json": "{}", "sub/x.json5": "{}" });
  const { watch, next } = listen(t, [paths.config]);
  watch.follow([paths.config, join(folder, "sub/x.json5")]);
  const changed = next();
  write("sub/x.json5", "{ }");
  assert.equal(await changed, 1);
});

test("reports an edit that is written while the previous one is being read", { timeout: 300_000 }, async (t) => {
  const { paths } = makeStateFolder(t, { "openclaw.json": "{}" });
  let calls = 0;
  const { promise, resolve } = Promise.withResolvers<void>();
  const hold = setInterval(() => {}, 1000);
  const watch = watchConfig({
    files: [paths.config],
    debounceMs: 30,
    onChange() {
      calls += 1;
      if (calls === 1) writeFileAtomic(paths.config, "{ ui: {} }");
      watch.follow([paths.config]);
      if (calls === 2) resolve();
    },
  });
  t.after(() => {
    watch.close();
    clearInterval(hold);
  });
  writeFileAtomic(paths.config, "{ }");
  await promise;
  await rest();
  assert.equal(calls, 2);
});

test("follows a link to its file", { timeout: 300_000 }, async (t) => {
  const { paths, write } = makeStateFolder(t, { "dot/real.json": "{}" });
  symlinkSync("dot/real.json", paths.config);
  const { next } = listen(t, [paths.config]);
  const changed = next();
  write("dot/real.json", "{ }");
  assert.equal(await changed, 1);
});

test("watches a folder again that was removed and created", { timeout: 300_000 }, async (t) => {
  const { paths, folder } = makeStateFolder(t, { "openclaw.json": "{}" });
  const { next } = listen(t, [paths.config]);
  const gone = next();
  rmSync(folder, { recursive: true });
  assert.equal(await gone, 1);
  const back = next();
  mkdirSync(folder);
  writeFileSync(paths.config, "{}");
  assert.equal(await back, 2);
});

test("reports nothing after close", { timeout: 300_000 }, async (t) => {
  const { paths, write } = makeStateFolder(t, { "openclaw.json": "{}" });
  const { watch, count } = listen(t, [paths.config]);
  watch.close();
  write("openclaw.json", "{ }");
  await rest();
  assert.equal(count(), 0);
});

test(
  "reports a replaced file immediately on request, and waits for one written in place",
  { timeout: 300_000 },
  async (t) => {
    const { config: file } = makeStateFolder(t, { "openclaw.json": "{}" }).paths;
    let calls = 0;
    const watch = watchConfig({ files: [file], debounceMs: 3_600_000, onChange: () => (calls += 1) });
    t.after(() => watch.close());
    const always = (): boolean => true;
    watch.look(always);
    assert.equal(calls, 0);
    appendFileSync(file, " ");
    watch.look(always);
    assert.equal(calls, 0, "it may be half there");
    writeFileAtomic(file, "{ui: {}}");
    watch.look(() => false);
    assert.equal(calls, 0);
    watch.look(always);
    watch.look(always);
    assert.equal(calls, 1);
    unlinkSync(file);
    watch.look(always);
    assert.equal(calls, 1, "it may come back");
  },
);
