// Failures that nobody caught, and terminals that went away: contained and logged, the gateway stays up and answers.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { setTimeout as sleep } from "node:timers/promises";

import { say, startFakeOpenAI } from "../../fakes/openai.ts";
import { dispose, invoke, operator, root, startGateway, type TestGateway } from "../../harness/gateway.ts";
import { chat, modelConfig, textOf } from "../../harness/model.ts";

test(
  "F14 callbacks that throw and unhandled rejections end neither the process nor a conversation",
  { timeout: 300_000 },
  async (t) => {
    const server = await startFakeOpenAI(() => say("still here", { chunks: 4, delayMs: 30 }));
    const bomb = pathToFileURL(join(root, "test", "fixtures", "bomb.mjs")).href;
    const gateway = await startGateway({ config: modelConfig(server), env: { NODE_OPTIONS: `--import=${bomb}` } });
    t.after(async () => {
      await dispose(gateway);
      await server.close();
    });
    for (let tries = 0; tries < 4000 && !/a promise was let fall/.test(logOf(gateway)); tries++) await sleep(25);
    const wire = await operator(gateway);
    for (let i = 0; i < 5; i++) {
      assert.equal(textOf(await chat(wire, "main", "hello", `bombed-${i}`)), "still here");
      assert.equal((await invoke(gateway, "agents_list")).status, 200);
    }
    assert.equal(gateway.process.exitCode, null);
    assert.match(logOf(gateway), /a callback threw/);
    assert.match(logOf(gateway), /a promise was let fall/);
    wire.end();
  },
);

test("F19 a closed console and a terminal that hangs up have no effect", { timeout: 300_000 }, async (t) => {
  const gateway = await startGateway({ args: ["--verbose"] });
  t.after(() => dispose(gateway));
  gateway.process.stdout?.destroy();
  gateway.process.stderr?.destroy();
  gateway.process.kill("SIGHUP");
  for (let i = 0; i < 20; i++) {
    assert.equal((await invoke(gateway, "no_such_tool")).status, 404);
    await sleep(10);
  }
  assert.equal(gateway.process.exitCode, null);
});

function logOf(gateway: TestGateway): string {
  const folder = join(gateway.state, "logs");
  return readdirSync(folder)
    .map((name) => readFileSync(join(folder, name), "utf8"))
    .join("");
}
