// Real programs in a terminal, driven by keys and read from the screen.
import assert from "node:assert/strict";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { after, test } from "node:test";

import { env, openTestEngine, rounds, shellPart, until } from "./engine.cases.ts";
import { encodeKeys } from "./keys.ts";
import { createOutput } from "./output.ts";
import { startTerminal } from "./pty.ts";
import type { Running } from "./running.ts";
import { findProgram } from "./find-program.ts";
import { createQueryFilter } from "./terminal-query.ts";

const engine = openTestEngine({ graceMs: 300 });
after(() => engine.close());
const tty = { columns: 120, rows: 30 };

const needs = (program: string) => ({
  skip:
    findProgram(program, env.PATH.split(delimiter)) === undefined
      ? `${program} is not installed (apt-get install ${program === "top" ? "procps" : program})`
      : false,
});
const keys = (run: Running, ...names: string[]): Promise<void> => run.write(encodeKeys({ keys: names }).bytes);
const type = (run: Running, literal: string): Promise<void> => run.write(encodeKeys({ literal }).bytes);
const shows = (run: Running, text: string | RegExp): Promise<void> =>
  until(async () => {
    const screen = (await run.screen()) ?? "";
    return typeof text === "string" ? screen.includes(text) : text.test(screen);
  });

test("gives a command a terminal of the requested size", async () => {
  const run = await engine.sh("tty; stty size; echo $TERM; test -t 0 && test -t 1 && test -t 2 && echo all", { tty });
  assert.equal((await run.ended).code, 0);
  assert.match(run.output.tail(200), /^\/dev\/pts\/\d+\n30 120\nxterm-256color\nall\n$/);
  assert.equal(run.tty, true);
});

test("reports exit codes, signals and failed starts as over pipes", async () => {
  assert.equal((await (await engine.sh("exit 7", { tty })).ended).code, 7);
  const killed = await (await engine.sh("kill -9 $$", { tty })).ended;
  assert.deepEqual([killed.code, killed.signal], [null, "SIGKILL"]);
  const launch = (argv: string[], cwd = "/") => ({ pipeline: [{ launch: { argv, cwd, env } }], tty });
  await assert.rejects(engine.start(launch(["/no/such"])), { code: "exec.not-found" });
  await assert.rejects(engine.start(launch(["/etc/passwd"])), { code: "exec.not-executable" });
  await assert.rejects(engine.start(launch(["sh"], "/no/such")), { code: "exec.bad-folder" });
  const two = { launch: { argv: ["cat"], cwd: "/", env } };
  await assert.rejects(engine.start({ pipeline: [two, two], tty }), { code: "exec.no-terminal" });
});

test("answers a cursor query and hides it, also in pieces", async () => {
  const run = await engine.sh("stty -icanon -echo; printf 'a\\033[6nb'; dd bs=1 count=6 2>/dev/null | od -An -c", {
    tty,
  });
  assert.equal((await run.ended).code, 0);
  assert.match(run.output.tail(200), /^ab 033 {3}\[ {3}1 {3}; {3}1 {3}R\n$/);
  const answers: string[] = [];
  const filter = createQueryFilter((text) => void answers.push(text));
  const kept = ["x\u001b", "[", "6n", "y\u001b[?6nz\u001b[6", "1m\u001b["].map((part) =>
    filter.take(Buffer.from(part)).toString(),
  );
  assert.deepEqual([...kept, filter.rest().toString()], ["x", "", "", "yz", "\u001b[61m", "\u001b["]);
  assert.deepEqual(answers, ["\u001b[1;1R", "\u001b[1;1R"]);
});

test("C-c sent right after the start ends the program", async () => {
  const cat = { pipeline: [{ launch: { argv: ["cat"], cwd: "/", env } }], tty };
  for (let round = 0; round < rounds(5); round += 1) {
    const run = await engine.start(cat);
    await keys(run, "C-c");
    assert.equal((await run.ended).signal, "SIGINT");
  }
});

test("delivers input in order when it is sent right after the start", async () => {
  const run = await engine.start({ pipeline: [{ launch: { argv: ["cat"], cwd: "/", env } }], tty });
  await Promise.all([type(run, "one\r"), type(run, "two\r"), run.closeInput()]);
  const { code, signal, reason } = await run.ended;
  assert.deepEqual({ code, signal, reason }, { code: 0, signal: undefined, reason: undefined });
  assert.match(run.output.tail(200), /one\n[^]*two\n[^]*two\n$/);
});

test("ends one program with C-c, another with end of input", async () => {
  const cat = await engine.sh("cat", { tty });
  // A shell that is starting a program can lose the signal of C-c, so the program must have answered.
  await type(cat, "up\r");
  await until(() => cat.output.tail(100) === "up\nup\n");
  await keys(cat, "C-c");
  assert.notEqual((await cat.ended).code, 0);
  const reader = await engine.sh("echo up; cat > got", { tty });
  await shows(reader, "up");
  await type(reader, "text\r");
  await until(() => reader.output.tail(100).includes("text"));
  await reader.closeInput();
  assert.equal((await reader.ended).code, 0);
  assert.equal(readFileSync(join(engine.folder, "got"), "utf8"), "text\n");
  await assert.rejects(reader.write(Buffer.from("x")), { code: "exec.input-closed" });
});

test("answers a password prompt without showing the password", async () => {
  const run = await engine.sh("stty -echo; printf 'Password: '; read -r x; stty echo; echo; echo \"length ${#x}\"", {
    tty,
  });
  await until(() => run.output.tail(100).includes("Password:"));
  await type(run, "hunter22\r");
  assert.equal((await run.ended).code, 0);
  assert.equal(run.output.tail(200).trim(), "Password: \nlength 8");
});

test("nano edits a file", needs("nano"), async () => {
  const file = join(engine.folder, "by-nano.txt");
  const run = await engine.sh(`exec nano --ignorercfiles ${file}`, { tty });
  await shows(run, "New File");
  await type(run, "written in nano");
  await shows(run, "written in nano");
  await keys(run, "C-o");
  await shows(run, "File Name to Write");
  await keys(run, "Enter");
  await shows(run, "Wrote 1 line");
  await keys(run, "C-x");
  assert.equal((await run.ended).code, 0);
  assert.equal(readFileSync(file, "utf8"), "written in nano\n");
});

test("vim edits a file", needs("vim"), async () => {
  const file = join(engine.folder, "by-vim.txt");
  writeFileSync(file, "first\nsecond\n");
  const run = await engine.sh(`exec vim -N -u NONE -i NONE ${file}`, { tty });
  await shows(run, "second");
  await keys(run, "G", "o");
  await shows(run, "INSERT");
  await type(run, "third");
  await keys(run, "Escape");
  await type(run, ":wq\r");
  assert.equal((await run.ended).code, 0);
  assert.equal(readFileSync(file, "utf8"), "first\nsecond\nthird\n");
});

test("top quits with a key", needs("top"), async () => {
  const run = await engine.sh("exec top", { tty });
  await shows(run, /PID +USER/);
  await keys(run, "q");
  assert.equal((await run.ended).code, 0);
});

test("less pages", needs("less"), async () => {
  const file = join(engine.folder, "long.txt");
  writeFileSync(file, Array.from({ length: 200 }, (_, at) => `row ${at}.`).join("\n"));
  const run = await engine.sh(`exec less ${file}`, { tty });
  await shows(run, "row 0.");
  await keys(run, "Space");
  await shows(run, "row 40.");
  await keys(run, "G");
  await shows(run, "row 199.");
  assert.ok(!((await run.screen()) ?? "").includes("row 0."));
  await keys(run, "q");
  assert.equal((await run.ended).code, 0);
});

test("ends everything started in a terminal, and the screen stays readable", async () => {
  const run = await engine.sh("trap '' HUP TERM; setsid sleep 800 & echo drawn; while :; do sleep 801; done", { tty });
  await shows(run, "drawn");
  const exit = await run.end("killed");
  assert.deepEqual([exit.reason, exit.signal], ["killed", "SIGKILL"]);
  assert.equal(await run.screen(), "drawn");
  assert.equal(existsSync(`/proc/${run.pid}`), false);
});

test("keeps output that was not read yet when the program ended", async () => {
  const output = createOutput({ filePath: async () => join(engine.folder, "unread.out") });
  const append = output.append.bind(output);
  // Asks to stop and never to continue, as a slow disk does.
  output.append = (bytes) => append(bytes) && false;
  const lines = Array.from({ length: 3000 }, (_, at) => `${at + 1}\n`).join("");
  const parts = [shellPart("stty -echo; echo up; read -r x; seq 1 3000", engine.folder)];
  const run = await startTerminal({ parts, size: tty, output });
  await until(() => output.totalLines === 1);
  await run.write(Buffer.from("\r"));
  assert.deepEqual(await run.finished, { code: 0 });
  assert.equal(output.tail(200_000), `up\n${lines}`);
  await output.discard();
});

test("bounds the screen when the output is large", async () => {
  const run = await engine.sh("head -c 20000000 /dev/zero | tr '\\0' 'x'; printf '\\033[2J\\033[Hlast'", { tty });
  assert.equal((await run.ended).code, 0);
  assert.equal(await run.screen(), "last");
  assert.ok(run.output.totalChars >= 20_000_000);
});
