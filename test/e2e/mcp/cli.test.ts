// `openclaw mcp`: add, list, test, approve, login and remove, as a person uses them.
import assert from "node:assert/strict";
import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { startFakeMcpHttp } from "../../fakes/mcp-http.ts";
import { newCli, wellEnded } from "../../harness/cli.ts";
import { logIn, stdioServer } from "../../harness/mcp-client.ts";

const program = ["--", process.execPath, "--no-warnings", stdioServer];

test("add shows the tools, writes the config and approves them; remove takes all of it back", async (t) => {
  const cli = newCli("{}");
  t.after(() => cli.dispose());
  const asked = await cli.run("mcp", "add", "fake", ...program);
  assert.equal(asked.code, 2, "without a person it needs --yes");
  const added = wellEnded(await cli.run("mcp", "add", "fake", "--env", "PLAIN=1", "--yes", ...program));
  assert.match(added, /MCP server fake has \d+ tools:[\s\S]*echo: Returns the text that it gets\./);
  assert.match(added, /added MCP server fake with \d+ tools/);
  const { servers } = JSON.parse(wellEnded(await cli.run("mcp", "list", "--json")));
  assert.deepEqual([servers[0].id, servers[0].transport, servers[0].state], ["fake", "stdio", "approved"]);
  assert.ok(servers[0].tools.includes("echo"));
  assert.match(wellEnded(await cli.run("mcp", "test", "fake")), /fake answers: fake 1\.2\.3, protocol 20\d\d-/);
  const called = wellEnded(await cli.run("tools", "call", "fake__echo", "text=hello"));
  assert.match(called, /hello/);
  assert.match(wellEnded(await cli.run("tools", "list")), /fake__echo/);
  wellEnded(await cli.run("mcp", "remove", "fake"));
  assert.equal(existsSync(join(cli.state, "mcp", "fake.json")), false);
  assert.doesNotMatch(cli.text(), /fake/);
});

test("add refuses an id that means something else, and a server that does not answer", async (t) => {
  const cli = newCli("{}");
  t.after(() => cli.dispose());
  const core = await cli.run("mcp", "add", "exec", "--yes", ...program);
  assert.match(core.stderr, /exec is the name of a core tool/);
  const shape = await cli.run("mcp", "add", "Not_Good", "--yes", ...program);
  assert.equal(shape.code, 1);
  assert.match(shape.stderr, /lower-case letters, digits and dashes/);
  const dead = await cli.run("mcp", "add", "dead", "--yes", "--", process.execPath, "-e", "process.exit(4)");
  assert.equal(dead.code, 1);
  assert.match(dead.stderr, /MCP server dead .*exit code 4/);
  const both = await cli.run("mcp", "add", "both", "--url", "http://127.0.0.1:1/mcp", ...program);
  assert.equal(both.code, 2);
  assert.equal(cli.text(), "{}");
});

test("an unknown server is named with the nearest one", async (t) => {
  const cli = newCli(JSON.stringify({ mcp: { servers: { files: { command: "true" } } } }));
  t.after(() => cli.dispose());
  assert.match((await cli.run("mcp", "test", "file")).stderr, /did you mean files\?/);
});

test("login registers, uses PKCE, keeps the tokens private, renews them, and asks again when they are lost", async (t) => {
  const server = await startFakeMcpHttp({ oauth: true });
  const cli = newCli("{}");
  t.after(async () => {
    cli.dispose();
    await server.close();
  });
  const added = await cli.run("mcp", "add", "tracker", "--url", server.url, "--yes");
  assert.equal(added.code, 0, added.stderr);
  assert.match(added.stdout, /openclaw mcp login tracker/);
  const early = await cli.run("tools", "call", "tracker__echo", "text=x");
  assert.match(early.stderr, /needs a login[\s\S]*openclaw mcp login tracker/);

  assert.match(await logIn(cli.home, "tracker"), /logged in at MCP server tracker/);
  const file = join(cli.state, "mcp", "tracker.login.json");
  assert.equal(statSync(file).mode & 0o777, 0o600);
  assert.match(readFileSync(file, "utf8"), /access-/);
  assert.match(wellEnded(await cli.run("tools", "call", "tracker__echo", "text=inside")), /inside/);

  server.expire();
  assert.match(wellEnded(await cli.run("tools", "call", "tracker__echo", "text=renewed")), /renewed/);

  server.expire(true);
  const lost = await cli.run("tools", "call", "tracker__echo", "text=x");
  assert.equal(lost.code, 1);
  assert.match(lost.stderr, /openclaw mcp login tracker/);
  const everything = [lost, early, added].map(({ stdout, stderr }) => stdout + stderr).join("\n");
  for (const secret of server.tokens) assert.ok(!everything.includes(secret));
  assert.match(await logIn(cli.home, "tracker"), /logged in/);
  assert.match(wellEnded(await cli.run("tools", "call", "tracker__echo", "text=back")), /back/);
});
