// The gateway two attack suites share: a model, an agent that runs freely, and one that always asks.
import { mkdirSync } from "node:fs";
import { join } from "node:path";

import type { FakeServer } from "../fakes/openai.ts";
import type { TestGateway } from "../harness/gateway.ts";
import { startWithModel } from "../harness/model.ts";

export async function startAsking(server: FakeServer, env: Record<string, string> = {}): Promise<TestGateway> {
  const gateway = await startWithModel(server, {
    env,
    more: {
      agents: {
        defaults: { model: { primary: "fake/fake-1" } },
        list: [
          { id: "main", default: true },
          { id: "asks", tools: { exec: { host: "gateway", ask: "always" } } },
        ],
      },
    },
  });
  for (const folder of [gateway.workspace, join(gateway.state, "workspace-asks")])
    mkdirSync(folder, { recursive: true });
  return gateway;
}
