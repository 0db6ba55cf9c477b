// Each command loads only what it needs: the quick ones touch neither the schema library nor a server nor a database.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";

import { newCli } from "../../harness/cli.ts";
import { root } from "../../harness/gateway.ts";

const cli = newCli('{ gateway: { mode: "local", port: 1 } }');
after(() => cli.dispose());

interface Loaded {
  /** Paths below the root, such as src/cli/io.ts. */
  readonly files: readonly string[];
  /** Parts of Node, such as http. */
  readonly natives: readonly string[];
}

/** Runs the sources themselves: in the bundle files have other names. */
async function loadedBy(...words: readonly string[]): Promise<Loaded> {
  const report = join(cli.home, "loaded.json");
  const hook = pathToFileURL(join(root, "test", "fixtures", "loaded-modules.mjs")).href;
  await promisify(execFile)(process.execPath, ["--import", hook, join(root, "src", "bin.ts"), ...words], {
    env: { PATH: process.env["PATH"], HOME: cli.home, LOADED_MODULES: report },
  });
  const { files, natives } = JSON.parse(readFileSync(report, "utf8")) as Loaded;
  const base = `${pathToFileURL(root).href}/`;
  return {
    files: files.map((url) => url.replace(base, "")),
    natives: natives.flatMap((line) => (line.startsWith("NativeModule ") ? [line.slice("NativeModule ".length)] : [])),
  };
}

// What Node itself loads before the first line of a command; the hook needs some of it too.
let bare: ReadonlySet<string>;
before(async () => {
  bare = new Set((await loadedBy("--version")).natives);
});

const heavy = ["http", "https", "sqlite", "internal/deps/undici/undici", "crypto", "child_process"];
const quick: [words: string[], mostFiles: number][] = [
  [["--help"], 40],
  [["config", "--help"], 40],
  [["config", "file"], 40],
  [["config", "get", "gateway.port"], 60],
  [["status"], 60],
  [["status", "--json"], 60],
];

for (const [words, mostFiles] of quick) {
  test(`openclaw ${words.join(" ")} loads few modules`, async () => {
    const { files, natives } = await loadedBy(...words);
    assert.deepEqual(
      files.filter((file) => /typebox|node_modules\/ws\/|config\/schema\/|gateway\/server|store\/|app\//.test(file)),
      [],
    );
    assert.deepEqual(
      heavy.filter((name) => natives.includes(name) && !bare.has(name)),
      [],
    );
    assert.ok(files.length < mostFiles, `${files.length} files`);
  });
}

test("the root help loads no command file", async () => {
  const { files } = await loadedBy("--help");
  assert.deepEqual(
    files.filter((file) => file.startsWith("src/cli/commands/")),
    ["src/cli/commands/index.ts"],
  );
});

test("a command loads only its own file", async () => {
  const { files } = await loadedBy("config", "validate");
  assert.deepEqual(
    files.filter((file) => file.startsWith("src/cli/commands/")),
    ["src/cli/commands/index.ts", "src/cli/commands/config-validate.ts"],
  );
});
