// Commands in the guard behave as on the host, and only the gateway's files are missing.
import assert from "node:assert/strict";
import { mkdirSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { after, before, describe, test } from "node:test";

import { noBubblewrap } from "../../test/harness/sandbox.ts";
import { packageRoot } from "../base/version.ts";
import { createGuard, rejectGatewayFolder } from "./guard.ts";
import { CANARY, openAttackFixture, type AttackFixture } from "./guard/attack.cases.ts";
import { env, livingWith, openTestEngine, until } from "./engine.cases.ts";
import type { PipelinePart, Running, RunOptions } from "./running.ts";

describe("a command in the guard", { skip: noBubblewrap }, () => {
  const engine = openTestEngine({ graceMs: 500 });
  const guard = createGuard();
  let fixture: AttackFixture;
  before(async () => {
    fixture = await openAttackFixture();
    assert.deepEqual(await guard.works(fixture.paths), { works: true });
  });
  after(async () => {
    await engine.close();
    guard.close();
    await fixture.close();
  });

  const part = async (line: string, cwd = fixture.workspace): Promise<PipelinePart> => ({
    launch: await guard.wrap({ argv: ["/bin/sh", "-c", line], cwd, env }, fixture.paths),
  });
  const start = async (line: string, options: Partial<RunOptions> = {}): Promise<Running> =>
    engine.start({ pipeline: [await part(line)], ...options });
  const outputOf = async (line: string): Promise<string> => {
    const running = await start(line);
    await running.ended;
    return running.output.tail(100_000);
  };

  test("runs as the same user in the folder it was given, with its own variables", async () => {
    const { uid, gid } = statSync(fixture.workspace);
    assert.equal(await outputOf("pwd; id -u; id -g; echo $LANG"), `${fixture.workspace}\n${uid}\n${gid}\nC.UTF-8\n`);
    await outputOf("echo x > made");
    const made = statSync(join(fixture.workspace, "made"));
    assert.deepEqual([made.uid, made.gid, made.size], [uid, gid, 2]);
  });

  test("reports the program's own exit code and signal", async () => {
    for (const [line, wanted] of [
      ["exit 0", { code: 0 }],
      ["exit 7", { code: 7 }],
      ["exit 137", { code: 137 }],
      ["kill -SEGV $$", { code: null, signal: "SIGSEGV" }],
    ] as const) {
      const { endedAt: _, ...exit } = await (await start(line)).ended;
      assert.deepEqual(exit, wanted, line);
    }
  });

  test("reads input, writes both streams by name, and passes bytes through a pipeline", async () => {
    const running = await start("echo out > /dev/stdout; echo err > /dev/stderr; cat /dev/stdin");
    await until(() => running.output.tail(100).includes("err"));
    await running.write(Buffer.from("in\n"));
    await until(() => running.output.tail(100).includes("in"));
    await running.closeInput();
    assert.equal((await running.ended).code, 0);
    assert.equal(running.output.tail(100), "out\nerr\nin\n");
    const piped = await engine.start({ pipeline: [await part("echo abc"), await part("tr a-z A-Z; exit 4")] });
    assert.equal((await piped.ended).code, 4);
    assert.equal(piped.output.tail(100), "ABC\n");
  });

  test("has a terminal whose keys reach the program alone", async () => {
    const running = await start("trap 'echo caught' INT; echo ready; read a; read a; echo got $a", {
      tty: { columns: 80, rows: 24 },
    });
    await until(() => running.output.tail(1000).includes("ready"));
    await running.write(Buffer.from("\u0003"));
    await until(() => running.output.tail(1000).includes("caught"));
    await running.write(Buffer.from("one\ntwo\n"));
    assert.equal((await running.ended).code, 0);
    assert.match(running.output.tail(1000), /got (?:one|two)/);
  });

  test("ends as a whole, with what it left in the background", async () => {
    const word = `sleep 98${process.pid % 1000}`;
    const running = await start(`setsid sh -c '${word}' & setsid ${word} & ${word}`);
    const isOne = ({ mark }: { readonly mark: string | undefined }): boolean =>
      mark !== undefined && mark.includes(`.${process.pid}.`);
    await until(async () => (await livingWith(isOne)).length >= 3);
    await running.end("killed");
    assert.deepEqual(await livingWith(isOne), []);
    const timed = await start("sleep 60", { timeoutMs: 300 });
    assert.equal((await timed.ended).reason, "timeout");
  });

  test("has no capability, cannot gain one, and inherits none of the gateway's open files", async () => {
    const facts = await outputOf("grep -E 'Cap(Prm|Eff|Amb)|NoNewPrivs' /proc/self/status; ls -l /proc/self/fd");
    assert.match(facts, /CapPrm:\t0+\nCapEff:\t0+\nCapAmb:\t0+\nNoNewPrivs:\t1\n/);
    assert.deepEqual(
      [...facts.matchAll(/ (\d+) -> (\S+)/g)].map(([, fd, to]) => [fd, to]).filter(([fd]) => Number(fd) > 2),
      [["3", facts.match(/\/proc\/\d+\/fd/)?.[0]]],
    );
  });

  test("cannot inspect the gateway process through /proc", async () => {
    const own = `/proc/${process.pid}`;
    const answer = await outputOf(
      `cat ${own}/environ; ls ${own}/root ${own}/cwd/ ${own}/fd; cat ${own}/maps; echo over`,
    );
    assert.doesNotMatch(answer, /PATH=|node|tmp\//);
    assert.match(answer, /over\n$/);
  });

  test("cannot write where the state folder would be, and finds nothing there", async () => {
    const answer = await outputOf("ls -A ..; echo x > ../exec-approvals.json; mkdir ../cron; echo $?");
    assert.match(answer, /^workspace\n/);
    assert.match(answer, /Read-only file system[\s\S]*\n1\n$/);
    assert.deepEqual(fixture.harm(answer), []);
  });

  test("sees neither a replaced state folder nor the old one", async () => {
    await outputOf("true");
    const aside = `${fixture.state}.aside`;
    renameSync(fixture.state, aside);
    mkdirSync(fixture.workspace, { recursive: true });
    writeFileSync(join(fixture.state, "openclaw.json"), CANARY);
    try {
      assert.doesNotMatch(await outputOf(`cat ../openclaw.json; echo x > ../exec-approvals.json`), new RegExp(CANARY));
    } finally {
      rmSync(fixture.state, { recursive: true });
      renameSync(aside, fixture.state);
    }
    assert.equal(await outputOf("cat evil.json >/dev/null && echo workspace"), "workspace\n");
    assert.deepEqual(fixture.harm(""), []);
  });

  test("cannot change the code that the gateway runs", async () => {
    const node = process.execPath;
    const lines = [node, dirname(node), packageRoot(), ...(process.getuid?.() === 0 ? ["/etc", "/usr/bin"] : [])];
    assert.equal(await outputOf(lines.map((path) => `test -w '${path}' && echo 'writable: ${path}'`).join("; ")), "");
  });

  test("rejects a hidden folder and a hidden program", async () => {
    const at = (cwd: string, program = "/bin/true") => guard.wrap({ argv: [program], cwd, env }, fixture.paths);
    await assert.rejects(at(fixture.state), { code: "exec.bad-folder" });
    await assert.rejects(at(join(fixture.workspace, "up")), { code: "exec.bad-folder" });
    await assert.rejects(at(join(fixture.home, "agents", "elsewhere")), { code: "exec.bad-folder" });
    await assert.rejects(at(fixture.workspace, join(fixture.state, "openclaw.json")), { code: "exec.hidden-program" });
  });

  test("rejects variables that would affect the programs that hide the files", async () => {
    const launch = { argv: ["/bin/true"], cwd: fixture.workspace, env: { ...env, LD_PRELOAD: "/tmp/x.so" } };
    await assert.rejects(guard.wrap(launch, fixture.paths), { code: "exec.rejected-variable" });
  });
});

test("rejects a working folder in the state folder but outside the workspace", () => {
  const paths = { state: "/srv/state", workspace: "/srv/state/workspace" };
  for (const path of ["/srv/state", "/srv/state/credentials", "/srv/state/workspace-b", "/srv/state/workspace/.."])
    assert.throws(() => rejectGatewayFolder(path, paths), { code: "exec.bad-folder" }, path);
  for (const path of ["/srv/state/workspace", "/srv/state/workspace/a", "/srv", "/srv/state2"])
    rejectGatewayFolder(path, paths);
  assert.throws(() => rejectGatewayFolder("/srv/state/logs", { state: "/srv/state", workspace: "/srv" }));
});

test("reports a system that cannot hide files", async () => {
  const paths = { home: "/h", state: "/h/s", configs: [], hidden: [], readOnly: [] };
  const answer = await createGuard("win32").works(paths);
  assert.deepEqual(answer, {
    works: false,
    reason: "hiding files from a command is not supported on win32",
    fix: "run the gateway on Linux (WSL 2 on Windows) with bubblewrap installed, or on macOS",
  });
});
