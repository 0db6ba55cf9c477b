// `openclaw config …` through the real command: round trips that keep the file, refusals that name the fix, repairs.
import assert from "node:assert/strict";
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { newCli, wellEnded } from "../../harness/cli.ts";

const commented = `{
  // who may come in
  gateway: { mode: "local", port: 18789, auth: { token: "s3cret-s3cret-s3cret" } }, // keep me
  tools: {
    deny: ["exec", /* not yet */ "browser"],
  },
}
`;

test("get: values, objects and defaults; a secret by name, hidden in objects", async () => {
  const cli = newCli(commented);
  assert.deepEqual(await cli.run("config", "get", "gateway.port"), { code: 0, stdout: "18789\n", stderr: "" });
  assert.deepEqual(await cli.run("config", "get", "tools.deny[1]"), { code: 0, stdout: "browser\n", stderr: "" });
  assert.deepEqual(await cli.run("config", "get", "tools.deny[1]", "--json"), {
    code: 0,
    stdout: '"browser"\n',
    stderr: "",
  });
  assert.deepEqual(await cli.run("config", "get", "gateway.bind"), { code: 0, stdout: "loopback\n", stderr: "" });
  assert.equal(wellEnded(await cli.run("config", "get", "gateway.auth.token")), "s3cret-s3cret-s3cret\n");
  for (const words of [
    ["config", "get"],
    ["config", "get", "gateway"],
    ["config", "get", "gateway.auth"],
  ]) {
    assert.doesNotMatch(wellEnded(await cli.run(...words)), /s3cret/, words.join(" "));
    assert.match(wellEnded(await cli.run(...words, "--show-secrets")), /s3cret/, words.join(" "));
  }
  cli.dispose();
});

test("get of a missing key: exit 1, the recorded message, the nearest key", async () => {
  const cli = newCli(commented);
  const cases: [string, string][] = [
    ["gateway.prot", "did you mean: openclaw config get gateway.port"],
    ["gatway.port", "did you mean: openclaw config get gateway.port"],
    [
      "gateway.customBindHost",
      "the key exists but is not set and has no default; set it with: openclaw config set gateway.customBindHost <value>",
    ],
    ["nothing.like.it", "list the known keys with: openclaw config schema"],
  ];
  for (const [path, hint] of cases) {
    assert.deepEqual(await cli.run("config", "get", path), {
      code: 1,
      stdout: "",
      stderr: `Config path not found: ${path}\nfix: ${hint}\n`,
    });
  }
  const bad = await cli.run("config", "get", "a..b");
  assert.deepEqual([bad.code, /not a config path.*\nfix: write it like/s.test(bad.stderr)], [1, true]);
  cli.dispose();
});

test("set and unset change only the named key", async () => {
  const cli = newCli(commented);
  assert.match(
    wellEnded(await cli.run("config", "set", "gateway.port", "18900")),
    /^set gateway\.port \(~\/\.openclaw\/openclaw\.json\)\n$/,
  );
  assert.equal(cli.text(), commented.replace("18789", "18900"));
  wellEnded(await cli.run("config", "set", "tools.deny[1]", "canvas"));
  assert.equal(cli.text(), commented.replace("18789", "18900").replace('"browser"', '"canvas"'));
  wellEnded(await cli.run("config", "set", "gateway.port", "18789"));
  wellEnded(await cli.run("config", "set", "tools.deny[1]", "browser"));
  assert.equal(cli.text(), commented);
  wellEnded(await cli.run("config", "set", 'channels.telegram.groups["-100.5"].requireMention', "false"));
  assert.equal(
    wellEnded(await cli.run("config", "get", 'channels.telegram.groups["-100.5"].requireMention')),
    "false\n",
  );
  wellEnded(await cli.run("config", "unset", "channels"));
  assert.equal(cli.text(), commented);
  assert.deepEqual(await cli.run("config", "set", "gateway.port", "18789"), {
    code: 0,
    stdout: "gateway.port already has that value (~/.openclaw/openclaw.json)\n",
    stderr: "",
  });
  cli.dispose();
});

test("set reads JSON5, else text; a secret of digits stays text; --json is strict", async () => {
  const cli = newCli("{}\n");
  wellEnded(await cli.run("config", "set", "tools.deny", "['exec', \"group:web\",]"));
  assert.equal(wellEnded(await cli.run("config", "get", "tools.deny", "--json")), '[\n  "exec",\n  "group:web"\n]\n');
  wellEnded(await cli.run("config", "set", "gateway.auth.token", "12345678901234567890"));
  assert.equal(wellEnded(await cli.run("config", "get", "gateway.auth.token", "--json")), '"12345678901234567890"\n');
  wellEnded(await cli.run("config", "set", "--", "gateway.auth.password", "--dashes"));
  assert.equal(wellEnded(await cli.run("config", "get", "gateway.auth.password")), "--dashes\n");
  const strict = await cli.run("config", "set", "gateway.bind", "lan", "--json");
  assert.deepEqual(
    [strict.code, (JSON.parse(strict.stdout) as { error: { code: string } }).error.code],
    [2, "cli.usage"],
  );
  const result = JSON.parse(wellEnded(await cli.run("config", "set", "gateway.bind", '"auto"', "--json"))) as Record<
    string,
    unknown
  >;
  assert.deepEqual(
    { ...result, file: "" },
    { ok: true, changed: true, path: "gateway.bind", file: "", valid: true, issues: [], effect: "next-start" },
  );
  cli.dispose();
});

test("does not write a change that would make the config invalid", async () => {
  const cli = newCli(commented);
  const cases: [string[], RegExp][] = [
    [
      ["set", "gateway.port", "a"],
      /nothing was written, because the config would be invalid:\n {2}gateway\.port: .*\nfix: /,
    ],
    [["set", "gateway.prot", "1"], /unknown key "prot" \(did you mean port\?\)/],
    [["set", "tools.deny.x", "1"], /not a config path.*tools\.deny is an array and takes an index/],
    [["unset", "gateway.tls"], /^Config path not found: gateway\.tls\nfix: openclaw config get\n$/],
  ];
  for (const [words, pattern] of cases) {
    const { code, stderr } = await cli.run("config", ...words);
    assert.equal(code, 1, words.join(" "));
    assert.match(stderr, pattern, words.join(" "));
  }
  assert.equal(cli.text(), commented);
  cli.dispose();
});

test("set creates a private file and keeps earlier versions", async () => {
  const cli = newCli();
  wellEnded(await cli.run("config", "set", "gateway.mode", "local"));
  assert.deepEqual([statSync(cli.config).mode & 0o777, statSync(cli.state).mode & 0o777], [0o600, 0o700]);
  wellEnded(await cli.run("config", "set", "gateway.port", "18900"));
  assert.ok(readdirSync(cli.state).includes("openclaw.json.bak"));
  cli.dispose();
});

test("validate names every error with file and line; diagnostics still run, other commands stop", async () => {
  const cli = newCli('{\n  gateway: { mode: "local", prot: 1 },\n  agent: { model: "a/b" },\n}\n');
  const { code, stdout, stderr } = await cli.run("config", "validate");
  assert.equal(code, 1);
  assert.match(
    stdout,
    /error {4}~\/\.openclaw\/openclaw\.json:2:\d+ {2}gateway\.prot: unknown key "prot" \(did you mean port\?\)/,
  );
  assert.match(stdout, /error {4}~\/\.openclaw\/openclaw\.json:3:\d+ {2}agent\.model: is an older key/);
  assert.match(stderr, /^fix: /);
  for (const words of [
    ["status"],
    ["config", "file"],
    ["config", "get", "gateway.mode"],
    ["gateway", "status"],
    ["doctor"],
    ["help"],
    ["health"],
    ["logs"],
  ]) {
    const ran = await cli.run(...words);
    assert.doesNotMatch(ran.stderr, /not valid/, words.join(" "));
  }
  for (const words of [
    ["tools", "list"],
    ["devices"],
    ["sessions"],
    ["gateway", "call", "health"],
    ["gateway", "run"],
    ["tools", "call", "read", "path=x"],
  ]) {
    const ran = await cli.run(...words);
    assert.equal(ran.code, 1, words.join(" "));
    assert.match(ran.stderr, /is not valid:\n.*openclaw\.json:3:\d+.*\n.*gateway\.prot.*\nfix: /s, words.join(" "));
  }
  cli.dispose();
});

test("a broken config can be fixed step by step or by the doctor", async () => {
  const cli = newCli("{\n  // mine\n  gateway: { prot: 1, mode: 'local' },\n  tools: { zzz: 1 },\n}\n");
  const first = await cli.run("config", "unset", "tools.zzz");
  assert.equal(first.code, 0);
  assert.match(first.stderr, /still not valid:\n.*gateway\.prot/);
  const worse = await cli.run("config", "set", "gateway.portt", "1");
  assert.equal(worse.code, 1);
  const doctor = await cli.run("doctor", "--fix");
  assert.equal(doctor.code, 0);
  assert.match(doctor.stdout, /done: remove the unknown key gateway\.prot/);
  assert.match(cli.text(), /\/\/ mine\n {2}gateway: \{ mode: 'local'/);
  assert.equal((await cli.run("config", "validate")).code, 0);
  cli.dispose();
});

test("every command that reads a file with a syntax error reports its position", async () => {
  const cli = newCli("{\n  gateway: { port: }\n}\n");
  for (const words of [["config", "validate"], ["config", "get", "gateway.port"], ["tools", "list"], ["status"]]) {
    const { stdout, stderr } = await cli.run(...words);
    assert.match(stdout + stderr, /openclaw\.json:2:20/, words.join(" "));
  }
  assert.equal((await cli.run("config", "set", "gateway.port", "1")).code, 1);
  assert.equal(cli.text(), "{\n  gateway: { port: }\n}\n");
  cli.dispose();
});

test("prints the path of the config file and its schema", async () => {
  const cli = newCli(commented);
  assert.deepEqual(await cli.run("config", "file"), { code: 0, stdout: `${cli.config}\n`, stderr: "" });
  assert.deepEqual(JSON.parse(wellEnded(await cli.run("--profile", "other", "config", "file", "--json"))), {
    path: join(cli.home, ".openclaw-other", "openclaw.json"),
    exists: false,
  });
  const schema = JSON.parse(wellEnded(await cli.run("config", "schema"))) as { properties: Record<string, unknown> };
  assert.ok("gateway" in schema.properties && "tools" in schema.properties);
  wellEnded(await cli.run("config", "schema", "--out", "~/s.json"));
  assert.deepEqual(JSON.parse(readFileSync(join(cli.home, "s.json"), "utf8")), schema);
  cli.dispose();
});

test("keeps a config that is a link", async () => {
  const cli = newCli();
  const real = join(cli.home, "dotfiles", "openclaw.json");
  mkdirSync(join(cli.home, "dotfiles"));
  mkdirSync(cli.state);
  writeFileSync(real, "{ gateway: { port: 1 } }\n");
  symlinkSync(real, cli.config);
  wellEnded(await cli.run("config", "set", "gateway.port", "2"));
  assert.equal(readFileSync(real, "utf8"), "{ gateway: { port: 2 } }\n");
  assert.ok(existsSync(cli.config));
  cli.dispose();
});
