// Local servers: a configured port gets more time to answer.
import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "node:test";

import { systemClock } from "../base/clock.ts";
import { createDiscovery } from "./discover.ts";

test("finds a slow server on a configured port, and none without configuration", async (t) => {
  const server = createServer((_request, response) => {
    setTimeout(() => {
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify({ data: [{ id: "tiny" }, { id: "embed-1" }] }));
    }, 900);
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  t.after(() => server.close());
  const { port } = server.address() as AddressInfo;
  const named = createDiscovery({ env: { OPENCLAW_DISCOVERY_PORTS: `vllm=${port}` }, clock: systemClock });
  // embed-1 is left out, because its name says that it does not chat.
  assert.deepEqual(await named.find(), [
    { provider: "vllm", baseUrl: `http://127.0.0.1:${port}/v1`, models: [{ id: "tiny" }] },
  ]);
  const off = createDiscovery({ env: { OPENCLAW_DISCOVERY_PORTS: "off" }, clock: systemClock });
  assert.deepEqual(await off.find(), []);
});
