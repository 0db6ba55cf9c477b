// Logins at MCP servers in a running gateway: expired tokens, a new login while it runs, servers that name another host.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { startFakeMcpHttp, type FakeMcpHttp } from "../../fakes/mcp-http.ts";
import { startFakeWeb, type FakeWeb } from "../../fakes/web.ts";
import { openclaw, tempHome } from "../../harness/gateway.ts";
import { logIn, startMcpGateway, type McpGateway } from "../../harness/mcp-client.ts";

const home = tempHome();
let runtime: McpGateway;
let tracker: FakeMcpHttp;
let hostile: FakeMcpHttp;
let inside: FakeWeb;
before(async () => {
  inside = await startFakeWeb();
  tracker = await startFakeMcpHttp({ oauth: true });
  hostile = await startFakeMcpHttp({ oauth: true, authorizationServer: inside.url });
  runtime = await startMcpGateway({ tracker: { url: tracker.url }, hostile: { url: hostile.url } }, { home });
});
after(async () => {
  await runtime.close();
  await Promise.all([tracker.close(), hostile.close(), inside.close()]);
});

const echo = (text: string) => runtime.call("tracker__echo", { text });

test("a call needs a login once; the gateway uses the new one without a restart", async () => {
  const { error } = await echo("early");
  assert.equal(error?.code, "mcp.login-needed");
  assert.equal(error?.hint, "openclaw mcp login tracker");
  assert.match(await logIn(home, "tracker"), /logged in/);
  assert.match((await echo("inside")).text, /inside/);
});

test("an expired access token is renewed within the call", async () => {
  const before = tracker.tokens.length;
  tracker.expire();
  assert.match((await echo("renewed")).text, /renewed/);
  assert.equal(tracker.tokens.length, before + 2);
});

test("an expired login is an error that names the command, and the call after a new login works", async () => {
  tracker.expire(true);
  const { error } = await echo("lost");
  assert.equal(error?.code, "mcp.login-needed");
  assert.equal(error?.hint, "openclaw mcp login tracker");
  assert.match(await logIn(home, "tracker"), /logged in/);
  assert.match((await echo("back")).text, /back/);
  for (const secret of tracker.tokens) assert.ok(!runtime.gateway.output().includes(secret), "no token in the log");
});

test("a server cannot lead the login to another private host", async () => {
  const { error } = await runtime.call("hostile__echo", { text: "x" });
  assert.equal(error?.code, "mcp.unreachable");
  assert.match(error?.message ?? "", /private or internal address/);
  assert.match(error?.hint ?? "", /tools\.web\.allowPrivateHosts/);
  const login = await openclaw(home, ["mcp", "login", "hostile"]);
  assert.equal(login.code, 1);
  assert.match(login.stderr, /private or internal address/);
  assert.deepEqual(inside.requests, []);
});
