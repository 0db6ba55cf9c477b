// Every way of saving is noticed once, and nothing is noticed when nothing changed.
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
    // Holds the process: the watcher itself does not.
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

test("in place, by rename, away and back again", { timeout: 300_000 }, async (t) => {
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
    const heard = next();
    save();
    assert.equal(await heard, index + 1);
  }
});

test("other files, and files that are what they were, make no noise", { timeout: 300_000 }, async (t) => {
  const { paths, write } = makeStateFolder(t, { "openclaw.json": "{}" });
  const { count } = listen(t, [paths.config]);
  write("sessions.json", "x");
  write("openclaw.json.bak", "x");
  utimesSync(paths.config, new Date(), new Date(0));
  utimesSync(paths.config, new Date(), new Date(0));
  await rest();
  assert.ok(count() <= 1);
});

test("included files are followed", { timeout: 300_000 }, async (t) => {
  const { paths, folder, write } = makeStateFolder(t, { "openclaw.json": "{}", "sub/x.json5": "{}" });
  const { watch, next } = listen(t, [paths.config]);
  watch.follow([paths.config, join(folder, "sub/x.json5")]);
  const heard = next();
  write("sub/x.json5", "{ }");
  assert.equal(await heard, 1);
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

test("a link is followed to its file", { timeout: 300_000 }, async (t) => {
  const { paths, write } = makeStateFolder(t, { "dot/real.json": "{}" });
  symlinkSync("dot/real.json", paths.config);
  const { next } = listen(t, [paths.config]);
  const heard = next();
  write("dot/real.json", "{ }");
  assert.equal(await heard, 1);
});

test("a folder that goes and comes back is found again", { timeout: 300_000 }, async (t) => {
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

test("nothing is heard after close", { timeout: 300_000 }, async (t) => {
  const { paths, write } = makeStateFolder(t, { "openclaw.json": "{}" });
  const { watch, count } = listen(t, [paths.config]);
  watch.close();
  write("openclaw.json", "{ }");
  await rest();
  assert.equal(count(), 0);
});

test(
  "looked for before it is quiet: a file put in the place of another is seen at once, one written in place waits",
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
