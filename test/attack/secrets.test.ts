// Secrets on their way out: results, journal, logs, config views. The canary must be nowhere.
import assert from "node:assert/strict";
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";

import { createMask } from "../../src/base/mask.ts";
import { visible } from "../../src/core/visible.ts";
import {
  dispose,
  invoke,
  openclaw,
  operator,
  startGateway,
  tempHome,
  type TestGateway,
  type Wire,
} from "../harness/gateway.ts";

const secret = "S3CRET-CANARY-0123456789-abcdef";
let gateway: TestGateway;
let admin: Wire;
before(async () => {
  gateway = await startGateway({
    config: {
      channels: { telegram: { botToken: secret } },
      models: { providers: { fake: { baseUrl: "http://127.0.0.1:1/v1", apiKey: `${secret}-model`, models: [] } } },
    },
    env: { OPENAI_API_KEY: `${secret}-env` },
  });
  admin = await operator(gateway);
  mkdirSync(gateway.workspace, { recursive: true });
});
after(async () => {
  admin.end();
  await dispose(gateway);
});

const encoded = [
  secret,
  Buffer.from(secret).toString("base64"),
  Buffer.from(`xx${secret}yy`).toString("base64"),
  encodeURIComponent(`${secret}/`),
  Buffer.from(secret).toString("hex"),
];

test("SEC-007 masks a known secret in a result, also when it is encoded", async () => {
  writeFileSync(join(gateway.workspace, "leak.txt"), `${encoded.join("\n")}\n${secret}-env ${gateway.token}\n`);
  const { status, body } = await invoke(gateway, "read", { path: "leak.txt" });
  assert.equal(status, 200);
  const text = JSON.stringify(body);
  for (const form of [...encoded.filter((_, index) => index !== 2), gateway.token])
    assert.ok(!text.includes(form), form);
  assert.ok(!text.includes(Buffer.from(secret).toString("base64").slice(4, 30)), "also inside a longer encoded text");
});

test("SEC-007 masks the encodings that everyday programs write, also broken over lines", async () => {
  const hex = Buffer.from(secret).toString("hex");
  const base64 = Buffer.from(`${secret}-model`).toString("base64");
  const forms = [
    hex.toUpperCase(),
    hex.replaceAll(/../g, "%$&"),
    hex.replaceAll(/../g, "\\x$&"),
    hex.replaceAll(/.{30}/g, "$&\n"), // xxd -p
    base64.replaceAll(/.{38}/g, "$&\n"), // base64 -w 38
    base64.replaceAll(/.{20}/g, "$&\r\n"),
    secret.replaceAll(/.{10}/g, "$&\n"), // fold
    JSON.stringify(JSON.stringify({ secret })),
  ];
  for (const form of forms) {
    writeFileSync(join(gateway.workspace, "form.txt"), `before\n${form}\nafter\n`);
    const { body } = await invoke(gateway, "exec", { command: "cat form.txt" });
    const told = (body as { result: { content: { text: string }[] } }).result.content[0]?.text ?? "";
    assert.match(told, /before[^]*after/);
    assert.ok(!told.includes(form) && told.length < form.length + 10, told);
  }
});

test("SEC-001 SEC-003 a secret in arguments or errors reaches neither log nor journal", async () => {
  await invoke(gateway, "read", { path: `/nope/${secret}` });
  await invoke(gateway, `no_such_${secret}`, {});
  await invoke(gateway, "edit", { path: "leak.txt", oldText: secret, newText: "x" });
  const journal = JSON.stringify((await admin.request("tools.journal", { limit: 50 })).payload);
  assert.ok(!journal.includes(secret));
  for (const name of readdirSync(join(gateway.state, "logs")))
    assert.ok(!readFileSync(join(gateway.state, "logs", name), "utf8").includes(secret));
  assert.ok(!gateway.output().includes(secret));
});

test("SEC-005 status, health, config views and logs show no fragment", async () => {
  for (const [method, params] of [
    ["status", {}],
    ["health", {}],
    ["config.get", {}],
    ["models.list", {}],
    ["logs.tail", {}],
    ["channels.status", {}],
    ["device.pair.list", {}],
  ] as const) {
    const text = JSON.stringify(await admin.request(method, params));
    for (const fragment of [secret, secret.slice(0, 20), gateway.token])
      assert.ok(!text.includes(fragment), `${method}: ${fragment}`);
  }
});

test("config.get hides secrets and nothing else", async () => {
  const { config } = (await admin.call("config.get", {})) as {
    config: {
      channels: { telegram: { botToken: string } };
      models: { providers: { fake: Record<string, unknown> } };
    };
  };
  assert.equal(config.channels.telegram.botToken, "__OPENCLAW_REDACTED__");
  assert.deepEqual(
    { ...config.models.providers.fake, models: undefined },
    { baseUrl: "http://127.0.0.1:1/v1", apiKey: "__OPENCLAW_REDACTED__", models: undefined },
  );
});

test("SEC-008 SEC-009 refuses a redaction pattern that could hang at load, with its path", async () => {
  const home = tempHome();
  mkdirSync(join(home, ".openclaw"));
  writeFileSync(
    join(home, ".openclaw", "openclaw.json"),
    '{gateway:{mode:"local"},logging:{redactPatterns:["(a+)+$"]}}',
  );
  const { code, stderr } = await openclaw(home, ["gateway", "run", "--port", "0"]);
  assert.equal(code, 1);
  assert.match(stderr, /logging\.redactPatterns/);
});

test("SEC-012 no flag requests a core dump, and a kill leaves no file", async () => {
  const own = await startGateway();
  const command = readFileSync(`/proc/${own.pid}/cmdline`, "utf8").replaceAll("\0", " ");
  assert.doesNotMatch(command, /heapsnapshot|--report|heap-prof|abort-on-uncaught/);
  await own.stop("SIGABRT");
  assert.deepEqual(
    readdirSync(own.home).filter((name) => /heapsnapshot|report\.|core/.test(name)),
    [],
  );
  await dispose(own);
});

test("SEC-014 shows control and direction characters as text", () => {
  assert.equal(visible("a\u001b[2J\nb\u202ec\u200bd"), "a\\u{1b}[2J\\u{a}b\\u{202e}c\\u{200b}d");
});

test("SEC-001 masks text that looks like a credential", () => {
  const mask = createMask();
  const words = [
    "sk-proj-abcdefghijklmnopqrstuvwx",
    "ghp_abcdefghijklmnopqrstuvwxyz0123456789",
    "xoxb-1234567890-abcdefghij",
    "AKIAABCDEFGHIJKLMNOP",
    "123456789:AAabcdefghijklmnopqrstuvwxyz0123456",
    "Bearer abcdefghijklmnop1234",
    "-----BEGIN PRIVATE KEY-----\nMIIB\n-----END PRIVATE KEY-----",
  ];
  for (const word of words) assert.ok(!mask(`before ${word} after`).includes(word), word);
  assert.equal(mask("nothing secret: task-list, sketch-book, ghost"), "nothing secret: task-list, sketch-book, ghost");
});

test("SEC-008 masks a megabyte of near-matches in linear time", () => {
  const bait = `${"a".repeat(1_000_000)}! sk-${"a-".repeat(100_000)}`;
  assert.equal(typeof createMask([secret])(bait), "string");
});
