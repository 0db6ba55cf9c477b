// Which shared secret is in force: the environment wins over the config, for the gateway and for everything that speaks to it.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { dispose, invoke, openclaw, startGateway, Wire, type TestGateway } from "../../harness/gateway.ts";

const OPENCLAW_GATEWAY_TOKEN = "environment-token-0123456789abcdef";
let gateway: TestGateway;
before(async () => {
  gateway = await startGateway({ env: { OPENCLAW_GATEWAY_TOKEN } });
});
after(() => dispose(gateway));

test("the gateway accepts the token of its environment and not the one in its config", async () => {
  const statusOf = async (token: string): Promise<number> =>
    (await invoke(gateway, "agents_list", {}, { headers: { authorization: `Bearer ${token}` } })).status;
  assert.equal(await statusOf(OPENCLAW_GATEWAY_TOKEN), 200);
  assert.equal(await statusOf(gateway.token), 401);
  for (const [token, ok] of [
    [OPENCLAW_GATEWAY_TOKEN, true],
    [gateway.token, false],
  ] as const) {
    const wire = new Wire(gateway.port);
    assert.equal((await wire.connect({ token, identity: null })).ok, ok);
    wire.end();
  }
});

test("the command line sends the token of its environment, else the one in the config", async () => {
  const first = await openclaw(gateway.home, ["gateway", "call", "health"]);
  assert.equal(first.code, 1, first.stdout);
  assert.match(first.stderr, /does not accept our token/);
  const second = await openclaw(gateway.home, ["gateway", "call", "health"], { OPENCLAW_GATEWAY_TOKEN });
  assert.equal(second.code, 0, second.stderr);
});

test("doctor names the value in force when both are set", async () => {
  const { stdout } = await openclaw(gateway.home, ["doctor"], { OPENCLAW_GATEWAY_TOKEN });
  assert.match(stdout, /OPENCLAW_GATEWAY_TOKEN overrides a different value of gateway\.auth\.token/);
  const without = await openclaw(gateway.home, ["doctor"]);
  assert.doesNotMatch(without.stdout, /overrides a different value/);
});
