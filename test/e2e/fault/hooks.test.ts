// kill -9 around webhooks: what was answered 202 runs at most once, and the main session hears how each of them ended.
// The full rounds: OPENCLAW_HOOK_ROUNDS=100 node --test test/e2e/fault/hooks.test.ts
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { verifyStore } from "../../../src/store/verify.ts";
import { until } from "../../harness/exec.ts";
import { say } from "../../fakes/openai.ts";
import { hook, openHookGateway, type HookGateway } from "../../harness/hook.ts";
import { operator, startGateway } from "../../harness/gateway.ts";

const rounds = Number(process.env["OPENCLAW_HOOK_ROUNDS"] ?? 3);
const AT_ONCE = 4;

test(
  `${rounds} kills around webhooks: none lost, none run twice, each reported`,
  { timeout: 300_000 + rounds * 40_000 },
  async (t) => {
    const runtime = await openHookGateway();
    t.after(() => runtime.close());
    runtime.script = (text) =>
      text.includes("</outside") ? say("done with it", { chunks: 3, delayMs: 25 }) : say("HEARTBEAT_OK");
    const answered = new Map<string, string>();
    for (let round = 0; round < rounds; round++) {
      const names = Array.from({ length: AT_ONCE }, (_, index) => `D${round}x${index}e`);
      const sent = names.map((name) => send(runtime, name, answered));
      await sleep(Math.random() * 250);
      await restart(runtime);
      await Promise.all(sent);
      // As a sender does: what was not answered, and some that were, come again.
      const again = await Promise.all(names.map((name) => send(runtime, name, answered)));
      assert.deepEqual(again, ["ok", "ok", "ok", "ok"]);
      const left = await until(
        () => names.filter((name) => !runtime.received().some((text) => told(name).test(text))),
        (missing) => missing.length === 0,
        120_000,
      );
      assert.deepEqual(left, []);
    }
    for (const [name, runId] of answered) {
      // A model may be asked again when the end came before the run was on record; answers and ends are there once.
      assert.ok((await answers(runtime, runId)) <= 1, `${name} ran twice`);
      const ends = new Set(runtime.received().flatMap((text) => text.match(new RegExp(told(name), "g")) ?? []));
      assert.equal(ends.size, 1, [...ends].join());
    }
    await runtime.gateway.stop();
    const report = await verifyStore(join(runtime.gateway.state, "openclaw.sqlite"));
    assert.equal(report.ok, true, JSON.stringify(report));
    const twice = [...answered.keys()].filter((name) => lines(runtime, name) > 1).length;
    t.diagnostic(`${rounds} kills, ${answered.size} deliveries, 0 lost, 0 run twice, ${twice} told again`);
  },
);

async function answers({ wire }: HookGateway, runId: string): Promise<number> {
  const { messages } = await wire.call("chat.history", { sessionKey: `agent:main:hook:${runId}` });
  return messages.filter(({ role }) => role === "assistant").length;
}

const told = (name: string): RegExp => new RegExp(`Webhook ${name} (?:ran|failed)`);

const lines = (runtime: HookGateway, name: string): number =>
  runtime.received().reduce((sum, text) => sum + (text.match(new RegExp(told(name), "g"))?.length ?? 0), 0);

/** `ok`, or `lost` when the gateway ended before it answered. The answer to an id never changes. */
async function send(runtime: HookGateway, name: string, answered: Map<string, string>): Promise<"ok" | "lost"> {
  try {
    const { status, body } = await hook(
      runtime.gateway,
      "/agent",
      { message: `task ${name}`, name, deliver: false },
      { "x-openclaw-delivery": name },
    );
    assert.equal(status, 202, JSON.stringify(body));
    const runId = String(body["runId"]);
    assert.equal(answered.get(name) ?? runId, runId);
    answered.set(name, runId);
    return "ok";
  } catch (error) {
    if (error instanceof assert.AssertionError) throw error;
    return "lost";
  }
}

async function restart(runtime: HookGateway): Promise<void> {
  runtime.wire.end();
  await runtime.gateway.stop("SIGKILL");
  runtime.gateway = await startGateway({ home: runtime.gateway.home });
  runtime.wire = await operator(runtime.gateway);
}
