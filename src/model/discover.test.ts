// Servers on this machine: a port that a person named is given time to answer.
import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "node:test";

import { systemClock } from "../base/clock.ts";
import { createDiscovery } from "./discover.ts";

test("a named server that takes its time is found; without a name there is none", async (t) => {
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
  assert.deepEqual(await named.find(), [
    { provider: "vllm", baseUrl: `http://127.0.0.1:${port}/v1`, models: [{ id: "tiny" }] },
  ]);
  const off = createDiscovery({ env: { OPENCLAW_DISCOVERY_PORTS: "off" }, clock: systemClock });
  assert.deepEqual(await off.find(), []);
});
