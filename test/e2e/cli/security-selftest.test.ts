// `openclaw security selftest` as a person runs it: an open setup scores badly and says which key does it, a kept one well.
import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";

import { systemClock } from "../../../src/base/clock.ts";
import type { Log } from "../../../src/base/log.ts";
import { sandboxWorks } from "../../../src/exec/sandbox/detect.ts";
import { newCli, type Cli } from "../../harness/cli.ts";

interface Report {
  readonly ok: boolean;
  readonly sandboxed: boolean;
  readonly cases: number;
  readonly score: number;
  readonly areas: readonly { readonly area: string; readonly score: number }[];
  readonly holes: readonly {
    readonly id: string;
    readonly area: string;
    readonly because?: string;
    readonly fix: string;
  }[];
  readonly controls: { readonly cases: number; readonly working: number; readonly broken: readonly { id: string }[] };
  readonly notes: readonly string[];
}

const clis: Cli[] = [];
after(() => clis.forEach((cli) => cli.dispose()));
const open = (text?: string): Cli => {
  const cli = newCli(text);
  clis.push(cli);
  return cli;
};
async function attack(
  config: string | undefined,
  ...words: readonly string[]
): Promise<Report & { code: number | null }> {
  const { code, stdout, stderr } = await open(config).run("security", "selftest", "--json", ...words);
  assert.ok(stdout.startsWith("{"), `${stdout}\n${stderr}`);
  return { ...(JSON.parse(stdout) as Report), code };
}
const holesBy = (report: Report): string[] => [...new Set(report.holes.map(({ because }) => because ?? "ours"))];
const scores = (report: Report, prefix: string): number[] =>
  report.areas.filter(({ area }) => area.startsWith(prefix)).map(({ score }) => score);

const quiet: Log = { error() {}, warn() {}, info() {}, debug() {}, child: () => quiet };
const trial = await sandboxWorks(
  { folder: join(tmpdir(), `openclaw-trial-${process.pid}`), env: process.env, log: quiet, clock: systemClock },
  "bubblewrap",
);
const noBubblewrap: string | false =
  "backend" in trial ? false : `needs bubblewrap (${trial.reason}): apt-get install bubblewrap`;

describe("commands", () => {
  test("host=gateway with security=full scores badly, and the key is named", async () => {
    const report = await attack(
      '{ tools: { fs: { workspaceOnly: true }, exec: { host: "gateway", security: "full", ask: "off" } } }',
      "--area",
      "exec",
    );
    assert.equal(report.code, 1);
    for (const score of scores(report, "exec-shell")) assert.ok(score < 40, String(score));
    for (const score of scores(report, "exec-wrappers")) assert.ok(score < 60, String(score));
    assert.deepEqual(holesBy(report), ["tools.exec.security is full, so every command runs on the gateway"]);
    assert.deepEqual(
      [...new Set(report.holes.map(({ fix }) => fix))],
      ["openclaw config set tools.exec.security allowlist"],
    );
    // Whatever the config says, variables that load other code are refused.
    assert.ok(
      !report.holes.some(({ area }) => area === "exec-env"),
      JSON.stringify(report.holes.filter(({ area }) => area === "exec-env")),
    );
  });

  test("without a sandbox commands run on the machine, and that key is named", async () => {
    const report = await attack(
      "{ tools: { fs: { workspaceOnly: true } } }",
      "--area",
      "exec-shell",
      "--area",
      "sandbox",
    );
    assert.ok(scores(report, "exec-shell").every((score) => score < 40));
    assert.ok(holesBy(report).some((because) => because.startsWith("agents.defaults.sandbox.mode is off")));
    assert.ok(report.holes.some(({ fix }) => fix === "openclaw config set agents.defaults.sandbox.mode all"));
  });

  test("the printed command closes the holes", async () => {
    const cli = open(
      '{ tools: { fs: { workspaceOnly: true }, exec: { host: "gateway", security: "full", ask: "off" } } }',
    );
    const before = JSON.parse(
      (await cli.run("security", "selftest", "--json", "--area", "exec-shell")).stdout,
    ) as Report;
    await cli.run(...(before.holes[0]?.fix ?? "").split(" ").slice(1));
    const after = JSON.parse(
      (await cli.run("security", "selftest", "--json", "--area", "exec-shell")).stdout,
    ) as Report;
    assert.deepEqual([after.holes, after.score], [[], 100]);
  });

  test("the allowlist with approvals passes every case, and allowed programs and filters work", async () => {
    const report = await attack('{ tools: { fs: { workspaceOnly: true }, exec: { host: "gateway" } } }');
    assert.deepEqual(report.holes, []);
    assert.deepEqual(report.controls.broken, []);
    assert.equal(report.code, 0);
    assert.ok(report.cases >= 150);
  });

  test("a sandbox passes every case, and everyday use works inside it", { skip: noBubblewrap }, async () => {
    const report = await attack('{ agents: { defaults: { sandbox: { mode: "all", workspaceAccess: "rw" } } } }');
    assert.equal(report.sandboxed, true);
    assert.deepEqual(report.holes, []);
    assert.deepEqual(report.controls.broken, []);
  });

  test("denying exec passes every case of it", async () => {
    const report = await attack(
      '{ tools: { deny: ["exec"] } }',
      "--area",
      "exec",
      "--area",
      "approvals",
      "--area",
      "process",
    );
    assert.deepEqual(report.holes, []);
    assert.ok(report.areas.every(({ score }) => score === 100));
    assert.ok(report.notes.some((note) => /exec was not tested/.test(note)));
  });
});

test("prints a score per area, the holes by cause, and sets the exit code", async () => {
  const cli = open("{ tools: { fs: { workspaceOnly: false } } }");
  const { code, stdout } = await cli.run("security", "selftest", "--area", "fs", "--area", "policy");
  assert.equal(code, 1);
  assert.match(stdout, /^ +fs +\d+\/100 +\d+ of \d+ blocked$/m);
  assert.match(stdout, /^ +policy +100\/100/m);
  assert.match(stdout, /because tools\.fs\.workspaceOnly is false/);
  assert.match(stdout, /fix: openclaw config set tools\.fs\.workspaceOnly true/);
  assert.match(stdout, /Everyday use: \d+ of \d+ work/);
  assert.deepEqual(readdirSync(cli.state), ["openclaw.json"]);
});

test("tests an empty home too and creates nothing in it", async () => {
  const cli = open();
  const { code, stdout } = await cli.run("security", "selftest", "--area", "policy");
  assert.equal(code, 0, stdout);
  assert.deepEqual(
    readdirSync(cli.home).filter((name) => name.startsWith(".openclaw")),
    [],
  );
});

test("an unknown area is a usage error; a broken config is named", async () => {
  const wrong = await open("{}").run("security", "selftest", "--area", "nope");
  assert.equal(wrong.code, 2);
  assert.match(wrong.stderr, /areas: exec-shell/);
  const broken = await open("{ nope").run("security", "selftest");
  assert.equal(broken.code, 1);
});
