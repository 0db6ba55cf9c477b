// `openclaw security audit` and its line in the doctor, as a person runs them.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { chmodSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";

import { newCli, type Cli } from "../../harness/cli.ts";
import { root } from "../../harness/gateway.ts";

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
  readonly repairs: readonly { readonly does: string }[];
}

const noShell = process.platform === "win32" ? "the commands are for a POSIX shell" : false;
const clis: Cli[] = [];
after(() => clis.forEach((cli) => cli.dispose()));
const open = (text?: string): Cli => {
  const cli = newCli(text);
  clis.push(cli);
  return cli;
};
const report = (text: string): Report => JSON.parse(text) as Report;

test("an empty home: reports the missing sandbox, creates nothing, exit code 1", async () => {
  const cli = open();
  const { code, stdout, stderr } = await cli.run("security", "audit");
  assert.equal(code, 1, stderr);
  assert.match(stdout, /sandbox\.off[\s\S]*its commands run directly on this machine/);
  assert.match(stdout, /fix +openclaw config set agents\.defaults\.sandbox\.mode all/);
  assert.match(stdout, /findings?: /);
  assert.equal(statSync(cli.state, { throwIfNoEntry: false }), undefined);
});

test("a bad config: most severe first, with line and command; --json has the documented shape", async () => {
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

test("the printed commands fix their findings", async () => {
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

test("run in a shell as printed, they close an insecure setup and keep its secrets", { skip: noShell }, async () => {
  const token = "0f1e2d3c4b5a69788796a5b4c3d2e1f0";
  const cli = open(`{
  gateway: { mode: "local", auth: { token: "${token}" }, trustedProxies: ["0.0.0.0/0"], controlUi: { allowInsecureAuth: true } },
  tools: { elevated: { allowFrom: { webchat: ["*", "ada"] } }, exec: { pathPrepend: ["/tmp"] }, agentToAgent: { enabled: true } },
  agents: { list: [{ id: "main" }, { id: "other" }] },
  commands: { bash: true, config: true },
}`);
  const program = join(cli.home, "openclaw");
  writeFileSync(program, `#!/bin/sh\nexec '${process.execPath}' '${join(root, "openclaw.mjs")}' "$@"\n`, {
    mode: 0o755,
  });
  const env = { HOME: cli.home, PATH: `${cli.home}:${process.env["PATH"] ?? ""}`, NO_COLOR: "1" };
  const look = async (): Promise<Report> => report((await cli.run("security", "audit", "--json")).stdout);
  const before = (await look()).findings.filter(({ fix }) => /^(?:openclaw config|printf) /.test(fix));
  for (const { fix } of before) {
    const { status, stderr } = spawnSync("sh", ["-c", fix], { env, encoding: "utf8", cwd: cli.home });
    assert.equal(status, 0, `${fix}: ${stderr}`);
  }
  const after = (await look()).findings.map(({ id }) => id);
  const closed = ["exec.elevated-anyone", "exposure.insecure-auth", "exposure.trusted-proxies", "secrets.plain"];
  for (const id of [...closed, "tools.agents-see-all", "commands.bash", "commands.config"]) {
    assert.ok(
      before.some((finding) => finding.id === id),
      `${id} was not found`,
    );
    assert.ok(!after.includes(id), `${id} is still there`);
  }
  assert.ok(!after.includes("exposure.weak-secret") && !after.includes("files.others-read"));
  assert.equal((await cli.run("config", "get", "gateway.auth.token")).stdout.trim(), token);
  assert.doesNotMatch(cli.text(), new RegExp(token));
  assert.match(cli.text(), /"ada"/);
});

test("--fix makes files private and changes nothing else", async () => {
  const cli = open('{ gateway: { mode: "local", auth: { token: "abc" } } }');
  chmodSync(cli.config, 0o644);
  chmodSync(cli.state, 0o755);
  const text = cli.text();
  const { findings, repairs } = report((await cli.run("security", "audit", "--fix", "--json")).stdout);
  assert.equal(repairs.length, 2);
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

test("the doctor reports the number of findings in one line", async () => {
  const cli = open('{ gateway: { mode: "local", auth: { token: "abc" } } }');
  const { stdout } = await cli.run("doctor");
  assert.match(stdout, /Security +the audit has \d+ findings?: .*high/);
  assert.match(stdout, /openclaw security audit/);
});
