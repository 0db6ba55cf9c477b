// Who is given apply_patch: off unless switched on, by model, by provider, and under tool policy.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";

import { call, gatewayFor } from "../../harness/exec.ts";
import { say, startFakeOpenAI } from "../../fakes/openai.ts";
import { dispose, operator, startGateway, type TestGateway, type Wire } from "../../harness/gateway.ts";
import { chat, modelConfig, toolsOf } from "../../harness/model.ts";

test("without tools.exec.applyPatch.enabled it is off, and the answer names the key", async (t) => {
  const gateway = await gatewayFor(t, {});
  const input = "*** Begin Patch\n*** Add File: a.txt\n+a\n*** End Patch";
  const { error, text } = await call(gateway, "apply_patch", { input });
  assert.equal(error?.type, "tool.unavailable");
  assert.match(`${text} ${JSON.stringify(error?.details)}`, /applyPatch/);
  assert.equal(existsSync(join(gateway.workspace, "a.txt")), false);
});

describe("apply_patch", () => {
  let gateway: TestGateway;
  let wire: Wire;
  before(async () => {
    gateway = await startGateway({
      config: {
        tools: { allow: ["exec"], exec: { applyPatch: { enabled: true, allowModels: ["gpt-5.2"] } } },
        agents: {
          list: [
            { id: "main", default: true },
            { id: "plain", tools: { deny: ["apply_patch"] } },
          ],
        },
      },
    });
    wire = await operator(gateway);
  });
  after(async () => {
    wire.end();
    await dispose(gateway);
  });

  const liveStatus = async (model: string, agentId = "main"): Promise<string> => {
    const { tools } = await wire.call("tools.catalog", { model, agentId });
    const row = tools.find(({ name }) => name === "apply_patch");
    if (row?.allowed !== true) return "denied";
    return row.available ? "offered" : "not available";
  };

  test("allowModels: only the OpenAI models that are listed, by either provider name", async () => {
    assert.equal(await liveStatus("openai/gpt-5.2"), "offered");
    assert.equal(await liveStatus("openai-codex/gpt-5.2"), "offered");
    assert.equal(await liveStatus("openai/gpt-4.1"), "not available");
    assert.equal(await liveStatus("anthropic/gpt-5.2"), "not available");
  });

  test("tool policy still applies: a deny of an agent wins", async () => {
    assert.equal(await liveStatus("openai/gpt-5.2", "plain"), "denied");
  });
});

test('allow:["exec"] includes apply_patch for OpenAI models and for no other provider', async (t) => {
  const server = await startFakeOpenAI(() => say("ok"));
  t.after(() => server.close());
  const { models, ...rest } = modelConfig(server) as { models: { providers: { fake: { models: object[] } } } };
  const { fake } = models.providers;
  const openai = { ...fake, models: fake.models.map((model) => ({ ...model, id: "gpt-5.2" })) };
  const gateway = await gatewayFor(t, {
    config: {
      ...rest,
      models: { providers: { fake, openai } },
      tools: { allow: ["exec"], exec: { applyPatch: { enabled: true, allowModels: ["gpt-5.2", "fake-1"] } } },
      agents: {
        list: [
          { id: "main", default: true, model: "openai/gpt-5.2" },
          { id: "other", model: "fake/fake-1" },
        ],
      },
    },
  });
  const wire = await operator(gateway);
  const offered = async (agent: string): Promise<string[]> => {
    const from = server.requests.length;
    assert.equal((await chat(wire, `agent:${agent}:main`, "hello", `run-${agent}`)).state, "final");
    const request = server.requests.slice(from).find(({ path }) => path.endsWith("/chat/completions"));
    assert.ok(request);
    return toolsOf(request).toSorted();
  };
  assert.deepEqual(
    { openai: await offered("main"), other: await offered("other") },
    {
      openai: ["apply_patch", "exec"],
      other: ["exec"],
    },
  );
  wire.end();
});
