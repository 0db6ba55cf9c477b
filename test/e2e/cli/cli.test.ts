// The command line as a newcomer meets it: version, help, slips of the finger, and the launcher itself.
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { chmodSync, cpSync, existsSync, mkdirSync, readdirSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";

import { newCli, wellEnded } from "../../harness/cli.ts";
import { readJson, root, tempHome } from "../../harness/gateway.ts";

const cli = newCli();
after(() => cli.dispose());
const { version } = readJson(join(root, "package.json")) as { version: string };

test("--version in every spelling, without touching the disk", async () => {
  const empty = newCli();
  for (const words of [["--version"], ["-v"], ["-V"], ["--dev", "--version"]])
    assert.deepEqual(await empty.run(...words), { code: 0, stdout: `${version}\n`, stderr: "" });
  assert.deepEqual(await empty.run("--version", "--json"), {
    code: 0,
    stdout: `${JSON.stringify({ version })}\n`,
    stderr: "",
  });
  assert.deepEqual(readdirSync(empty.home), []);
  empty.dispose();
});

test("the bare command, help and --help print the same", async () => {
  const [bare, help, flag] = await Promise.all([cli.run(), cli.run("help"), cli.run("--help")]);
  assert.equal(bare.code, 0);
  assert.match(bare.stdout, /Usage: openclaw \[options\] <command>/);
  assert.deepEqual([help, flag], [bare, bare]);
  assert.deepEqual(await cli.run("help", "config", "set"), await cli.run("config", "set", "--help"));
});

test("a group alone is a usage error, its help is not", async () => {
  const [bare, help] = await Promise.all([cli.run("config"), cli.run("config", "--help")]);
  assert.equal(bare.code, 2);
  assert.deepEqual(help, { code: 0, stdout: bare.stderr, stderr: "" });
});

test("typos: exit 2, the nearest word and where to look", async () => {
  const slips: [string[], RegExp][] = [
    [["statsu"], /unknown command "statsu".*did you mean: openclaw status\nfix: openclaw --help/s],
    [["config", "gte", "x"], /did you mean: openclaw config get\nfix: openclaw config --help/],
    [["status", "--jsno"], /unknown option --jsno; did you mean --json\?\nfix: openclaw status --help/],
    [["logs", "--limit"], /--limit needs a value: --limit <lines>/],
    [["logs", "--limit", "many"], /--limit must be a whole number from 1 to 5000, not "many"/],
    [
      ["gateway", "run", "--bind", "everywhere"],
      /--bind must be one of loopback, lan, tailnet, auto, custom, not "everywhere"/,
    ],
    [["config", "set", "gateway.port"], /missing <value>/],
    [["config", "file", "extra"], /unexpected argument: "extra"/],
    [["health", "--url", "ws://127.0.0.1:1"], /--url requires --token or --password/],
    [["completion", "tcsh"], /no completion for "tcsh"; available: bash, zsh, fish/],
    [["zzzzzz"], /unknown command "zzzzzz" in: openclaw zzzzzz\n/],
  ];
  const ran = await Promise.all(slips.map(([words]) => cli.run(...words)));
  for (const [index, [words, pattern]] of slips.entries()) {
    assert.match(ran[index]?.stderr ?? "", pattern, words.join(" "));
    assert.deepEqual([ran[index]?.code, ran[index]?.stdout], [2, ""], words.join(" "));
  }
});

test("with --json failures are JSON too", async () => {
  const { code, stdout, stderr } = await cli.run("health", "--json");
  const { error } = JSON.parse(stdout) as { error: { code: string; hint: string } };
  assert.deepEqual([code, stderr, error.code, error.hint], [1, "", "gateway.down", "openclaw gateway run"]);
});

test("prints no colors in a pipe", async () => {
  const { stdout } = await cli.run("status");
  assert.equal(stdout.includes("\u001b"), false);
});

test("every command that needs a gateway says how to start one", async () => {
  const commands = [
    ["health"],
    ["devices"],
    ["devices", "approve", "x"],
    ["dashboard"],
    ["gateway", "call", "health"],
    ["approvals", "get", "--gateway"],
    ["gateway", "restart"],
  ];
  const ran = await Promise.all(commands.map((words) => cli.run(...words)));
  for (const [index, words] of commands.entries()) {
    assert.equal(ran[index]?.code, 1, words.join(" "));
    assert.match(
      ran[index]?.stderr ?? "",
      /no gateway is running on this machine \(ws:\/\/127\.0\.0\.1:18789\)\nfix: openclaw gateway run\n/,
      words.join(" "),
    );
  }
});

test("status and gateway status work on an empty home and create nothing", async () => {
  const empty = newCli();
  const status = await empty.run("status");
  assert.deepEqual([status.code, status.stderr], [0, ""]);
  assert.match(status.stdout, /does not exist yet.*not running.*Next: openclaw gateway run --setup/s);
  const gateway = await empty.run("gateway", "status");
  assert.equal(gateway.code, 1);
  assert.match(gateway.stderr, /fix: openclaw gateway run/);
  assert.deepEqual(await empty.run("gateway", "stop"), {
    code: 0,
    stdout: "no gateway is running with the state in ~/.openclaw\n",
    stderr: "",
  });
  for (const words of [["tools", "list"], ["tools", "explain", "exec"], ["config", "get"], ["doctor"], ["approvals"]])
    await empty.run(...words);
  assert.deepEqual(readdirSync(empty.home), []);
  empty.dispose();
});

test("reads an older installation with one line of notice and never writes it", async () => {
  const old = newCli();
  mkdirSync(join(old.home, ".moltbot"));
  writeFileSync(join(old.home, ".moltbot", "moltbot.json"), "{ gateway: { port: 18777 } }");
  const get = await old.run("config", "get", "gateway.port");
  assert.deepEqual([get.code, get.stdout], [0, "18777\n"]);
  assert.match(get.stderr, /^using the older installation in [^\n]*\n$/);
  const set = await old.run("config", "set", "gateway.port", "1");
  assert.equal(set.code, 1);
  assert.match(set.stderr, /belongs to an older installation and is never changed\nfix: /);
  old.dispose();
});

test("completion scripts are valid and complete the commands", async () => {
  const [bash, zsh, fish] = await Promise.all(
    ["bash", "zsh", "fish"].map(async (shell) => wellEnded(await cli.run("completion", shell))),
  );
  for (const [shell, script] of [
    ["bash", bash],
    ["zsh", zsh],
    ["fish", fish],
  ] as const) {
    for (const word of ["gateway", "explain", "agent", "devices"])
      assert.ok(script?.includes(word), `${shell}: ${word}`);
    const flags = shell === "fish" ? ["--no-execute"] : ["-n"];
    const checked = spawnSync(shell, flags, { input: script ?? "" });
    if (checked.error === undefined) assert.equal(checked.stderr.toString(), "", `${shell} reads its script`);
  }
  const reply = (line: string): string[] =>
    execFileSync(
      "bash",
      [
        "-c",
        `${bash}\nCOMP_WORDS=(${line}); COMP_CWORD=$((\${#COMP_WORDS[@]} - 1)); _openclaw; echo "\${COMPREPLY[*]}"`,
      ],
      { encoding: "utf8" },
    )
      .trim()
      .split(" ");
  assert.deepEqual(reply("openclaw ga"), ["gateway"]);
  assert.deepEqual(reply("openclaw --dev config un"), ["unset"]);
  assert.deepEqual(reply("openclaw tools explain exec --sandb"), ["--sandboxed"]);
});

test("the launcher uses the bundle only while it is fresh; a published package always does", async () => {
  const place = tempHome();
  cpSync(join(root, "openclaw.mjs"), join(place, "openclaw.mjs"));
  writeFileSync(join(place, "package.json"), '{ "name": "openclaw", "version": "9.9.9", "type": "module" }');
  for (const folder of ["dist", "src"]) mkdirSync(join(place, folder));
  writeFileSync(join(place, "dist", "bin.js"), 'console.log("bundle", process.argv.slice(2).join(" "))');
  writeFileSync(
    join(place, "src", "bin.ts"),
    'const words: string[] = process.argv.slice(2); console.log("sources", words.join(" "))',
  );
  writeFileSync(join(place, "dist", "built"), "");
  const run = (): string =>
    execFileSync(process.execPath, [join(place, "openclaw.mjs"), "a", "b"], {
      encoding: "utf8",
      env: { PATH: process.env["PATH"], HOME: place },
    });
  const at = (path: string, seconds: number): void => utimesSync(join(place, path), seconds, seconds);
  for (const path of ["package.json", "src/bin.ts", "src", "dist/built"]) at(path, 1000);
  assert.equal(run(), "bundle a b\n");
  at("src/bin.ts", 1001);
  assert.equal(run(), "sources a b\n");
  at("dist/built", 1002);
  writeFileSync(join(place, "src", "x.test.ts"), "");
  at("src", 1000);
  assert.equal(run(), "bundle a b\n", "tests are no part of the bundle");
  rmSync(join(place, "dist", "built"));
  assert.equal(run(), "sources a b\n");
  rmSync(join(place, "src"), { recursive: true });
  assert.equal(run(), "bundle a b\n");
  rmSync(place, { recursive: true });
});

const older = olderNode();

test(
  "an older Node starts the project's own Node, with arguments, exit code and signals",
  { skip: older === undefined ? "no Node older than 24.15 on PATH" : false },
  async () => {
    const place = tempHome();
    cpSync(join(root, "openclaw.mjs"), join(place, "openclaw.mjs"));
    writeFileSync(join(place, "package.json"), '{ "name": "openclaw", "version": "9.9.9", "type": "module" }');
    mkdirSync(join(place, "dist"));
    writeFileSync(
      join(place, "dist", "bin.js"),
      'console.log(process.versions.node, ...process.argv.slice(2)); if (process.argv[2] === "wait") process.kill(process.pid, "SIGTERM"); else process.exitCode = 7',
    );
    const run = (...words: string[]) =>
      spawnSync(older ?? "", [join(place, "openclaw.mjs"), ...words], {
        encoding: "utf8",
        env: { PATH: process.env["PATH"], HOME: place },
      });
    assert.equal(run("--version").stdout, "9.9.9\n");
    const missing = run("status");
    assert.equal(missing.status, 1);
    assert.match(
      missing.stderr,
      /^OpenClaw needs Node 24\.15 or newer; this is Node [\d.]+\.\nfix: install Node 24\.15/,
    );
    const own = join(place, ".tools", "node_modules", `node-${process.platform}-${process.arch}`, "bin");
    mkdirSync(own, { recursive: true });
    writeFileSync(join(own, "node"), `#!/bin/sh\nexec "${process.execPath}" "$@"\n`);
    chmodSync(join(own, "node"), 0o755);
    const ran = run("status", "two words");
    assert.deepEqual([ran.status, ran.stdout], [7, `${process.versions.node} status two words\n`]);
    assert.equal(run("wait").status, 143);
    rmSync(place, { recursive: true });
  },
);

/** A Node on PATH that is too old, if this machine has one. */
function olderNode(): string | undefined {
  const folders = (process.env["PATH"] ?? "").split(":");
  return folders
    .map((folder) => join(folder, "node"))
    .find((path) => {
      if (!existsSync(path)) return false;
      const [major = 99, minor = 0] = execFileSync(path, ["-p", "process.versions.node"], { encoding: "utf8" })
        .split(".")
        .map(Number);
      return major < 24 || (major === 24 && minor < 15);
    });
}
