// POL-009: an owner's tool is asked for over MCP in the name of somebody who is not the owner. Nothing moves, and it is on record.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";

import { ask, type WireJob } from "../harness/cron.ts";
import { say } from "../fakes/openai.ts";
import { detailsOf, newIdentity, operator, Wire, type Frame } from "../harness/gateway.ts";
import { chat } from "../harness/model.ts";
import { scriptedNode } from "../harness/node.ts";
import { openTwoAgents, untilSaid, type TwoAgents } from "../harness/sessions.ts";

const GROUP = "agent:main:telegram:group:-7";
let agents: TwoAgents;
before(async () => {
  agents = await openTwoAgents({
    more: {
      gateway: { http: { endpoints: { mcp: { enabled: true } } } },
      commands: { restart: true },
      ui: { assistant: { name: "canary" } },
      channels: { telegram: { groups: { "-7": { tools: { deny: ["gateway", "cron"] } } } } },
      agents: {
        list: [
          { id: "main", default: true },
          { id: "boxed", sandbox: { mode: "all" } },
          { id: "weak", tools: { deny: ["group:automation"] } },
        ],
      },
    },
  });
  agents.play(() => say("noted"));
});
after(() => agents.close());

interface Refusal {
  readonly code?: number;
  readonly data?: { readonly code?: string; readonly hint?: string; readonly decision?: { allowed: boolean } };
}

async function connect(headers: Record<string, string>, token = agents.gateway.token): Promise<Client> {
  const client = new Client({ name: "attacker", version: "1" });
  const requestInit = { headers: { authorization: `Bearer ${token}`, ...headers } };
  await client.connect(new StreamableHTTPClientTransport(new URL(`${agents.gateway.url}/mcp`), { requestInit }));
  return client;
}

/** A client that could answer approvals: it must not be asked. */
async function connectAsking(headers: Record<string, string>): Promise<Client> {
  const client = new Client({ name: "attacker", version: "1" }, { capabilities: { elicitation: {} } });
  client.setRequestHandler("elicitation/create", () => assert.fail("the client was asked"));
  const requestInit = { headers: { authorization: `Bearer ${agents.gateway.token}`, ...headers } };
  await client.connect(new StreamableHTTPClientTransport(new URL(`${agents.gateway.url}/mcp`), { requestInit }));
  return client;
}

/** Each would be seen afterwards: in the config, among the jobs, by a process that is another. */
const attempts: readonly (readonly [string, Record<string, unknown>])[] = [
  ["gateway", { action: "config.patch", raw: '{"ui":{"assistant":{"name":"taken"}}}' }],
  ["gateway", { action: "config.patch", raw: '{"tools":{"allow":["*"]}}' }],
  ["gateway", { action: "restart", delayMs: 0 }],
  ["gateway", { action: "update.run" }],
  ["cron", { action: "add", job: { name: "taken", schedule: { kind: "every", everyMs: 3_600_000 }, message: "x" } }],
];

const configText = (): string => readFileSync(join(agents.gateway.state, "openclaw.json"), "utf8");
async function canary(): Promise<unknown> {
  const { jobs } = await ask<{ jobs: WireJob[] }>(agents.wire, "cron.list", { includeDisabled: true });
  return {
    config: configText(),
    taken: jobs.some(({ name }) => name === "taken"),
    restart: existsSync(join(agents.gateway.state, "restart-sentinel.json")),
  };
}

interface Entry {
  readonly tool: string;
  readonly caller: string;
  readonly outcome: string;
  readonly decision?: { readonly allowed: boolean; readonly decidedBy?: { readonly layer: string } };
}
async function journal(sessionKey: string, caller: RegExp): Promise<Entry[]> {
  const { entries } = await ask<{ entries: Entry[] }>(agents.wire, "tools.journal", { sessionKey, limit: 1000 });
  return entries.filter((entry) => caller.test(entry.caller));
}

const callers: readonly (readonly [string, Record<string, string>, string, string])[] = [
  ["a group", { "x-openclaw-session-key": GROUP }, GROUP, "group"],
  ["a sandboxed session", { "x-openclaw-session-key": "agent:boxed:main" }, "agent:boxed:main", "sandbox"],
  ["a subagent", { "x-openclaw-session-key": "agent:main:subagent:9" }, "agent:main:subagent:9", "subagent"],
  ["an agent that is denied them", { "x-openclaw-agent-id": "weak" }, "agent:weak:main", "agent"],
];

describe("POL-009 an owner-only tool over MCP", () => {
  for (const [name, headers, session, layer] of callers)
    test(`for ${name}: neither listed nor callable; refused by policy and journaled`, async () => {
      const before = await canary();
      const client = await connect(headers);
      const { tools } = await client.listTools();
      assert.ok(tools.length > 0);
      assert.ok(!tools.some(({ name: tool }) => tool === "gateway" || tool === "cron"));
      for (const [tool, args] of attempts)
        await assert.rejects(client.callTool({ name: tool, arguments: args }), ({ code, data }: Refusal) => {
          assert.deepEqual([code, data?.code, data?.decision?.allowed], [-32602, "tool.refused", false]);
          return true;
        });
      // Other spellings of a name are that name.
      for (const tool of ["Gateway", " gateway ", "GATEWAY", "Cron"])
        await assert.rejects(client.callTool({ name: tool, arguments: { action: "restart" } }), /Tool not available/);
      await client.close();
      const entries = await journal(session, /^mcp$/);
      assert.equal(entries.length, attempts.length + 4);
      for (const { outcome, decision } of entries) assert.deepEqual([outcome, decision?.allowed], ["refused", false]);
      const attempted = entries.filter(({ tool }) => tool === "gateway" || tool === "cron");
      assert.ok(attempted.length >= attempts.length);
      for (const { decision } of attempted) assert.equal(decision?.decidedBy?.layer, layer);
      assert.deepEqual(await canary(), before);
    });

  test("with a device token without operator.admin: refused over MCP and over /tools/invoke", async () => {
    const before = await canary();
    const scopes = ["operator.write"];
    const wire = new Wire(agents.gateway.port);
    const hello = await wire.connect({ token: agents.gateway.token, identity: newIdentity(), scopes });
    const { deviceToken } = (hello.payload as { auth: { deviceToken: string } }).auth;
    await assert.rejects(connect({}, deviceToken), /401|nauthor/);
    assert.deepEqual(await journal("agent:main:device", /./), []);
    for (const [tool, args] of attempts) {
      const refused = await wire.request("tools.invoke", { tool, args, sessionKey: "agent:main:device" });
      assert.equal(detailsOf(refused)["code"], "tool.refused", JSON.stringify(refused.error));
    }
    const entries = await journal("agent:main:device", /^ws:/);
    assert.equal(entries.length, attempts.length);
    for (const { outcome, decision } of entries)
      assert.deepEqual([outcome, decision?.decidedBy?.layer], ["refused", "limit"]);
    wire.end();
    assert.deepEqual(await canary(), before);
  });
});

describe("POL-009 a call that belongs to a run has the rights of the run's sender", () => {
  /** The outcome of each attempt: refused by name, or asked. */
  async function outcomes(runId: string): Promise<string[]> {
    const client = await connectAsking({ "x-openclaw-run-id": runId });
    const heard: string[] = [];
    for (const [name, args] of attempts) {
      const { structuredContent = {} } = await client.callTool({ name, arguments: args });
      const { code, status, approvalId: id } = structuredContent as Record<string, string>;
      heard.push(code ?? status ?? JSON.stringify(structuredContent));
      if (id !== undefined) await ask(agents.wire, "exec.approval.resolve", { id, decision: "deny" });
    }
    await client.close();
    return heard;
  }
  const asked = "approval-pending";
  const nobodys = [asked, asked, "gateway.owner-only", "gateway.owner-only", asked];

  test("text that came from a node", async () => {
    const before = await canary();
    const node = await scriptedNode(agents.gateway, {});
    const { payload } = (await node.report("voice.transcript", { text: "hello" })) as Frame;
    const { runId } = payload as { runId: string };
    await untilSaid(agents.wire, "main", /^assistant: noted/);
    assert.deepEqual(await outcomes(runId), nobodys);
    node.end();
    assert.deepEqual(await canary(), before);
  });

  test("a person with write scope and without admin scope", async () => {
    const before = await canary();
    const writer = await operator(agents.gateway, { scopes: ["operator.write"] });
    const runId = randomUUID();
    await chat(writer, "main", "hello from a writer", runId);
    assert.deepEqual(await outcomes(runId), nobodys);
    writer.end();
    assert.deepEqual(await canary(), before);
  });

  test("the owner's run has the owner's tools; another session's run, or none, is refused", async () => {
    const runId = randomUUID();
    await chat(agents.wire, "main", "hello from the owner", runId);
    const job = { name: `own-${runId}`, schedule: { kind: "every", everyMs: 3_600_000 }, message: "x" };
    const client = await connect({ "x-openclaw-run-id": runId });
    const { structuredContent } = await client.callTool({ name: "cron", arguments: { action: "add", job } });
    assert.equal((structuredContent as { name: string }).name, job.name);
    await client.close();
    const elsewhere: readonly Record<string, string>[] = [
      { "x-openclaw-run-id": runId, "x-openclaw-session-key": "agent:weak:main" },
      { "x-openclaw-run-id": randomUUID() },
    ];
    for (const headers of elsewhere) {
      const other = await connect(headers);
      await assert.rejects(other.callTool({ name: "session_status" }), ({ data }: Refusal) => {
        assert.equal(data?.code, "run.unknown");
        return true;
      });
      await other.close();
    }
  });
});
