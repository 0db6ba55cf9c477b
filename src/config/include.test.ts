// `$include`: merges files in order, and never reads outside the folder of the config.
import assert from "node:assert/strict";
import { linkSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test, type TestContext } from "node:test";

import { makeStateFolder, type StateFolder } from "./folder.cases.ts";
import { loadConfig } from "./load.ts";

function parsedOf(context: TestContext, files: Record<string, string>): unknown {
  const { parsed, issues } = loadConfig(makeStateFolder(context, files));
  assert.deepEqual(issues, []);
  return parsed;
}

test("an included file replaces the object; later files and siblings win", (t) => {
  const parsed = parsedOf(t, {
    "openclaw.json":
      "{ tools: { $include: ['./a.json5', './sub/b.json5'], deny: ['x'], exec: { ask: 'off' } }, agents: { $include: 'agents.json5' } }",
    "a.json5": "{ profile: 'coding', deny: ['a'], exec: { host: 'gateway', ask: 'always' } }",
    "sub/b.json5": "{ profile: 'full', $include: './c.json5' }",
    "sub/c.json5": "{ fs: { workspaceOnly: true }, profile: 'minimal' }",
    "agents.json5": "// mine\n{ list: [{ id: 'main' }] }",
  });
  assert.deepEqual(parsed, {
    tools: { profile: "full", deny: ["x"], exec: { host: "gateway", ask: "off" }, fs: { workspaceOnly: true } },
    agents: { list: [{ id: "main" }] },
  });
});

test("joins included lists, and locates entries in their own file", (t) => {
  const folder = makeStateFolder(t, {
    "openclaw.json": "{ agents: { list: { $include: ['./one.json5', './two.json5'] } } }",
    "one.json5": "[{ id: 'a' }, { id: 'b' }]",
    "two.json5": "[\n  { id: 'c' },\n  { id: 'd', tols: {} },\n]",
  });
  const loaded = loadConfig(folder);
  const two = join(folder.folder, "two.json5");
  assert.deepEqual(loaded.locate("agents.list[2].id"), { file: two, line: 2, column: 5 });
  assert.deepEqual(
    loaded.issues.map(({ path, file, line }) => [path, file, line]),
    [["agents.list[3].tols", two, 3]],
  );
  assert.deepEqual(loaded.files, [folder.paths.config, join(folder.folder, "one.json5"), two]);
});

const broken: readonly (readonly [what: string, files: Record<string, string>, issue: (folder: string) => string])[] = [
  [
    "a missing file",
    { "openclaw.json": "{ $include: './no.json5' }" },
    (f) => `$include: ${f}/no.json5 does not exist or is not accessible`,
  ],
  [
    "a number",
    { "openclaw.json": "{ tools: { $include: 4 } }" },
    () => "tools.$include: must be a file name or a list of file names",
  ],
  [
    "a broken file",
    { "openclaw.json": "{ tools: { $include: './x' } }", x: "{ exec: { a } }" },
    () => "tools.exec.a: not JSON5: a colon is missing at 1:13",
  ],
  [
    "a list with siblings",
    { "openclaw.json": "{ tools: { $include: './x', deny: [] } }", x: "[]" },
    () => "tools.$include: the included file is not an object, so it cannot be combined with other keys",
  ],
  [
    "files that include each other",
    { "openclaw.json": "{ $include: './a' }", a: "{ $include: './b' }", b: "{ $include: './a' }" },
    (f) => `$include: the files include each other: ${f}/openclaw.json → ${f}/a → ${f}/b → ${f}/a`,
  ],
];

for (const [what, files, issue] of broken) {
  test(`rejects ${what}`, (t) => {
    const folder = makeStateFolder(t, files);
    const { issues } = loadConfig(folder);
    assert.deepEqual(
      issues.map(({ path, message }) => `${path}: ${message}`),
      [issue(folder.folder)],
    );
  });
}

test("reads ten levels and rejects the eleventh", (t) => {
  const chain = (levels: number): Record<string, string> => ({
    "openclaw.json": "{ $include: './1' }",
    ...Object.fromEntries(
      Array.from({ length: levels }, (_, index) => [
        String(index + 1),
        index + 1 === levels ? "{ ui: {} }" : `{ $include: './${index + 2}' }`,
      ]),
    ),
  });
  assert.deepEqual(parsedOf(t, chain(10)), { ui: {} });
  const { issues } = loadConfig(makeStateFolder(t, chain(11)));
  assert.match(issues[0]?.message ?? "", /nest deeper than 10 levels/);
});

// Attack case GWY-038: no file outside the folder of the config is read, by any name.
const escapes: readonly (readonly [what: string, prepare: (folder: StateFolder) => string, refusal: RegExp])[] = [
  ["a path upwards", () => "../secret.json5", /outside the folder of the config/],
  ["an absolute path", ({ folder }) => join(dirname(folder), "secret.json5"), /outside the folder of the config/],
  [
    "a folder that shares the start of the name",
    ({ folder }) => {
      mkdirSync(`${folder}-other`);
      writeFileSync(join(`${folder}-other`, "x.json5"), "{}");
      return "../.openclaw-other/x.json5";
    },
    /outside the folder of the config/,
  ],
  [
    "a symbolic link to a file",
    ({ folder }) => {
      symlinkSync(join(dirname(folder), "secret.json5"), join(folder, "link.json5"));
      return "./link.json5";
    },
    /outside the folder of the config/,
  ],
  [
    "a symbolic link to a folder",
    ({ folder }) => {
      symlinkSync(dirname(folder), join(folder, "up"));
      return "./up/secret.json5";
    },
    /outside the folder of the config/,
  ],
  [
    "a hard link",
    ({ folder }) => {
      linkSync(join(dirname(folder), "secret.json5"), join(folder, "hard.json5"));
      return "./hard.json5";
    },
    /has 2 hard links/,
  ],
  ["the folder itself", () => ".", /outside the folder of the config/],
  ["a NUL in the name", () => "./a\\0b", /NUL/],
];

for (const [what, prepare, refusal] of escapes) {
  test(`stays in the folder: ${what}`, (t) => {
    const folder = makeStateFolder(t, {});
    writeFileSync(join(dirname(folder.folder), "secret.json5"), "{ ui: { assistant: { name: 'leaked' } } }");
    folder.write("openclaw.json", `{ $include: '${prepare(folder)}' }`);
    const { issues, parsed } = loadConfig(folder);
    assert.deepEqual(parsed, {});
    assert.match(issues[0]?.message ?? "", refusal);
  });
}

test("accepts a link that stays inside", (t) => {
  const folder = makeStateFolder(t, { "openclaw.json": "{ $include: './link' }", "real.json5": "{ ui: {} }" });
  symlinkSync("real.json5", join(folder.folder, "link"));
  assert.deepEqual(loadConfig(folder).parsed, { ui: {} });
});
