// Real programs in a terminal, driven through process alone.
import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";

import { exec, proc, until } from "../../harness/exec.ts";
import { dispose, startGateway, type TestGateway } from "../../harness/gateway.ts";
import { missingProgram } from "../../harness/program.ts";

describe("programs in a terminal", () => {
  let gateway: TestGateway;
  before(async () => {
    gateway = await startGateway({ config: {} });
    mkdirSync(gateway.workspace, { recursive: true });
  });
  after(() => dispose(gateway));

  const start = async (command: string): Promise<string> => {
    const { details, text } = await exec(gateway, { command, pty: true, background: true });
    assert.equal(details["status"], "running", text);
    return String(details["sessionId"]);
  };
  const screen = async (sessionId: string): Promise<string> =>
    (await proc(gateway, { action: "screen", sessionId })).text;
  const shows = (sessionId: string, what: RegExp): Promise<string> =>
    until(
      () => screen(sessionId),
      (text) => what.test(text),
    );
  const keys = (sessionId: string, ...names: string[]): Promise<unknown> =>
    proc(gateway, { action: "send-keys", sessionId, keys: names });
  const ended = (sessionId: string): Promise<unknown> =>
    until(
      () => proc(gateway, { action: "poll", sessionId }),
      ({ details }) => details["status"] !== "running",
    );

  test("pty: a real terminal of 120 by 30, xterm-256color", async () => {
    const { text } = await exec(gateway, { command: "tty; stty size; echo $TERM", pty: true });
    assert.match(text.replaceAll("\r", ""), /^\/dev\/pts\/\d+\n30 120\nxterm-256color/);
    const plain = await exec(gateway, { command: "tty" });
    assert.match(plain.text, /not a tty/);
  });

  test("answers cursor queries, so that programs do not wait forever", async () => {
    const { text } = await exec(gateway, {
      command: `stty raw -echo; printf '\\033[6n'; head -c 6 | od -An -c; stty sane`,
      pty: true,
      timeout: 120,
      yieldMs: 120_000,
    });
    assert.match(text, /033\s+\[\s+1\s+;\s+1\s+R/);
  });

  test("nano edits a file", { skip: missingProgram("nano") }, async () => {
    const file = join(gateway.workspace, "note.txt");
    writeFileSync(file, "old\n");
    const id = await start("nano note.txt");
    await shows(id, /GNU nano[\s\S]*old/);
    await proc(gateway, { action: "write", sessionId: id, data: "new " });
    await shows(id, /new old/);
    await keys(id, "C-o");
    await shows(id, /File Name to Write/);
    await keys(id, "Enter");
    await shows(id, /Wrote/);
    await keys(id, "C-x");
    await ended(id);
    assert.equal(readFileSync(file, "utf8"), "new old\n");
  });

  test("vim edits a file", { skip: missingProgram("vi", "vim-tiny") }, async () => {
    const file = join(gateway.workspace, "prose.txt");
    writeFileSync(file, "line\n");
    const id = await start("vi prose.txt");
    await shows(id, /line[\s\S]*~/);
    await keys(id, "o");
    await proc(gateway, { action: "write", sessionId: id, data: "second" });
    await shows(id, /second/);
    await keys(id, "Escape");
    await proc(gateway, { action: "submit", sessionId: id, data: ":wq" });
    await ended(id);
    assert.equal(readFileSync(file, "utf8"), "line\nsecond\n");
  });

  test("top shows processes and quits with q", { skip: missingProgram("top", "procps") }, async () => {
    const id = await start("top");
    await shows(id, /PID\s+USER/);
    await keys(id, "q");
    const { details } = (await ended(id)) as Awaited<ReturnType<typeof proc>>;
    assert.deepEqual([details["status"], details["exitCode"]], ["completed", 0]);
  });

  test("less pages down and back", { skip: missingProgram("less") }, async () => {
    writeFileSync(
      join(gateway.workspace, "long.txt"),
      Array.from({ length: 200 }, (_, at) => `row ${at + 1}`).join("\n"),
    );
    const id = await start("less long.txt");
    await shows(id, /^row 1$/m);
    await keys(id, "Space");
    await shows(id, /^row 31$/m);
    await keys(id, "g");
    await shows(id, /^row 1$/m);
    await keys(id, "q");
    await ended(id);
  });

  test("a password prompt is answered and its answer is not shown", async () => {
    const id = await start(
      `sh -c 'stty -echo; printf "Password: "; read x; stty echo; echo; [ "$x" = "open sesame" ] && touch opened'`,
    );
    await shows(id, /Password:/);
    await proc(gateway, { action: "submit", sessionId: id, data: "open sesame" });
    await ended(id);
    assert.equal(existsSync(join(gateway.workspace, "opened")), true);
    assert.doesNotMatch((await proc(gateway, { action: "log", sessionId: id })).text, /open sesame/);
  });

  test("send-keys C-c ends cat; Up recalls the last line of a shell; paste is bracketed; submit is CR", async () => {
    const cat = await start("cat");
    // A shell that is starting a program can lose the signal of C-c, so the program must have answered.
    await proc(gateway, { action: "submit", sessionId: cat, data: "up" });
    await shows(cat, /^up\nup$/m);
    await keys(cat, "C-c");
    await ended(cat);
    const shell = await start("PS1='> ' bash --norc --noprofile");
    await shows(shell, />/);
    await proc(gateway, { action: "submit", sessionId: shell, data: "echo first-$((1+1))" });
    await shows(shell, /first-2/);
    await keys(shell, "Up", "Enter");
    await until(
      () => screen(shell),
      (text) => text.split("\nfirst-2").length >= 3,
    );
    await proc(gateway, { action: "kill", sessionId: shell });
    const raw = await start("stty raw -echo; echo ready; head -c 22 | od -An -c; stty sane");
    await shows(raw, /ready/);
    await proc(gateway, { action: "paste", sessionId: raw, text: "line1\nli" });
    await proc(gateway, { action: "submit", sessionId: raw });
    await proc(gateway, { action: "write", sessionId: raw, data: "x" });
    await ended(raw);
    const { text } = await proc(gateway, { action: "log", sessionId: raw });
    assert.match(text.replaceAll(/\s+/g, " "), /033 \[ 2 0 0 ~ l i n e 1/);
  });

  test("log pages by lines: the last ones, a window, from an offset on", async () => {
    const { details } = await exec(gateway, { command: "seq 1 5", background: true });
    const id = String(details["sessionId"]);
    await ended(id);
    const lines = async (more: object): Promise<string[]> => {
      const { text } = await proc(gateway, { action: "log", sessionId: id, ...more });
      return text.split("\n").filter((line) => /^\d+$/.test(line));
    };
    assert.deepEqual(await lines({ limit: 2 }), ["4", "5"]);
    assert.deepEqual(await lines({ offset: 1, limit: 2 }), ["2", "3"]);
    assert.deepEqual(await lines({ offset: 3 }), ["4", "5"]);
    assert.deepEqual(await lines({}), ["1", "2", "3", "4", "5"]);
  });

  test("write with eof; clear rejects a running command; remove ends it", async () => {
    const { details } = await exec(gateway, { command: "cat; echo after", background: true });
    const id = String(details["sessionId"]);
    assert.match((await proc(gateway, { action: "clear", sessionId: id })).text, /running/i);
    await proc(gateway, { action: "write", sessionId: id, data: "typed\n", eof: true });
    await ended(id);
    assert.match((await proc(gateway, { action: "log", sessionId: id })).text, /typed\nafter/);
    await proc(gateway, { action: "clear", sessionId: id });
    assert.match((await proc(gateway, { action: "poll", sessionId: id })).text, /no |not found|unknown/i);
    const second = await exec(gateway, { command: "sleep 60", background: true });
    await proc(gateway, { action: "remove", sessionId: second.details["sessionId"] });
    const { details: listed } = await proc(gateway, { action: "list" });
    assert.ok(!JSON.stringify(listed).includes(String(second.details["sessionId"])));
  });
});
