// The index on real files: finds written and changed notes, and rebuilds a broken file.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  appendFileSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, test } from "node:test";
import { setTimeout as wait } from "node:timers/promises";

import type { AgentId } from "../core/names.ts";
import { openEngine, type Engine } from "./engine.ts";
import { removeIndexFile } from "./index-file.ts";
import type { IndexSettings } from "./settings.ts";

const home = realpathSync(mkdtempSync(join(tmpdir(), "memory-engine-")));
after(() => rmSync(home, { recursive: true, force: true }));
let grounds = 0;

interface Ground {
  readonly workspace: string;
  readonly settings: IndexSettings;
  readonly write: (path: string, text: string) => void;
}

function ground(more: Partial<IndexSettings> = {}): Ground {
  const folder = join(home, String((grounds += 1)));
  const workspace = join(folder, "ws");
  mkdirSync(workspace, { recursive: true });
  return {
    workspace,
    settings: {
      agent: "main" as AgentId,
      file: join(folder, "index", "main.sqlite"),
      workspace,
      extraPaths: [],
      chunking: { tokens: 400, overlap: 80 },
      watch: false,
      debounceMs: 30,
      intervalMs: 0,
      ...more,
    },
    write(path, text) {
      const full = join(workspace, path);
      mkdirSync(dirname(full), { recursive: true });
      writeFileSync(full, text);
    },
  };
}

const everything = { withoutPaths: [], sources: ["memory", "sessions"] as const };
const weights = { text: 0.3, vector: 0.7 };

async function find(engine: Engine, query: string, fresh = true): Promise<string[]> {
  const ask = (): ReturnType<Engine["search"]> =>
    engine.search({ query, limit: 20, audience: everything, fresh, weights });
  let found = await ask();
  // A busy machine takes longer to index than a search waits.
  for (let tries = 0; fresh && found.indexing && tries < 3000; tries += 1) {
    await wait(20);
    found = await ask();
  }
  return found.hits.map(({ path, startLine, endLine }) => `${path}:${startLine}-${endLine}`);
}

async function used<T>(settings: IndexSettings, use: (engine: Engine) => Promise<T>): Promise<T> {
  const engine = openEngine(settings, () => undefined);
  try {
    return await use(engine);
  } finally {
    await engine.close();
  }
}

test("finds MEMORY.md, memory/**/*.md and extra Markdown paths, and no other files", async () => {
  const { workspace, settings, write } = ground();
  const outer = join(dirname(workspace), "outer");
  mkdirSync(outer);
  writeFileSync(join(outer, "far.md"), "kiwi far");
  writeFileSync(join(outer, "far.txt"), "kiwi text");
  write("MEMORY.md", "kiwi curated");
  write("memory/2026-01-02.md", "kiwi daily");
  write("memory/deep/er/x.md", "kiwi deep");
  write("memory/readme.txt", "kiwi text");
  write("memory/.git/x.md", "kiwi hidden");
  write("notes/one.md", "kiwi one");
  write("other.md", "kiwi other");
  const all = { ...settings, extraPaths: [outer, join(workspace, "notes", "one.md"), join(workspace, "nowhere")] };
  await used(all, async (engine) => {
    assert.deepEqual((await find(engine, "kiwi")).toSorted(), [
      `${join(outer, "far.md")}:1-1`,
      "MEMORY.md:1-1",
      "memory/2026-01-02.md:1-1",
      "memory/deep/er/x.md:1-1",
      "notes/one.md:1-1",
    ]);
  });
});

test("uses memory.md only where there is no MEMORY.md", async () => {
  const { settings, write, workspace } = ground();
  write("memory.md", "kiwi small");
  await used(settings, async (engine) => {
    assert.deepEqual(await find(engine, "kiwi"), ["memory.md:1-1"]);
    write("MEMORY.md", "kiwi large");
    assert.deepEqual(await find(engine, "kiwi"), ["MEMORY.md:1-1"]);
    rmSync(join(workspace, "MEMORY.md"));
    assert.deepEqual(await find(engine, "kiwi"), ["memory.md:1-1"]);
  });
});

test("follows no link: file, folder, extra path or second hard link", async () => {
  const { workspace, settings, write } = ground();
  const secret = join(dirname(workspace), "secret");
  mkdirSync(secret);
  writeFileSync(join(secret, "s.md"), "kiwi secret");
  write("memory/ok.md", "kiwi ok");
  symlinkSync(join(secret, "s.md"), join(workspace, "memory", "link.md"));
  symlinkSync(secret, join(workspace, "memory", "folder"));
  linkSync(join(secret, "s.md"), join(workspace, "memory", "second.md"));
  symlinkSync(secret, join(workspace, "extra"));
  symlinkSync(join(secret, "s.md"), join(workspace, "MEMORY.md"));
  await used({ ...settings, extraPaths: [join(workspace, "extra")] }, async (engine) => {
    assert.deepEqual(await find(engine, "kiwi"), ["memory/ok.md:1-1"]);
    const { skipped } = engine.status({});
    assert.deepEqual(
      skipped.map(({ path, why }) => `${path} ${why}`).toSorted(),
      ["MEMORY.md is a link", "memory/link.md is a link", "memory/second.md has more than one hard link"].toSorted(),
    );
  });
});

test("ignores a memory folder that is a link", async () => {
  const { workspace, settings } = ground();
  const secret = join(dirname(workspace), "secret");
  mkdirSync(secret);
  writeFileSync(join(secret, "s.md"), "kiwi secret");
  symlinkSync(secret, join(workspace, "memory"));
  await used(settings, async (engine) => assert.deepEqual(await find(engine, "kiwi"), []));
});

test("skips and names a file that is too large", async () => {
  const { settings, write, workspace } = ground();
  write("memory/ok.md", "kiwi");
  write("memory/big.md", "kiwi");
  truncateSync(join(workspace, "memory/big.md"), 20_000_000);
  await used(settings, async (engine) => {
    assert.deepEqual(await find(engine, "kiwi"), ["memory/ok.md:1-1"]);
    assert.deepEqual(
      engine.status({}).skipped.map(({ path }) => path),
      ["memory/big.md"],
    );
  });
});

test("finds edits, new files, moves and removals with the next search", async () => {
  const { workspace, settings, write } = ground();
  write("memory/a.md", "apple\n");
  await used(settings, async (engine) => {
    assert.deepEqual(await find(engine, "apple"), ["memory/a.md:1-1"]);
    appendFileSync(join(workspace, "memory/a.md"), "banana\n");
    assert.deepEqual(await find(engine, "banana"), ["memory/a.md:1-2"]);
    write("memory/b/c.md", "cherry");
    assert.deepEqual(await find(engine, "cherry"), ["memory/b/c.md:1-1"]);
    renameSync(join(workspace, "memory/b"), join(workspace, "memory/z"));
    assert.deepEqual(await find(engine, "cherry"), ["memory/z/c.md:1-1"]);
    rmSync(join(workspace, "memory/a.md"));
    assert.deepEqual(await find(engine, "banana apple"), []);
  });
});

test("finds an edit that keeps size and time", async () => {
  const { workspace, settings, write } = ground();
  const file = join(workspace, "memory/a.md");
  write("memory/a.md", "apple");
  utimesSync(file, 1000, 1000);
  await used(settings, async (engine) => {
    assert.deepEqual(await find(engine, "apple"), ["memory/a.md:1-1"]);
    writeFileSync(file, "grape");
    utimesSync(file, 1000, 1000);
    assert.deepEqual([await find(engine, "grape"), await find(engine, "apple")], [["memory/a.md:1-1"], []]);
  });
});

test("indexes only changed notes; a moved text keeps its chunk", async () => {
  const { settings, write } = ground({ chunking: { tokens: 20, overlap: 0 } });
  const part = (word: string): string => `${`${word} `.repeat(12).trim()}\n`;
  write("memory/a.md", part("alpha") + part("beta") + part("gamma"));
  write("memory/b.md", "delta");
  await used(settings, async (engine) => {
    const ids = async (query: string): Promise<number[]> =>
      (await engine.search({ query, limit: 9, audience: everything, fresh: true, weights })).hits.map(({ id }) => id);
    const before = await ids("gamma");
    write("memory/a.md", part("omega") + part("alpha") + part("beta") + part("gamma"));
    const { changed, removed } = await engine.sync({});
    assert.deepEqual({ changed, removed }, { changed: 1, removed: 0 });
    assert.deepEqual(await ids("gamma"), before);
    assert.deepEqual(await find(engine, "gamma"), ["memory/a.md:4-4"]);
    assert.equal((await engine.sync({})).changed, 0);
  });
});

test("keeps the index after the process ends, and rebuilds it for other chunk settings", async () => {
  const { settings, write } = ground();
  write("memory/a.md", Array.from({ length: 50 }, (_each, at) => `line ${at} plum`).join("\n"));
  const { chunks } = await used(settings, (engine) => engine.sync({}));
  await used(settings, async (engine) => {
    assert.deepEqual(await find(engine, "plum", false), ["memory/a.md:1-50"]);
    assert.equal((await engine.sync({})).changed, 0);
  });
  const finer = { ...settings, chunking: { tokens: 20, overlap: 4 } };
  await used(finer, async (engine) => {
    const report = await engine.sync({});
    assert.ok(report.chunks > chunks * 5);
  });
});

test("indexes changes at the interval, without a watch and without a search", async () => {
  const { settings, write } = ground({ intervalMs: 40 });
  await used(settings, async (engine) => {
    await engine.sync({});
    write("memory/a.md", "apple");
    for (let tries = 0; (await find(engine, "apple", false)).length === 0; tries += 1) {
      assert.ok(tries < 3000);
      await wait(20);
    }
  });
});

test("indexes a file below two of the paths once", async () => {
  const { workspace, settings, write } = ground();
  write("memory/deep/a.md", "apple");
  const twice = [join(workspace, "memory"), join(workspace, "memory", "deep", "a.md"), workspace];
  await used({ ...settings, extraPaths: twice }, async (engine) => {
    assert.deepEqual(await find(engine, "apple"), ["memory/deep/a.md:1-1"]);
  });
});

test("finds notes that are already indexed while indexing continues", async () => {
  const { settings, write } = ground();
  for (let at = 0; at < 800; at += 1) write(`memory/${at}.md`, `apple ${"filler words ".repeat(300)}`);
  await used(settings, async (engine) => {
    assert.deepEqual(await find(engine, "apple", false), []);
    const reading = engine.sync({}).then(() => "done");
    const found: number[] = [];
    while ((await Promise.race([reading, wait(1, "busy")])) === "busy")
      found.push((await find(engine, "apple", false)).length);
    assert.ok(
      found.some((hits) => hits > 0),
      found.join(" "),
    );
  });
});

test("two processes never write one index: the second gets the owner's name", async () => {
  const { settings, write } = ground();
  write("memory/a.md", "apple");
  await used(settings, async () => {
    assert.throws(() => openEngine(settings, () => undefined), { code: "memory.busy" });
  });
  await used(settings, async (engine) => assert.equal((await find(engine, "apple")).length, 1));
});

for (const [what, harm] of [
  ["is not a database", (file: string) => writeFileSync(file, "not a database at all, just some text\n".repeat(200))],
  ["is truncated", (file: string) => truncateSync(file, 9000)],
  ["is empty", (file: string) => writeFileSync(file, "")],
  ["has damaged pages", (file: string) => writeFileSync(file, torn(readFileSync(file)))],
  ["was made by another version", (file: string) => writeFileSync(file, otherVersion(readFileSync(file)))],
] as const)
  test(`rebuilds an index that ${what}`, async () => {
    const { settings, write } = ground();
    for (let at = 0; at < 40; at += 1) write(`memory/${at}.md`, `apple number ${at} ${"filler ".repeat(300)}`);
    await used(settings, (engine) => engine.sync({}));
    harm(settings.file);
    await used(settings, async (engine) => {
      engine.status({ deep: true });
      await engine.sync({});
      assert.equal((await find(engine, "apple")).length, 20);
      assert.equal(engine.status({ deep: true }).sound, true);
    });
  });

function torn(bytes: Buffer): Buffer {
  for (let at = 4096; at < bytes.length; at += 8192) bytes.fill(0x5a, at, Math.min(bytes.length, at + 4096));
  return bytes;
}

function otherVersion(bytes: Buffer): Buffer {
  bytes.writeUInt32BE(77, 60);
  return bytes;
}

test("a rebuild keeps the old index in use until the new one is complete, and a failure keeps it", async () => {
  const { settings, write } = ground();
  for (let at = 0; at < 300; at += 1) write(`memory/${at}.md`, `apple ${"filler words ".repeat(200)}`);
  await used(settings, async (engine) => {
    await engine.sync({});
    const building = engine.sync({ force: true });
    let answers = 0;
    while ((await Promise.race([building.then(() => "done"), wait(1, "busy")])) === "busy") {
      assert.equal((await find(engine, "apple", false)).length, 20);
      answers += 1;
    }
    assert.ok(answers > 0);
    // A folder blocks the path of the new file.
    mkdirSync(join(`${settings.file}.next`, "x"), { recursive: true });
    await assert.rejects(engine.sync({ force: true }));
    assert.equal((await find(engine, "apple", false)).length, 20);
    rmSync(`${settings.file}.next`, { recursive: true });
  });
});

test("the watch notices edits, new folders and removals, and many writes end with the last text", async () => {
  const { workspace, settings, write } = ground({ watch: true });
  write("memory/a.md", "apple");
  await used(settings, async (engine) => {
    await engine.sync({});
    assert.equal(engine.status({}).watching, true);
    const until = async (query: string, wanted: readonly string[]): Promise<void> => {
      for (let tries = 0; tries < 3000; tries += 1) {
        const found = await find(engine, query, false);
        if (JSON.stringify(found) === JSON.stringify(wanted)) return;
        await wait(20);
      }
      assert.deepEqual(await find(engine, query, false), wanted);
    };
    write("memory/a.md", "banana");
    await until("banana", ["memory/a.md:1-1"]);
    write("memory/new/folder/c.md", "cherry");
    await until("cherry", ["memory/new/folder/c.md:1-1"]);
    write("memory/new/folder/c.md", "damson");
    await until("damson", ["memory/new/folder/c.md:1-1"]);
    rmSync(join(workspace, "memory/new"), { recursive: true });
    await until("damson", []);
    for (let at = 0; at < 3000; at += 1) write(`memory/s${at % 700}.md`, `storm round ${at}`);
    write("memory/a.md", "elder");
    await until("elder", ["memory/a.md:1-1"]);
    assert.equal((await engine.sync({})).files, 701);
  });
});

test("notices files in a folder that is new or was created again under its name", async () => {
  const { workspace, settings, write } = ground({ watch: true });
  await used(settings, async (engine) => {
    await engine.sync({});
    const found = async (word: string, path: string): Promise<void> => {
      for (let tries = 0; (await find(engine, word, false))[0] !== `${path}:1-1`; tries += 1) {
        assert.ok(tries < 20_000, `${word} is not found`);
        await wait(3);
      }
    };
    for (let round = 0; round < 8; round += 1) {
      const path = `memory/place${round % 2}/deep/note.md`;
      for (const word of ["first", "second", "third"]) {
        write(path, `${word}${round}`);
        await found(`${word}${round}`, path);
      }
      if (round % 2 === 1)
        for (const name of ["place0", "place1"]) rmSync(join(workspace, "memory", name), { recursive: true });
    }
  });
});

test(
  "after a kill at any moment of indexing, the next process completes the index without gaps or duplicates",
  { timeout: 900_000 },
  async () => {
    const { settings, write } = ground({ chunking: { tokens: 60, overlap: 10 } });
    const total = 400;
    for (let at = 0; at < total; at += 1) write(`memory/${at}.md`, `apple n${at}x ${"filler words ".repeat(120)}`);
    for (let round = 0; round < 6; round += 1) {
      removeIndexFile(settings.file);
      const code = `import { openEngine } from ${JSON.stringify(import.meta.resolve("./engine.ts"))};
      const engine = openEngine(${JSON.stringify(settings)}, () => {});
      process.stdout.write("go");
      await engine.sync({}); await engine.sync({ force: true }); setInterval(() => {}, 1000);`;
      const child = spawn(process.execPath, ["--input-type=module", "-e", code], {
        stdio: ["ignore", "pipe", "inherit"],
      });
      await once(child.stdout, "data");
      await wait(20 + round * 60);
      child.kill("SIGKILL");
      await once(child, "exit");
      await used(settings, async (engine) => {
        const { files, chunks } = await engine.sync({});
        assert.equal(engine.status({ deep: true }).sound, true);
        const rebuilt = await engine.sync({ force: true });
        assert.deepEqual({ files, chunks }, { files: total, chunks: rebuilt.chunks }, `round ${round}`);
        assert.deepEqual(await find(engine, "n399x"), ["memory/399.md:1-1"]);
      });
    }
  },
);

test("keeps texts that are not files, appends to them, copies them to a new index, and removes them", async () => {
  const { settings } = ground();
  const talk = { path: "sessions/s1", source: "sessions" as const, mtimeMs: 1 };
  await used(settings, async (engine) => {
    await engine.document({ ...talk, text: "User: apple", firstLine: 1, size: 1, mark: "1" });
    await engine.document({ ...talk, text: "Assistant: banana", firstLine: 2, size: 2, mark: "2" });
    assert.deepEqual(await find(engine, "apple"), ["sessions/s1:1-1"]);
    assert.deepEqual(await find(engine, "banana"), ["sessions/s1:2-2"]);
    const { hits } = await engine.search({
      query: "banana",
      limit: 5,
      audience: { withoutPaths: [], sources: ["memory"] },
      fresh: true,
      weights,
    });
    assert.deepEqual(hits, []);
    assert.deepEqual(
      engine.documents("sessions").map(({ path, size }) => ({ path, size })),
      [{ path: "sessions/s1", size: 2 }],
    );
    await engine.sync({ force: true });
    assert.deepEqual(await find(engine, "banana"), ["sessions/s1:2-2"]);
    assert.equal(await engine.forget("sessions/s1"), true);
    assert.deepEqual(await find(engine, "banana apple"), []);
  });
});

test("scores notes with all words above notes with some, rare words above frequent ones, up to 1", async () => {
  const { settings, write } = ground();
  for (let at = 0; at < 30; at += 1) write(`memory/${at}.md`, `common note ${at}`);
  write("memory/both.md", "common zebra lantern");
  write("memory/one.md", "common lantern things");
  await used(settings, async (engine) => {
    const { hits } = await engine.search({
      query: "zebra lantern",
      limit: 5,
      audience: everything,
      fresh: true,
      weights,
    });
    assert.deepEqual(
      hits.map(({ path }) => path),
      ["memory/both.md", "memory/one.md"],
    );
    const [first = 0, second = 0] = hits.map(({ score }) => score);
    assert.ok(first > 0.9 && first <= 1 && second > 0.2 && second < 0.7, `${first} ${second}`);
  });
});
