// Size of the first model request (docs/decisions/0024-model-text-budget.md).
import assert from "node:assert/strict";
import { test } from "node:test";

import { say, startFakeOpenAI } from "../../fakes/openai.ts";
import { dispose, operator } from "../../harness/gateway.ts";
import { chat, startWithModel } from "../../harness/model.ts";

test("the first request of a default session, with all tools, is smaller than 24,000 bytes on the wire", async (t) => {
  const sizes: number[] = [];
  const server = await startFakeOpenAI(({ body }) => {
    sizes.push(Buffer.byteLength(JSON.stringify(body)));
    return say("hello");
  });
  const gateway = await startWithModel(server, {});
  const wire = await operator(gateway);
  t.after(async () => {
    wire.end();
    await dispose(gateway);
    await server.close();
  });
  await chat(wire, "agent:main:main", "hi", "first");
  assert.equal(sizes.length, 1);
  assert.ok((sizes[0] ?? Infinity) < 24_000, `${sizes[0]} bytes`);
  t.diagnostic(`${sizes[0]} bytes`);
});
