// `openclaw security audit` and its line in the doctor, as a person runs them.
import assert from "node:assert/strict";
import { chmodSync, statSync } from "node:fs";
import { after, test } from "node:test";

import { newCli, type Cli } from "../cli-kit.ts";

interface Report {
  readonly ok: boolean;
  readonly counts: Readonly<Record<string, number>>;
  readonly findings: readonly {
    readonly id: string;
    readonly weight: string;
    readonly where: { readonly path?: string; readonly line?: number };
    readonly fix: string;
    readonly repairable: boolean;
  }[];
  readonly mended: readonly { readonly does: string }[];
}

const clis: Cli[] = [];
after(() => clis.forEach((cli) => cli.dispose()));
const open = (text?: string): Cli => {
  const cli = newCli(text);
  clis.push(cli);
  return cli;
};
const report = (text: string): Report => JSON.parse(text) as Report;

test("an empty home: the missing sandbox is said plainly, nothing is made, the exit code is 1", async () => {
  const cli = open();
  const { code, stdout, stderr } = await cli.run("security", "audit");
  assert.equal(code, 1, stderr);
  assert.match(stdout, /sandbox\.off[\s\S]*its commands run on this machine itself/);
  assert.match(stdout, /fix +openclaw config set agents\.defaults\.sandbox\.mode all/);
  assert.match(stdout, /findings?: /);
  assert.equal(statSync(cli.state, { throwIfNoEntry: false }), undefined);
});

test("a bad config: heaviest first, with line and command; --json has the documented shape", async () => {
  const cli = open(
    '{\n  gateway: { mode: "local", bind: "lan", auth: { token: "abc" } },\n  tools: { exec: { host: "gateway", security: "full", ask: "off" } },\n}\n',
  );
  const { code, stdout } = await cli.run("security", "audit", "--json");
  assert.equal(code, 1);
  const { ok, counts, findings } = report(stdout);
  assert.equal(ok, false);
  assert.deepEqual(Object.keys(counts), ["critical", "high", "medium", "low", "info"]);
  assert.equal(findings[0]?.weight, "critical");
  const exec = findings.find(({ id }) => id === "exec.no-questions");
  assert.deepEqual(
    { path: exec?.where.path, line: exec?.where.line, fix: exec?.fix },
    { path: "tools.exec.security", line: 3, fix: "openclaw config set tools.exec.security allowlist" },
  );
  assert.ok(findings.some(({ id }) => id === "exposure.weak-secret"));
  assert.doesNotMatch(stdout, /"token": "abc"/);
});

test("the commands it prints mend what they belong to", async () => {
  const cli = open(
    '{ gateway: { mode: "local", auth: { token: "abc" } }, tools: { fs: { workspaceOnly: false }, exec: { host: "gateway", security: "full" } } }',
  );
  const before = report((await cli.run("security", "audit", "--json")).stdout);
  for (const { fix } of before.findings.filter(({ fix }) => /^openclaw config (?:set|unset) \S+( \w+)?$/.test(fix))) {
    const done = await cli.run(...fix.split(" ").slice(1));
    assert.equal(done.code, 0, `${fix}: ${done.stderr}`);
  }
  const ids = report((await cli.run("security", "audit", "--json")).stdout).findings.map(({ id }) => id);
  for (const id of ["exec.full", "tools.whole-disk", "sandbox.off"]) {
    assert.ok(
      before.findings.some((finding) => finding.id === id),
      id,
    );
    assert.ok(!ids.includes(id), id);
  }
});

test("--fix makes private files private and nothing else", async () => {
  const cli = open('{ gateway: { mode: "local", auth: { token: "abc" } } }');
  chmodSync(cli.config, 0o644);
  chmodSync(cli.state, 0o755);
  const text = cli.text();
  const { findings, mended } = report((await cli.run("security", "audit", "--fix", "--json")).stdout);
  assert.equal(mended.length, 2);
  assert.deepEqual(
    findings.filter(({ repairable }) => repairable),
    [],
  );
  assert.deepEqual([statSync(cli.config).mode & 0o777, statSync(cli.state).mode & 0o777], [0o600, 0o700]);
  assert.equal(cli.text(), text);
});

test("a config that cannot be read is a finding, not a crash", async () => {
  const cli = open("{ nope");
  const { code, stdout } = await cli.run("security", "audit");
  assert.equal(code, 1);
  assert.match(stdout, /config\.invalid/);
});

test("the doctor says in one line how many findings there are", async () => {
  const cli = open('{ gateway: { mode: "local", auth: { token: "abc" } } }');
  const { stdout } = await cli.run("doctor");
  assert.match(stdout, /Security +the audit has \d+ findings?: .*high/);
  assert.match(stdout, /openclaw security audit/);
});
