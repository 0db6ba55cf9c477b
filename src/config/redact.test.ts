// Redaction hides secrets and nothing else, and restores them only where they were.
import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "fast-check";
import JSON5 from "json5";

import { anyDocument } from "./json5.cases.ts";
import { redactConfig, redacted, redactRaw, restoreRedacted, restoreRedactedText, secretsOf } from "./redact.ts";
import { looksSecret } from "../base/secret-names.ts";

const written = `{
  // token: "left-in-a-comment"
  gateway: { auth: { mode: 'token', token: 'gw-secret' }, port: 1 },
  models: { providers: { p: {
    apiKey: "\${P_KEY}", headers: { "X-Api-Key": "hk", Accept: "json" },
    models: [{ id: "m", maxTokens: 4, contextWindow: 9 }],
  } } },
  channels: {
    googlechat: { serviceAccount: { private_key: "pk", client_email: "me" } },
    telegram: { botToken: "1:AA", tokenFile: "/run/t", accounts: { x: { botToken: "2:BB" } } },
  },
  env: { OPENAI_API_KEY: "ek", vars: { LANG: "C", DB: "postgres://u:pw@h/d" } },
  plugins: { entries: { v: { config: { deep: [{ authToken: "vt", maxTokens: 5, sessionCount: 2 }] } } } },
  hooks: { token: "" },
}`;

const value: unknown = JSON5.parse(written);

test("redacts exactly the secrets of a value", () => {
  assert.deepEqual(redactConfig(value), {
    gateway: { auth: { mode: "token", token: redacted }, port: 1 },
    models: {
      providers: {
        p: {
          apiKey: redacted,
          headers: { "X-Api-Key": redacted, Accept: "json" },
          models: [{ id: "m", maxTokens: 4, contextWindow: 9 }],
        },
      },
    },
    channels: {
      googlechat: { serviceAccount: redacted },
      telegram: { botToken: redacted, tokenFile: "/run/t", accounts: { x: { botToken: redacted } } },
    },
    env: { OPENAI_API_KEY: redacted, vars: { LANG: "C", DB: redacted } },
    plugins: { entries: { v: { config: { deep: [{ authToken: redacted, maxTokens: 5, sessionCount: 2 }] } } } },
    hooks: { token: "" },
  });
});

test("redacts the same secrets in the text and in comments, and keeps everything else", () => {
  const expected = written
    .replace('"left-in-a-comment"', `"${redacted}"`)
    .replace("'gw-secret'", `'${redacted}'`)
    .replace('"hk"', `"${redacted}"`)
    .replace('{ private_key: "pk", client_email: "me" }', `"${redacted}"`)
    .replace('"1:AA"', `"${redacted}"`)
    .replace('"2:BB"', `"${redacted}"`)
    .replace('"ek"', `"${redacted}"`)
    .replace('"postgres://u:pw@h/d"', `"${redacted}"`)
    .replace('"vt"', `"${redacted}"`);
  assert.equal(redactRaw(written), expected);
  assert.equal(restoreRedactedText(expected, written), written);
});

test("redacts secrets in an unparsable text", () => {
  assert.equal(
    redactRaw('{ token: "abc", maxTokens: 5, apiKey: xyz, '),
    `{ token: "${redacted}", maxTokens: 5, apiKey: "${redacted}", `,
  );
});

test("redacts the first of two equal keys as well", () => {
  assert.equal(
    redactRaw("{ hooks: { token: 'a', token: 'b' } }"),
    `{ hooks: { token: '${redacted}', token: '${redacted}' } }`,
  );
});

test("redacts misplaced values and values of the wrong type", () => {
  assert.deepEqual(redactConfig({ gateway: { auth: { token: 12345 } }, apiToken: "x", telegram: { botToken: "y" } }), {
    gateway: { auth: { token: redacted } },
    apiToken: redacted,
    telegram: { botToken: redacted },
  });
});

test("lists all secret values", () => {
  const config = {
    gateway: { auth: { token: "a-token", password: "pw" } },
    diagnostics: { otel: { headers: { Authorization: "Bearer inner" } } },
  };
  assert.deepEqual(secretsOf(config), ["a-token", "pw", "Bearer inner", "inner"]);
});

test("recognizes secrets by the end of a name", () => {
  const names = [
    "apiKey",
    "OPENAI_API_KEY",
    "x-api-key",
    "Authorization",
    "botToken",
    "PASSWORD",
    "maxTokens",
    "tokenFile",
    "publicKey",
    "monkey",
    "keyPrefix",
    "tokens",
  ];
  assert.deepEqual(names.filter(looksSecret), [
    "apiKey",
    "OPENAI_API_KEY",
    "x-api-key",
    "Authorization",
    "botToken",
    "PASSWORD",
  ]);
});

test("unchanged markers restore the stored value", () => {
  const current = {
    gateway: { auth: { token: "t" } },
    agents: {
      list: [
        { id: "a", k: "1" },
        { id: "b", k: "2" },
      ],
    },
  };
  const next = { agents: { list: [{ id: "b", k: redacted }] }, gateway: { port: 2, auth: { token: redacted } } };
  assert.deepEqual(restoreRedacted(next, current), {
    agents: { list: [{ id: "b", k: "2" }] },
    gateway: { port: 2, auth: { token: "t" } },
  });
});

const refused: readonly (readonly [what: string, next: unknown])[] = [
  ["where nothing was stored", { hooks: { token: redacted } }],
  ["inside a longer text", { a: `Bearer ${redacted}` }],
  ["in a list that changed its length", { list: [redacted] }],
  ["in an entry with a new id", { byId: [{ id: "new", k: redacted }] }],
];

for (const [what, next] of refused) {
  test(`rejects a marker ${what}`, () => {
    const current = { a: "Bearer x", list: ["1", "2"], byId: [{ id: "old", k: "1" }] };
    assert.throws(() => restoreRedacted(next, current), { code: "config.redacted" });
    assert.throws(() => restoreRedactedText(JSON.stringify(next), JSON.stringify(current)), {
      code: "config.redacted",
    });
  });
}

test("restores references as references", () => {
  const current = "{ gateway: { auth: { token: 'plain', password: '${PW}' } } }";
  const next = `{ gateway: { auth: { password: "${redacted}", token: "${redacted}" } } }`;
  assert.equal(restoreRedactedText(next, current), "{ gateway: { auth: { password: '${PW}', token: 'plain' } } }");
});

test("redacting and restoring gives the same text, for any text", () => {
  fc.assert(
    fc.property(anyDocument, fc.string({ minLength: 1 }), (document, secret) => {
      const text = `{ hooks: { token: ${JSON.stringify(secret)} }, x: ${document} }`;
      const hidden = redactRaw(text);
      assert.equal(restoreRedactedText(hidden, text), text);
      const { hooks, ...rest } = JSON5.parse(hidden) as Record<string, unknown>;
      assert.deepEqual(hooks, { token: redacted });
      // A name such as `key` in an unknown section is redacted, too; everything else is unchanged.
      assert.deepEqual(rest, { x: hiddenByName(JSON5.parse(document)) });
    }),
    { numRuns: 300 },
  );
});

function hiddenByName(value: unknown, name?: string): unknown {
  if (typeof value === "string") return name !== undefined && looksSecret(name) ? redacted : value;
  if (Array.isArray(value)) return value.map((item: unknown) => hiddenByName(item, name));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, child]) => [key, hiddenByName(child, key)]));
}
