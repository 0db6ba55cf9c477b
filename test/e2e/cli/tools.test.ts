// `openclaw tools …` without a gateway: what an agent may use, why, and calls made in this process under the state lock.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, existsSync, openSync, readFileSync, rmSync, statSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { newCli, wellEnded } from "../../harness/cli.ts";
import { root } from "../../harness/gateway.ts";

const config = `{
  agents: {
    list: [
      { id: "main", default: true },
      {
        id: "support",
        tools: {
          profile: "messaging",
          byProvider: { "openai/gpt-5.2": { deny: ["message"] } },
        },
      },
    ],
  },
  tools: {
    deny: ["browser"],
  },
}
`;

test("explain prints every layer, the deciding rule with file and line, and the smallest edit", async () => {
  const cli = newCli(config);
  const text = wellEnded(await cli.run("tools", "explain", "exec", "--agent", "support", "--model", "openai/gpt-5.2"));
  assert.match(text, /^exec: blocked\n {2}for agent support, session agent:support:main, model openai\/gpt-5\.2\n/);
  assert.match(text, /Decided by profile: profile messaging does not include it .*~\/\.openclaw\/openclaw\.json:8/s);
  for (const layer of [
    "known",
    "opt-in",
    "1  profile",
    "2  provider profile",
    "3  global lists",
    "4  provider lists",
    "5  agent lists",
    "6  agent provider",
    "7  group",
    "8  sandbox",
    "9  subagent",
  ]) {
    assert.ok(text.includes(`  ${layer}`), layer);
  }
  assert.match(
    text,
    /Smallest edit: To allow it, .*\n.*openclaw config set 'agents\.list\[1\]\.tools\.alsoAllow' '\["exec"\]'/s,
  );
  cli.dispose();
});

test("explain exec names where a command would run, under which rules, and the keys", async () => {
  const cli = newCli("{}");
  const open = wellEnded(await cli.run("tools", "explain", "exec"));
  assert.match(open, /^A call runs: on the gateway host itself, without approvals, because the sandbox is off$/m);
  assert.match(open, /^ {2}- sandbox mode off \(agents\.defaults\.sandbox\.mode/m);
  assert.match(open, /^ {2}To change that: openclaw config set agents\.defaults\.sandbox\.mode all$/m);
  wellEnded(await cli.run("config", "set", "agents.defaults.sandbox.mode", "all"));
  assert.match(wellEnded(await cli.run("tools", "explain", "exec")), /^A call runs: in the sandbox \(backend auto\)/m);
  wellEnded(await cli.run("config", "set", "tools.exec.host", "gateway"));
  const asked = JSON.parse(wellEnded(await cli.run("tools", "explain", "exec", "--json"))) as { place: object };
  assert.deepEqual(asked.place, {
    runs: "gateway",
    summary: "on the gateway host, under approvals",
    rules: [
      "host=gateway (tools.exec.host)",
      "security=allowlist (tools.exec.security, not set): listed programs and safe bins only",
      "ask=on-miss (tools.exec.ask): asks the owner about programs that are not listed",
      "exec-approvals.json of the gateway host can be stricter, never looser",
      "an authorized sender can set host, security, ask and node for one session with /exec",
    ],
  });
  wellEnded(await cli.run("config", "set", "tools.exec.host", "node"));
  wellEnded(await cli.run("config", "set", "agents.list", '[{"id":"main","tools":{"exec":{"node":"mac-1"}}}]'));
  const node = wellEnded(await cli.run("tools", "explain", "exec"));
  assert.match(node, /^A call runs: on node mac-1, under approvals$/m);
  assert.match(node, /^ {2}- node mac-1 \(agents\.list\[0\]\.tools\.exec\.node\)$/m);
  wellEnded(await cli.run("config", "set", "tools.deny", '["exec"]'));
  assert.match(wellEnded(await cli.run("tools", "explain", "exec")), /^If it were allowed, a call would run: on node/m);
  cli.dispose();
});

test("the edit that explain names reverses the decision when it is run", async () => {
  const cli = newCli(config);
  const ask = () => cli.run("tools", "explain", "message", "--agent", "support", "--model", "openai/gpt-5.2", "--json");
  type Asked = { decision: { allowed: boolean; fix: { after: { path: string; value?: unknown }[] } } };
  const before = JSON.parse(wellEnded(await ask())) as Asked;
  assert.equal(before.decision.allowed, false);
  for (const { path, value } of before.decision.fix.after) {
    const words =
      value === undefined
        ? ["config", "unset", path]
        : ["config", "set", path, typeof value === "string" ? value : JSON.stringify(value)];
    wellEnded(await cli.run(...words));
  }
  assert.equal((JSON.parse(wellEnded(await ask())) as Asked).decision.allowed, true);
  cli.dispose();
});

test("explain: exit codes for scripts, schemas, unknown names and agents", async () => {
  const cli = newCli(config);
  assert.equal((await cli.run("tools", "explain", "browser")).code, 0);
  assert.equal((await cli.run("tools", "explain", "browser", "--check")).code, 1);
  assert.equal((await cli.run("tools", "explain", "read", "--check")).code, 0);
  const unknown = await cli.run("tools", "explain", "raed");
  assert.deepEqual([unknown.code, /the nearest name is read/.test(unknown.stdout)], [1, true]);
  const agent = await cli.run("tools", "explain", "read", "--agent", "suport");
  assert.deepEqual(agent, {
    code: 1,
    stdout: "",
    stderr: 'there is no agent "suport"; known: main, support\nfix: did you mean support?\n',
  });
  const schema = JSON.parse(wellEnded(await cli.run("tools", "explain", "read", "--schema"))) as { properties: object };
  assert.ok("path" in schema.properties);
  cli.dispose();
});

test("list: the usable tools, and with --all the others with the reason", async () => {
  const cli = newCli(config);
  const few = wellEnded(await cli.run("tools"));
  assert.match(few, /^read +fs +allowed /m);
  assert.doesNotMatch(few, /^browser/m);
  const all = wellEnded(await cli.run("tools", "list", "--all", "--agent", "support"));
  assert.match(all, /^browser +ui +blocked +profile messaging does not include it/m);
  const data = JSON.parse(wellEnded(await cli.run("tools", "list", "--all", "--json"))) as {
    agentId: string;
    tools: { name: string; allowed: boolean }[];
  };
  assert.equal(data.agentId, "main");
  assert.equal(data.tools.find(({ name }) => name === "browser")?.allowed, false);
  cli.dispose();
});

test("call without a gateway: pairs, JSON5, stdin; the result is printed and in the journal", async () => {
  const cli = newCli(config);
  wellEnded(await cli.run("tools", "call", "write", "path=note.md", "content=42"));
  const note = join(cli.state, "workspace", "note.md");
  assert.equal(readFileSync(note, "utf8"), "42", "text stays text where the tool wants text");
  assert.equal(wellEnded(await cli.run("tools", "call", "read", "{path: 'note.md'}")), "42\n");
  assert.equal(wellEnded(await cli.run("tools", "call", "read", "path=note.md", "limit=1")), "42\n");
  const whole = JSON.parse(wellEnded(await cli.run("tools", "call", "read", "path=note.md", "--json"))) as {
    content: unknown;
  };
  assert.deepEqual(whole.content, [{ type: "text", text: "42" }]);
  const piped = spawn(process.execPath, [join(root, "openclaw.mjs"), "tools", "call", "read", "-"], {
    cwd: cli.home,
    env: { PATH: process.env["PATH"], HOME: cli.home },
  });
  piped.stdin.end('{"path": "note.md"}');
  const chunks: Buffer[] = [];
  piped.stdout.on("data", (chunk: Buffer) => chunks.push(chunk));
  assert.deepEqual([(await once(piped, "close"))[0], Buffer.concat(chunks).toString()], [0, "42\n"]);
  assert.match(wellEnded(await cli.run("store", "verify")), / 5 journal/);
  cli.dispose();
});

test("refusals: the explanation on stderr, exit 1, nothing on stdout", async () => {
  const cli = newCli(config);
  const denied = await cli.run("tools", "call", "write", "path=x.md", "content=y", "--agent", "support");
  assert.deepEqual([denied.code, denied.stdout], [1, ""]);
  assert.match(denied.stderr, /^write: blocked\n.*Decided by profile: .*openclaw config set/s);
  assert.equal(existsSync(join(cli.state, "workspace-support")), false);
  const data = JSON.parse((await cli.run("tools", "call", "browser", "--json")).stdout) as { error: { code: string } };
  assert.equal(data.error.code, "tool.refused");
  const bad = await cli.run("tools", "call", "read", "nonsense");
  assert.deepEqual(
    [bad.code, bad.stderr],
    [2, '"nonsense" is neither key=value nor a JSON5 object\nfix: openclaw tools call --help\n'],
  );
  const wrong = await cli.run("tools", "call", "read", "path=none.md");
  assert.deepEqual([wrong.code, /\nfix: /.test(wrong.stderr)], [1, true]);
  cli.dispose();
});

test("writes an image to a private file and prints its path", async () => {
  const cli = newCli("{}");
  const png = Buffer.from(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
    "base64",
  );
  wellEnded(await cli.run("tools", "call", "write", "path=a.txt", "content=x"));
  writeFileSync(join(cli.state, "workspace", "dot.png"), png);
  const lines = wellEnded(await cli.run("tools", "call", "read", "path=dot.png"))
    .trim()
    .split("\n");
  const file = lines.find((line) => line.endsWith("picture.png")) ?? "";
  assert.deepEqual([readFileSync(file).equals(png), statSync(file).mode & 0o777], [true, 0o600]);
  rmSync(join(file, ".."), { recursive: true });
  cli.dispose();
});

test("store: verify, backup, restore and salvage, with the old one kept", async () => {
  const cli = newCli("{}");
  const missing = await cli.run("store", "verify");
  assert.deepEqual(missing, {
    code: 1,
    stdout: "",
    stderr:
      "there is no store at ~/.openclaw/openclaw.sqlite yet\nfix: the first start creates it: openclaw gateway run\n",
  });
  wellEnded(await cli.run("tools", "call", "agents_list"));
  assert.match(wellEnded(await cli.run("store", "verify", "--deep")), /trial copy +ok/);
  const backup = join(cli.home, "backup.sqlite");
  assert.match(
    wellEnded(await cli.run("store", "backup", "~/backup.sqlite")),
    /^backed up 1 records to ~\/backup\.sqlite and verified them\n$/,
  );
  const again = await cli.run("store", "backup", backup);
  assert.deepEqual([again.code, /already exists\nfix: choose another name/.test(again.stderr)], [1, true]);
  wellEnded(await cli.run("tools", "call", "agents_list"));
  const restored = JSON.parse(wellEnded(await cli.run("store", "restore", backup, "--json"))) as {
    counts: Record<string, number>;
    replaced: string;
  };
  assert.deepEqual([restored.counts["journal"], existsSync(restored.replaced)], [1, true]);
  const salvaged = JSON.parse(wellEnded(await cli.run("store", "salvage", "--json"))) as {
    kept: Record<string, number>;
    lost: unknown[];
  };
  assert.deepEqual([salvaged.kept["journal"], salvaged.lost], [1, []]);
  const shown = wellEnded(await cli.run("store", "salvage", "~/saved.sqlite", "--uncertain"));
  assert.match(shown, /^ {2}journal: 1 of 1 recovered$[^]*^no record was lost$/m);
  const fd = openSync(join(cli.state, "openclaw.sqlite"), "r+");
  for (let at = 4096; at < statSync(join(cli.state, "openclaw.sqlite")).size; at += 4096)
    writeSync(fd, Buffer.alloc(2000, 7), 0, 2000, at);
  closeSync(fd);
  const damaged = await cli.run("store", "verify");
  assert.equal(damaged.code, 1);
  assert.match(
    damaged.stderr,
    /is damaged\nfix: restore a backup \(openclaw store restore <file>\), or copy the readable records: openclaw store salvage/,
  );
  cli.dispose();
});
