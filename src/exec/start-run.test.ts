// The engine with real processes: streams, pipelines, failures to start, input, time limits.
import assert from "node:assert/strict";
import { existsSync, mkdirSync, readdirSync, readFileSync, readlinkSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";

import { env, openTestEngine, rounds, shellPart, sleep, until } from "./engine.cases.ts";

const engine = openTestEngine({ graceMs: 300 });
after(() => engine.close());

test("merges output and errors in the order they were written", async () => {
  const run = await engine.sh("echo a; echo b >&2; echo c; echo d >&2; exit 3");
  const { endedAt, ...exit } = await run.ended;
  assert.deepEqual(exit, { code: 3 });
  assert.ok(endedAt >= run.startedAt);
  assert.equal(run.output.tail(100), "a\nb\nc\nd\n");
  assert.deepEqual([run.output.totalLines, run.output.totalChars], [4, 8]);
});

test("captures errors separately on request, for every part of a pipeline", async () => {
  const run = await engine.start({
    pipeline: [shellPart("echo a; echo b >&2", engine.folder), shellPart("cat; echo c >&2; exit 2", engine.folder)],
    errorsApart: true,
  });
  assert.equal((await run.ended).code, 2);
  assert.equal(run.output.tail(100), "a\n");
  assert.deepEqual(run.errors?.tail(100).split("\n").toSorted(), ["", "b", "c"]);
  await assert.rejects(
    engine.start({ pipeline: [{ launch: { argv: ["/nowhere/x"], cwd: "/", env } }], errorsApart: true }),
    { code: "exec.not-found" },
  );
});

test("lets programs open /dev/stdout, /dev/stderr and /dev/stdin by name", async () => {
  const run = await engine.sh("echo out > /dev/stdout; echo err > /dev/stderr; cat /dev/stdin");
  await until(() => run.output.tail(100).includes("err"));
  await run.write(Buffer.from("in\n"));
  await until(() => run.output.tail(100).includes("in"));
  await run.closeInput();
  assert.equal((await run.ended).code, 0);
  assert.equal(run.output.tail(100), "out\nerr\nin\n");
});

test("passes bytes through a pipeline; each part decides where its errors go", async () => {
  const part = (line: string) => shellPart(line, engine.folder);
  const run = await engine.start({
    pipeline: [
      { ...part("echo one; echo joined >&2"), errors: "joined" },
      { ...part("cat; echo dropped >&2"), errors: "dropped" },
      part("tr a-z A-Z; echo shown >&2; exit 4"),
    ],
  });
  assert.equal((await run.ended).code, 4);
  assert.equal(run.output.tail(100), "ONE\nJOINED\nshown\n");
  const silent = await engine.start({ pipeline: [{ ...part("echo x"), output: "dropped" }, part("wc -c")] });
  await silent.ended;
  assert.equal(silent.output.tail(10).trim(), "0");
});

test("ends a writer when its reader ends, as in a shell", async () => {
  const run = await engine.start({
    pipeline: [{ launch: { argv: ["yes"], cwd: "/", env } }, { launch: { argv: ["head", "-n", "2"], cwd: "/", env } }],
  });
  assert.equal((await run.ended).code, 0);
  assert.equal(run.output.tail(10), "y\ny\n");
});

test("starts with empty input or closes it later; writing then fails", async () => {
  const none = await engine.start({ pipeline: [{ ...shellPart("wc -c; sleep 0.3", engine.folder), input: "empty" }] });
  await assert.rejects(none.write(Buffer.from("x")), { code: "exec.input-closed" });
  await none.ended;
  assert.equal(none.output.tail(10).trim(), "0");
  const slot = await engine.sh("cat");
  await slot.write(Buffer.from("abc"));
  await slot.closeInput();
  await slot.ended;
  assert.equal(slot.output.tail(10), "abc");
  await assert.rejects(slot.write(Buffer.from("x")), { code: "exec.input-closed" });
});

test("F19: survives a child that closes its input at any moment", async () => {
  for (let round = 0; round < rounds(30); round += 1) {
    const run = await engine.sh(round % 2 === 0 ? "exec 0<&-; sleep 0.05" : "head -c 1 >/dev/null");
    const results = await Promise.allSettled(Array.from({ length: 5 }, () => run.write(Buffer.alloc(100_000, 97))));
    for (const result of results) {
      if (result.status === "rejected") assert.equal((result.reason as { code: string }).code, "exec.input-closed");
    }
    await run.ended;
  }
});

test("reports why a command cannot start, and leaves no open file", async () => {
  const argv = (...words: string[]) => ({ pipeline: [{ launch: { argv: words, cwd: engine.folder, env } }] });
  const text = join(engine.folder, "text");
  writeFileSync(text, "hello");
  const script = join(engine.folder, "script");
  writeFileSync(script, "#!/no/such/interpreter\n", { mode: 0o755 });
  const open = (): number => readdirSync("/proc/self/fd").length;
  await (
    await engine.sh("true")
  ).ended;
  const before = open();
  let released = 0;
  const launch = { argv: ["/no/such"], cwd: engine.folder, env, release: () => void (released += 1) };
  await assert.rejects(engine.start({ pipeline: [{ launch }] }), { code: "exec.not-found" });
  await assert.rejects(engine.start(argv("no-such-program-here")), { code: "exec.not-found" });
  await assert.rejects(engine.start(argv(script)), { code: "exec.not-found" });
  await assert.rejects(engine.start(argv(text)), { code: "exec.not-executable" });
  await assert.rejects(engine.start(argv("/bin/echo", "x".repeat(3_000_000))), { code: "exec.start-failed" });
  await assert.rejects(engine.start({ pipeline: [shellPart("true", "/no/such/folder")] }), { code: "exec.bad-folder" });
  await assert.rejects(engine.start({ pipeline: [shellPart("sleep 60", engine.folder), { launch }] }), {
    code: "exec.not-found",
  });
  assert.equal(released, 2);
  await until(() => open() <= before);
});

test("a time limit covers the whole life and ends the whole tree", async () => {
  const run = await engine.sh("sleep 61 & sleep 62", { timeoutMs: 100 });
  const exit = await run.ended;
  assert.equal(exit.reason, "timeout");
  assert.equal(exit.signal ?? exit.code, "SIGTERM");
});

test("F12: a command that ignores TERM is gone before its end is reported", async () => {
  for (let round = 0; round < rounds(3); round += 1) {
    const file = join(engine.folder, `late-${round}`);
    const run = await engine.sh(`trap '' TERM; echo ready; sleep 5; echo late > ${file}`);
    await until(() => run.output.totalLines > 0);
    const exit = await run.end("aborted");
    assert.deepEqual([exit.reason, exit.signal], ["aborted", "SIGKILL"]);
    await sleep(round === 0 ? 5500 : 0);
    assert.equal(existsSync(file), false);
  }
});

test("waits for processes that hold the output, not for daemons that closed it", async () => {
  const held = await engine.sh("sleep 30 & echo started");
  await until(() => held.output.totalLines > 0);
  assert.equal(await Promise.race([held.ended, sleep(100).then(() => "running")]), "running");
  await held.end("killed");
  const free = await engine.sh("sleep 30 >/dev/null 2>&1 & echo $!");
  assert.equal((await free.ended).code, 0);
  const pid = Number(free.output.tail(20));
  assert.ok(existsSync(`/proc/${pid}`));
  const exit = await free.end("killed");
  assert.deepEqual([exit.code, exit.reason], [0, undefined]);
  assert.equal(existsSync(`/proc/${pid}`) && !readFileSync(`/proc/${pid}/stat`, "latin1").includes(") Z"), false);
});

test("passes open files as 3, 4, …, over pipes and in a terminal", async () => {
  const file = join(engine.folder, "passed");
  writeFileSync(file, "from a file\n");
  for (const tty of [undefined, { columns: 80, rows: 24 }]) {
    const { openSync, closeSync } = await import("node:fs");
    const fd = openSync(file, "r");
    const launch = { ...shellPart("cat <&3", engine.folder).launch, fds: [fd], release: () => closeSync(fd) };
    const run = await engine.start({ pipeline: [{ launch }], ...(tty === undefined ? {} : { tty }) });
    await run.ended;
    assert.equal(run.output.tail(100), "from a file\n");
  }
});

test("uses a private folder that is empty for small outputs and removed at the end", async () => {
  const own = openTestEngine();
  const namespace = /\d+/.exec(readlinkSync("/proc/self/ns/pid"))?.[0] ?? "";
  mkdirSync(join(own.folder, "runs", `${namespace}.1.1.aaaaaaaaaaaa`), { recursive: true });
  await (
    await own.sh("echo hi")
  ).ended;
  const place = join(own.folder, "runs", readdirSync(join(own.folder, "runs"))[0] ?? "");
  assert.equal(statSync(place).mode & 0o777, 0o700);
  assert.deepEqual(readdirSync(place), ["pipes"]);
  await own.close();
  assert.equal(existsSync(place), false);
  await assert.rejects(own.sh("true"), { code: "exec.closed" });
});
