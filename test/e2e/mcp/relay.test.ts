// Tools of MCP servers for MCP clients of the gateway: listed with the first request, and changes reach the client.
import assert from "node:assert/strict";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";

import { openclaw, tempHome } from "../../harness/gateway.ts";
import { fakeStdio, startMcpGateway, type McpGateway } from "../../harness/mcp-client.ts";

const home = tempHome();
const changedFile = join(home, "changed");
let runtime: McpGateway;
let client: Client;
before(async () => {
  runtime = await startMcpGateway(
    {
      fake: fakeStdio({ tools: { allow: ["echo", "picture", "slow"] } }),
      seen: fakeStdio({ env: { FAKE_CHANGED: changedFile }, tools: { allow: ["echo", "changed"] } }),
    },
    { home, config: { gateway: { http: { endpoints: { mcp: { enabled: true } } } } } },
  );
  assert.equal((await openclaw(home, ["mcp", "approve", "seen", "--yes"])).code, 0);
  client = new Client({ name: "test", version: "1" }, { versionNegotiation: { mode: { pin: "2026-07-28" } } });
  const requestInit = { headers: { authorization: `Bearer ${runtime.gateway.token}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL(`${runtime.gateway.url}/mcp`), { requestInit }));
});
after(async () => {
  await client.close();
  await runtime.close();
});

async function relayed(): Promise<string[]> {
  const { tools } = await client.listTools();
  return tools.map(({ name }) => name).filter((name) => name.includes("__"));
}

test("the first list has the tools of a server that was never used", async () => {
  assert.deepEqual(await relayed(), ["fake__echo", "fake__picture", "fake__slow", "seen__echo", "seen__changed"]);
});

test("every kind of content passes through, and so does progress", async () => {
  const { content } = await client.callTool({ name: "fake__picture" });
  assert.deepEqual(
    content.map(({ type }) => type),
    ["text", "image", "audio", "resource_link", "resource"],
  );
  const steps: number[] = [];
  await client.callTool({ name: "fake__slow" }, { onprogress: ({ progress }) => void steps.push(progress) });
  assert.ok(steps.length > 0);
});

test("a client is notified of a tool that its server changed and of the owner's approval", async () => {
  const subscription = await client.listen({ toolsListChanged: true });
  const nextChange = (): Promise<void> =>
    new Promise((resolve) => client.setNotificationHandler("notifications/tools/list_changed", () => resolve()));
  writeFileSync(changedFile, "");
  const gone = nextChange();
  await runtime.call("seen__changed");
  await gone;
  assert.ok(!(await relayed()).includes("seen__echo"));
  const back = nextChange();
  assert.equal((await openclaw(home, ["mcp", "approve", "seen", "--yes"])).code, 0);
  await back;
  assert.ok((await relayed()).includes("seen__echo"));
  rmSync(changedFile);
  await subscription.close();
});
