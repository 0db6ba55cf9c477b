// Saving a config from a client: the file changes only where the client changed it.
import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "fast-check";

import { makeStateFolder, type StateFolder } from "./folder.cases.ts";
import { loadConfig, type LoadedConfig } from "./load.ts";
import { getAt, setAt, unsetAt } from "./path.ts";
import { redacted } from "./redact.ts";
import { savedText, shownConfig } from "./save.ts";

const file = `{
  // the owner's own notes
  gateway: { port: 18789, auth: { token: 'gw-secret-0123456789' } }, // keep
  models: {
    providers: {
      a: { baseUrl: "http://127.0.0.1:1/v1", apiKey: "\${A_KEY}", models: [{ id: "m", name: "M" }] },
      b: { baseUrl: "http://127.0.0.1:2/v1", apiKey: 'sk-b-secret-0123', models: [] },
    },
  },
  hooks: { path: "\${HOOK_PATH}" },
  ui: { $include: "./ui.json5" },
  agents: { list: [{ id: "main" }, { id: "two", workspace: "~/two" }] },
}
`;
const included = "{ assistant: { name: 'Ada' } }\n";
const variables = { A_KEY: "sk-a-secret-9876543210", HOOK_PATH: "/from-env" };

function openFolder(t: Parameters<typeof makeStateFolder>[0], text = file): StateFolder {
  return makeStateFolder(t, { "openclaw.json": text, "ui.json5": included }, variables);
}

function load(folder: StateFolder, text?: string): LoadedConfig {
  const loaded = loadConfig({ ...folder, ...(text === undefined ? {} : { text }) });
  assert.deepEqual(loaded.issues, []);
  return loaded;
}

/** As the published form does it: prints the values. */
const form = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;

test("shows what is set plus six defaults that published clients expect, without secrets", (t) => {
  assert.deepEqual(shownConfig(load(openFolder(t))), {
    gateway: { port: 18789, auth: { token: redacted } },
    models: {
      providers: {
        a: { baseUrl: "http://127.0.0.1:1/v1", apiKey: redacted, models: [{ id: "m", name: "M" }] },
        b: { baseUrl: "http://127.0.0.1:2/v1", apiKey: redacted, models: [] },
      },
    },
    hooks: { path: "/from-env" },
    ui: { assistant: { name: "Ada" } },
    agents: {
      list: [{ id: "main" }, { id: "two", workspace: "~/two" }],
      defaults: { maxConcurrent: 4, subagents: { maxConcurrent: 8 } },
    },
    logging: { redactSensitive: "tools" },
    commands: { native: "auto", nativeSkills: "auto" },
    messages: { ackReactionScope: "group-mentions" },
  });
});

test("an unchanged form leaves the file byte for byte", (t) => {
  for (const text of [file, JSON.stringify({ gateway: { port: 1 } }, null, 4), "{}", "{ $include: './ui.json5' }"]) {
    const loaded = loadConfig({ ...openFolder(t, text), text });
    assert.equal(savedText(loaded, form(shownConfig(loaded))), text);
    assert.equal(savedText(loaded, JSON.stringify(shownConfig(loaded))), text);
  }
});

test("a form that changes one value changes only that value", (t) => {
  const loaded = load(openFolder(t));
  const edit = (path: readonly (string | number)[], value: unknown): string =>
    savedText(loaded, form(setAt(shownConfig(loaded), path, value)));
  assert.equal(edit(["gateway", "port"], 2), file.replace("18789", "2"));
  assert.equal(edit(["hooks", "path"], "/mine"), file.replace('"${HOOK_PATH}"', '"/mine"'));
  assert.equal(edit(["gateway", "auth", "token"], "new"), file.replace("'gw-secret-0123456789'", '"new"'));
  assert.equal(edit(["agents", "list", 1, "workspace"], "~/x"), file.replace("~/two", "~/x"));
  assert.equal(
    edit(["agents", "defaults", "maxConcurrent"], 6),
    file.replace('"~/two" }] }', '"~/two" }], defaults: { maxConcurrent: 6 } }'),
  );
  assert.equal(
    edit(["ui", "assistant", "name"], "Bea"),
    file.replace('"./ui.json5" }', '"./ui.json5", assistant: { name: "Bea" } }'),
  );
});

test("list items keep hidden parts when others are removed or moved", (t) => {
  const folder = openFolder(
    t,
    "{ agents: { list: [{ id: 'main' }, /* b */ { id: 'two', workspace: '${HOOK_PATH}' }] } }",
  );
  const loaded = load(folder);
  const shown = shownConfig(loaded);
  const list = getAt(shown, ["agents", "list"]) as unknown[];
  const reversed = savedText(loaded, form(setAt(shown, ["agents", "list"], list.toReversed())));
  assert.deepEqual(getAt(load(folder, reversed).parsed, ["agents", "list"]), list.toReversed());
  assert.match(reversed, /\$\{HOOK_PATH\}/);
  const shorter = savedText(loaded, form(setAt(shown, ["agents", "list"], list.slice(1))));
  assert.match(shorter, /workspace: '\$\{HOOK_PATH\}'/);
});

test("removes a removed key, ignores a removed default, rejects removing an included key", (t) => {
  const loaded = load(openFolder(t));
  const without = (...path: string[]): string => savedText(loaded, form(unsetAt(shownConfig(loaded), path)));
  assert.equal(without("gateway", "port"), file.replace("port: 18789, ", ""));
  assert.equal(without("commands", "native"), file);
  assert.throws(() => without("ui", "assistant", "name"), { code: "config.included", message: /ui\.json5/ });
});

test("rejects a marker where no secret is stored", (t) => {
  const loaded = load(openFolder(t));
  for (const path of [
    ["gateway", "remote", "token"],
    ["hooks", "token"],
    ["hooks", "path"],
  ])
    assert.throws(() => savedText(loaded, form(setAt(shownConfig(loaded), path, redacted))), {
      code: "config.redacted",
    });
});

test("saves a text from the raw editor unchanged", (t) => {
  const loaded = load(openFolder(t));
  const edited = loaded.raw
    .replace("// keep", "// changed")
    .replace("18789", "7")
    .replace("'gw-secret-0123456789'", `'${redacted}'`);
  assert.equal(savedText(loaded, edited), edited.replace(`'${redacted}'`, "'gw-secret-0123456789'"));
  const strict = load(openFolder(t, '{"gateway": {"port": 1}}'));
  const typed = '{"gateway":\n  {"port": 2}, "commands": {"native": "auto"}}';
  assert.equal(savedText(strict, typed), typed, "a default that was typed in is written");
});

test("any edit of the form saves the sent values, and never moves a secret", (t) => {
  const folder = openFolder(t);
  const loaded = load(folder);
  const shown = shownConfig(loaded);
  const edits = fc.oneof(
    fc.record({ path: fc.constant(["gateway", "port"]), value: fc.integer({ min: 1, max: 65_535 }) }),
    fc.record({ path: fc.constant(["hooks", "path"]), value: fc.constantFrom("/a", "/from-env", "/b") }),
    fc.record({ path: fc.constant(["ui", "assistant", "name"]), value: fc.constantFrom("Ada", "Bea", "Cy") }),
    fc.record({ path: fc.constant(["agents", "list", 0, "name"]), value: fc.string({ minLength: 1, maxLength: 8 }) }),
    fc.record({ path: fc.constant(["agents", "defaults", "maxConcurrent"]), value: fc.integer({ min: 1, max: 9 }) }),
    fc.record({ path: fc.constant(["commands", "native"]), value: fc.constantFrom("auto", true, false) }),
  );
  fc.assert(
    fc.property(fc.array(edits, { maxLength: 5 }), (changes) => {
      const sent = changes.reduce<unknown>((value, { path, value: to }) => setAt(value, path, to), shown);
      const next = load(folder, savedText(loaded, form(sent)));
      assert.deepEqual(shownConfig(next), sent);
      assert.equal(next.config.gateway?.auth?.token, "gw-secret-0123456789");
      assert.match(next.raw, /the owner's own notes[\s\S]*\$\{A_KEY\}[\s\S]*\$include/);
    }),
  );
});
