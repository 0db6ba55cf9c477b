// `openclaw agents …`: edits of the config that keep its comments, refusals that name what is known.
import assert from "node:assert/strict";
import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { newCli, wellEnded } from "../../harness/cli.ts";
import { dispose, startGateway } from "../../harness/gateway.ts";

test("add, bind, list and delete keep main, comments and files", async () => {
  const cli = newCli("{\n  // mine\n  gateway: { mode: 'local' }, // keep\n}\n");
  const added = ["--name", "Help desk", "--model", "openai/gpt-5.2", "--bind", "telegram:work"];
  wellEnded(await cli.run("agents", "add", "Support", ...added));
  assert.equal(
    cli.text(),
    `{
  // mine
  gateway: { mode: 'local' }, // keep
  agents: {
    list: [
      {
        id: 'main',
        default: true,
      },
      {
        id: 'support',
        name: 'Help desk',
        model: 'openai/gpt-5.2',
      },
    ],
  },
  bindings: [
    {
      agentId: 'support',
      match: {
        channel: 'telegram',
        accountId: 'work',
      },
    },
  ],
}
`,
  );
  const workspace = join(cli.state, "workspace-support");
  assert.equal(statSync(workspace).mode & 0o777, 0o700);
  wellEnded(await cli.run("agents", "bind", "support", "--channel", "discord", "--peer", "group:12", "--guild", "9"));
  const again = await cli.run(
    "agents",
    "bind",
    "support",
    "--channel",
    "discord",
    "--peer",
    "group:12",
    "--guild",
    "9",
  );
  assert.match(wellEnded(again), /^unchanged: agent support answers discord group 12 server 9 /);
  const rows = JSON.parse(wellEnded(await cli.run("agents", "--json"))) as Record<string, unknown>[];
  assert.deepEqual(rows, [
    { id: "main", isDefault: true, workspace: join(cli.state, "workspace"), bindings: [] },
    {
      id: "support",
      name: "Help desk",
      isDefault: false,
      workspace,
      model: "openai/gpt-5.2",
      bindings: ["telegram account work", "discord group 12 server 9"],
    },
  ]);
  wellEnded(await cli.run("agents", "bind", "support", "--channel", "telegram", "--account", "work", "--remove"));
  wellEnded(await cli.run("agents", "delete", "support", "--force"));
  assert.match(cli.text(), /\/\/ mine[^]*\/\/ keep/);
  assert.doesNotMatch(cli.text(), /support|telegram|discord/);
  assert.equal(existsSync(workspace), true, "what the agent wrote is not thrown away");
  cli.dispose();
});

test("the hint for a default agent that cannot be removed works as printed", async () => {
  const hintOf = async (config: string, id: string) => {
    const cli = newCli(config);
    const { code, stderr } = await cli.run("agents", "delete", id, "--force");
    assert.equal(code, 1);
    return [cli, /^fix: .*?(openclaw .*)$/m.exec(stderr)?.[1]] as const;
  };
  const [, alone] = await hintOf("{}", "main");
  assert.equal(alone, "openclaw agents add support");
  const [cli, hint] = await hintOf("{ agents: { list: [{ id: 'ops', default: true }, { id: 'main' }] } }", "ops");
  assert.equal(
    hint,
    "openclaw config set 'agents.list[0].default' false && openclaw config set 'agents.list[1].default' true",
  );
  for (const line of hint?.split(" && ") ?? []) {
    const [, path = "", value = ""] = /config set '(.*)' (.*)$/.exec(line) ?? [];
    wellEnded(await cli.run("config", "set", path, value));
  }
  wellEnded(await cli.run("agents", "delete", "ops", "--force"));
  const [, none] = await hintOf("{ agents: { list: [{ id: 'ops' }, { id: 'main' }] } }", "main");
  assert.equal(none, undefined);
});

test("refuses unknown, duplicate, default and bound agents, and needs a terminal to ask", async () => {
  const cli = newCli("{ agents: { list: [{ id: 'main' }, { id: 'ops' }] } }");
  const before = cli.text();
  const said = async (...words: string[]) => {
    const { code, stderr } = await cli.run("agents", ...words);
    return [code, stderr.split("\n")[0]];
  };
  assert.deepEqual(await said("delete", "opz", "--force"), [1, 'there is no agent "opz"; known: main, ops']);
  assert.deepEqual(await said("add", "ops"), [1, 'agent "ops" already exists']);
  assert.deepEqual(await said("add", "../etc"), [1, 'not an agent id: "../etc"']);
  assert.deepEqual(await said("delete", "main", "--force"), [
    1,
    'agent "main" cannot be removed: it is the default agent',
  ]);
  assert.deepEqual(await said("delete", "ops"), [
    2,
    'cannot ask "Remove agent ops and its bindings from the config?" without a terminal; use --force',
  ]);
  const { stderr: alone } = await cli.run("agents", "delete", "ops");
  assert.equal(alone.split("\n")[1], "fix: openclaw agents delete --help");
  assert.deepEqual(await said("bind", "ops"), [2, "missing --channel <channel>: the channel it answers"]);
  assert.deepEqual(await said("bind", "ghost", "--channel", "telegram"), [
    1,
    'there is no agent "ghost"; known: main, ops',
  ]);
  assert.equal(cli.text(), before, "nothing was written");
  assert.equal(existsSync(join(cli.state, "workspace-ghost")), false);
  wellEnded(await cli.run("agents", "bind", "main", "--channel", "telegram"));
  assert.deepEqual(await said("bind", "ops", "--channel", "telegram"), [1, "telegram is already bound to agent main"]);
  cli.dispose();
});

test("a newly added agent is usable by the next command, whatever the reload delay", async (t) => {
  const gateway = await startGateway({ config: { gateway: { reload: { debounceMs: 600_000 } } } });
  t.after(() => dispose(gateway));
  const cli = newCli(undefined, gateway.home);
  wellEnded(await cli.run("agents", "add", "freshly"));
  const words = ["cron", "add", "--name", "hers", "--every", "1h", "--exec", "true", "--agent", "freshly", "--json"];
  const { agentId } = JSON.parse(wellEnded(await cli.run(...words))) as { agentId: string };
  assert.equal(agentId, "freshly");
});
