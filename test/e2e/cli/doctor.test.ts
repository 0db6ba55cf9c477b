// `openclaw doctor`: what it finds, what it fixes, and that it changes nothing else.
import assert from "node:assert/strict";
import { chmodSync, statSync } from "node:fs";
import { createServer } from "node:net";
import { test } from "node:test";

import { newCli, wellEnded, type Cli } from "../../harness/cli.ts";

interface Finding {
  readonly check: string;
  readonly level: string;
  readonly message: string;
  readonly hint?: string;
  readonly repairable: boolean;
}

async function findings(
  cli: Cli,
  ...words: string[]
): Promise<{ code: number | null; findings: Finding[]; repairs: { does: string; failed?: string }[] }> {
  const { code, stdout } = await cli.run("doctor", "--json", ...words);
  return { code, ...(JSON.parse(stdout) as { findings: Finding[]; repairs: { does: string }[] }) };
}

const of = (all: readonly Finding[], check: string): Finding[] => all.filter((finding) => finding.check === check);

test("an empty home has no problems", async () => {
  const cli = newCli();
  const { code, findings: all } = await findings(cli);
  assert.equal(code, 0);
  assert.deepEqual(
    all.filter(({ level }) => level === "fail"),
    [],
  );
  assert.match(of(all, "Config")[0]?.hint ?? "", /gateway run --setup/);
  cli.dispose();
});

test("names keys of parts that are not built, without failing", async () => {
  const cli = newCli(
    '{ gateway: { mode: "local", tls: { enabled: true } }, session: { store: "/old/sessions.json" } }',
  );
  const { findings: all } = await findings(cli);
  const note = of(all, "Config").find(({ level }) => level === "note");
  assert.match(note?.message ?? "", /not built yet: gateway\.tls, session\.store$/);
  cli.dispose();
});

test("a healthy config: every check passes", async () => {
  const cli = newCli(
    '{ gateway: { mode: "local", auth: { token: "0f3a9b1c7d5e2846a0b9c8d7" } }, tools: { fs: { workspaceOnly: true } } }',
  );
  const { code, findings: all } = await findings(cli);
  assert.equal(code, 0);
  for (const check of ["Node", "State folder", "File modes", "Config", "Tool lists", "Secret", "Exposure"]) {
    assert.deepEqual(
      of(all, check).map(({ level }) => level),
      ["ok"],
      check,
    );
  }
  assert.match(
    of(all, "Sandbox")[0]?.message ?? "",
    /^off for main: their tools run directly on this machine with your permissions; commands of main run without approval$/,
  );
  assert.equal(of(all, "Sandbox")[0]?.hint, "openclaw config set agents.defaults.sandbox.mode all");
  assert.match(wellEnded(await cli.run("doctor")), /No problems found\.\n$/);
  cli.dispose();
});

test("reports open file modes and repairs them only with --fix", async () => {
  const cli = newCli("{}");
  chmodSync(cli.state, 0o755);
  chmodSync(cli.config, 0o644);
  const looked = await findings(cli);
  assert.deepEqual(
    of(looked.findings, "File modes").map(({ level, hint }) => [level, hint]),
    [
      ["warn", `chmod 700 ${cli.state}`],
      ["warn", `chmod 600 ${cli.config}`],
    ],
  );
  assert.equal(statSync(cli.config).mode & 0o777, 0o644);
  const repaired = await findings(cli, "--fix");
  assert.deepEqual(repaired.repairs.slice(0, 2), [
    { does: "set mode 700 on ~/.openclaw" },
    { does: "set mode 600 on ~/.openclaw/openclaw.json" },
  ]);
  assert.deepEqual([statSync(cli.state).mode & 0o777, statSync(cli.config).mode & 0o777], [0o700, 0o600]);
  cli.dispose();
});

test("finds a weak token, an open bind and unknown names, each with its fix", async () => {
  const cli = newCli(
    '{ gateway: { bind: "lan", auth: { token: "changeme" }, controlUi: { dangerouslyDisableDeviceAuth: true } }, tools: { deny: ["exce"] } }',
  );
  const { code, findings: all } = await findings(cli);
  assert.equal(code, 1);
  assert.match(of(all, "Secret")[0]?.message ?? "", /can be guessed/);
  assert.deepEqual(
    of(all, "Exposure").map(({ level }) => level),
    ["note", "fail"],
  );
  const [list] = of(all, "Tool lists");
  assert.match(
    list?.message ?? "",
    /^~\/\.openclaw\/openclaw\.json:1 {2}tools\.deny\[0\]: .*"exce", did you mean exec\?/,
  );
  assert.equal(list?.hint, "openclaw config set 'tools.deny[0]' exec");
  cli.dispose();
});

test("reports a bind to the network without a secret as broken", async () => {
  const cli = newCli('{ gateway: { bind: "lan" } }');
  const { code, findings: all } = await findings(cli);
  assert.deepEqual([code, of(all, "Exposure").map(({ level }) => level)], [1, ["fail"]]);
  cli.dispose();
});

test("--fix moves older keys, removes unknown ones, creates a token, keeps comments", async () => {
  const cli = newCli('{\n  // mine\n  gateway: { mode: "local", prot: 1 },\n  agent: { workspace: "~/w" },\n}\n');
  const { code, repairs } = await findings(cli, "--fix");
  assert.deepEqual(
    [code, repairs.map(({ does, failed }) => failed ?? does)],
    [
      0,
      [
        "move agent.workspace to the new keys",
        "remove the unknown key gateway.prot (the old file is kept as .bak)",
        "write a random gateway.auth.token",
      ],
    ],
  );
  assert.match(cli.text(), /\/\/ mine/);
  assert.equal(wellEnded(await cli.run("config", "get", "agents.defaults.workspace")), "~/w\n");
  assert.match(wellEnded(await cli.run("config", "get", "gateway.auth.token")), /^[0-9a-f]{48}\n$/);
  assert.deepEqual((await findings(cli, "--fix")).repairs, []);
  cli.dispose();
});

test("reports a port that another program uses", async () => {
  const server = createServer((socket) => socket.on("error", () => undefined).end("not a gateway\r\n")).listen(
    0,
    "127.0.0.1",
  );
  await new Promise((resolve) => server.once("listening", resolve));
  const { port } = server.address() as { port: number };
  const cli = newCli(JSON.stringify({ gateway: { port } }));
  const { findings: all } = await findings(cli);
  assert.match(
    of(all, "Gateway")[0]?.message ?? "",
    /is in use by a process that is not the gateway of this state folder/,
  );
  const status = await cli.run("gateway", "status");
  assert.equal(status.code, 1);
  server.close();
  cli.dispose();
});

test(
  "reports a state folder that cannot be written",
  { skip: process.getuid?.() === 0 ? "root may write everywhere" : false },
  async () => {
    const cli = newCli("{}");
    chmodSync(cli.state, 0o500);
    const { code, findings: all } = await findings(cli);
    assert.deepEqual([code, of(all, "State folder")[0]?.hint], [1, `chmod u+rwx ${cli.state}`]);
    chmodSync(cli.state, 0o700);
    cli.dispose();
  },
);

test("checks the store", async () => {
  const cli = newCli("{}");
  wellEnded(await cli.run("tools", "call", "agents_list"));
  assert.match(of((await findings(cli)).findings, "Store")[0]?.message ?? "", /is intact$/);
  cli.dispose();
});
