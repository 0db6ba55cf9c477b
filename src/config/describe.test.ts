// Every key has a description, the exported schema is plain JSON Schema, and the first config is valid.
import assert from "node:assert/strict";
import { test } from "node:test";

import { checker, type TSchema } from "../core/schema.ts";
import { describeKeys, typeWords } from "./describe.ts";
import { firstRunText } from "./first-run.ts";
import { makeStateFolder } from "./folder.cases.ts";
import { configJsonSchema, uiHints } from "./json-schema.ts";
import { loadConfig } from "./load.ts";
import { notBuiltKeys } from "./not-built.ts";
import { schemaRoot } from "./schema-root.ts";
import { valueSchema, type SchemaNode } from "./schema-node.ts";

const keys = describeKeys();
const byPath = new Map(keys.map((key) => [key.path, key]));

test("gives every key a sentence and a type, and lists each path once", () => {
  assert.deepEqual(
    keys.filter(({ description, type }) => !/^.+\.$/su.test(description ?? "") || type === ""),
    [],
  );
  assert.equal(byPath.size, keys.length);
});

test("describes keys with type, default and description", () => {
  const shown = [
    "gateway.port",
    "gateway.auth.token",
    "agents.defaults.sandbox.backend",
    "agents.list[].tools.fs.workspaceOnly",
    "agents.list[].workspace",
    "channels.telegram.groups.*.toolsBySender.*.alsoAllow",
  ];
  assert.deepEqual(
    shown.map((path) => byPath.get(path)),
    [
      {
        path: "gateway.port",
        type: "whole number, 1 to 65535",
        default: 18789,
        description: "Port for WebSocket and HTTP.",
      },
      {
        path: "gateway.auth.token",
        type: "text",
        description: "Shared token. The environment variable OPENCLAW_GATEWAY_TOKEN overrides it.",
        sensitive: true,
      },
      {
        path: "agents.defaults.sandbox.backend",
        type: '"auto" | "docker" | "bubblewrap"',
        default: "auto",
        description: "Sandbox backend; auto uses bubblewrap when it works, otherwise Docker.",
      },
      {
        path: "agents.list[].tools.fs.workspaceOnly",
        type: "true or false",
        description: "Restricts read, write, edit, apply_patch and image paths to the workspace.",
      },
      {
        path: "agents.list[].workspace",
        type: "text",
        fallback: "~/.openclaw/workspace-<id>",
        description: "Folder that the agent works in.",
      },
      {
        path: "channels.telegram.groups.*.toolsBySender.*.alsoAllow",
        type: "list of text",
        description:
          "Tools or groups that are added to the profile. Cannot be combined with allow. Not built yet: this key has no effect.",
        notBuilt: true,
      },
    ],
  );
});

test("marks keys of parts that are not built in the list and in the JSON Schema", () => {
  for (const path of ["gateway.tls.enabled", "gateway.tailscale.mode", "gateway.remote.transport", "session.store"])
    assert.equal(byPath.get(path)?.notBuilt, true, path);
  assert.equal(byPath.get("gateway.port")?.notBuilt, undefined);
  const text = JSON.stringify(configJsonSchema());
  assert.match(text, /"canvasHost":\{[^{}]*"description":"[^"]*Not built yet: this key has no effect\."/);
  assert.doesNotMatch(text, /"notBuilt"/);
});

test("finds the keys of a config that have no effect, each section once", () => {
  const parsed = {
    gateway: { port: 1, tls: { enabled: true } },
    channels: { telegram: {}, slack: {} },
    agents: { list: [{ id: "main", humanDelay: { mode: "off" } }] },
    models: { providers: { lab: { models: [{ id: "m", compat: {} }] } } },
    strange: { key: 1 },
  };
  assert.deepEqual(notBuiltKeys(parsed), [
    "gateway.tls",
    "channels",
    "agents.list[0].humanDelay",
    "models.providers.lab.models[0].compat",
  ]);
  assert.deepEqual(notBuiltKeys({ gateway: { port: 1 } }), []);
});

test("has group rules under the key that each platform uses", () => {
  const places = [
    ...["telegram", "whatsapp", "signal", "imessage", "googlechat", "bluebubbles"].map(
      (id) => `channels.${id}.groups.*`,
    ),
    "channels.discord.guilds.*",
    "channels.discord.guilds.*.channels.*",
    "channels.slack.channels.*",
    "channels.msteams.teams.*",
    "channels.msteams.teams.*.channels.*",
    "channels.telegram.groups.*.topics.*",
  ];
  const lacking = places
    .flatMap((place) => [`${place}.tools`, `${place}.toolsBySender`])
    .filter((path) => !byPath.has(path));
  assert.deepEqual(lacking, []);
});

test("every object is closed or a record", () => {
  const open: string[] = [];
  const walk = (node: SchemaNode, path: string): void => {
    const isObject = node.type === "object" && node.properties !== undefined;
    if (isObject && node.additionalProperties === undefined) open.push(path);
    for (const [key, child] of Object.entries(node.properties ?? {})) walk(child, `${path}.${key}`);
    for (const child of [node.items, valueSchema(node), ...(node.anyOf ?? [])])
      if (child !== undefined) walk(child, `${path}.*`);
  };
  walk(schemaRoot, "");
  assert.deepEqual(open, []);
});

test("marks every key that is named like a secret", () => {
  const named = /(token|secret|password|apiKey)$/i;
  const unmarked = keys.filter(
    ({ path, sensitive, type }) => named.test(path.split(".").at(-1) ?? "") && type === "text" && sensitive !== true,
  );
  assert.deepEqual(
    unmarked.map(({ path }) => path),
    [],
  );
});

test("every default is valid for its own schema", () => {
  const misfits: string[] = [];
  const walk = (node: SchemaNode, path: string): void => {
    if (node.default !== undefined && !checker(node as unknown as TSchema).is(node.default)) misfits.push(path);
    for (const [key, child] of Object.entries(node.properties ?? {})) walk(child, `${path}.${key}`);
    for (const child of [node.items, valueSchema(node), ...(node.anyOf ?? [])])
      if (child !== undefined) walk(child, `${path}.*`);
  };
  for (const [key, node] of Object.entries(schemaRoot.properties ?? {})) if (key !== "channels") walk(node, key);
  assert.deepEqual(misfits, []);
});

test("exports plain draft 07 that agrees with our own validation", () => {
  const schema = configJsonSchema();
  assert.equal(schema["$schema"], "http://json-schema.org/draft-07/schema#");
  assert.deepEqual(wordsOf(schema as SchemaNode).toSorted(), [
    "$schema",
    "additionalProperties",
    "anyOf",
    "default",
    "description",
    "enum",
    "items",
    "maximum",
    "minLength",
    "minimum",
    "pattern",
    "properties",
    "required",
    "title",
    "type",
  ]);
  const library = checker(schema as unknown as TSchema);
  assert.deepEqual(
    [
      library.is({ gateway: { port: 1 }, env: { A: "b" } }),
      library.is({ gateway: { portt: 1 } }),
      library.is({ env: { A: 1 } }),
    ],
    [true, false, false],
  );
});

test("hints have labels, help and secrets", () => {
  assert.deepEqual(uiHints()["gateway.auth.token"], {
    label: "Token",
    help: "Shared token. The environment variable OPENCLAW_GATEWAY_TOKEN overrides it.",
    group: "gateway",
    order: keys.findIndex(({ path }) => path === "gateway.auth.token"),
    sensitive: true,
  });
});

test("describes types in words", () => {
  assert.deepEqual(
    [typeWords({}), typeWords({ type: "number", maximum: 4 }), typeWords({ type: "array" })],
    ["anything", "number, at most 4", "list of anything"],
  );
});

for (const sandbox of [true, false]) {
  test(`the first config is valid and safe, sandbox ${sandbox ? "on" : "off"}`, (t) => {
    const { issues, warnings, config } = loadConfig(
      makeStateFolder(t, { "openclaw.json": firstRunText({ token: "a\"b'c", sandbox }) }),
    );
    assert.deepEqual([issues, warnings], [[], []]);
    assert.deepEqual(
      [
        config.gateway?.mode,
        config.gateway?.bind,
        config.gateway?.auth,
        config.tools?.fs,
        config.agents?.defaults?.sandbox?.mode,
      ],
      ["local", "loopback", { mode: "token", token: "a\"b'c" }, { workspaceOnly: true }, sandbox ? "all" : "off"],
    );
  });
}

/** The keywords that a schema uses. */
function wordsOf(node: SchemaNode): string[] {
  const children = [...Object.values(node.properties ?? {}), node.items, valueSchema(node), ...(node.anyOf ?? [])];
  return [
    ...new Set([...Object.keys(node), ...children.flatMap((child) => (child === undefined ? [] : wordsOf(child)))]),
  ];
}
