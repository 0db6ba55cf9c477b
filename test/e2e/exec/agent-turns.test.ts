// Commands in agent turns: results, failures, and the system messages about what the agent started.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { until } from "../../harness/exec.ts";
import { call, say } from "../../fakes/openai.ts";
import type { Wire } from "../../harness/gateway.ts";
import { chat, messagesOf, openScripted, type ScriptedGateway } from "../../harness/model.ts";

let runtime: ScriptedGateway;
let wire: Wire;
const heard = (): string[] =>
  runtime.server.requests.flatMap((request) =>
    request.path.endsWith("/chat/completions") ? [JSON.stringify(messagesOf(request).at(-1)?.content)] : [],
  );
before(async () => {
  runtime = await openScripted({ tools: { exec: { host: "gateway", ask: "on-miss" } } });
  ({ wire } = runtime);
});
after(() => runtime.close());

test("tells the model that approval is required; the answer wakes it with one System message and the output", async () => {
  runtime.script = ({ role, content }) => {
    if (String(content).includes("System:")) return say("It ran.");
    return role === "tool" ? say("I wait for your yes.") : call("exec", { command: "echo $((20+3))" });
  };
  const before = runtime.server.requests.length;
  const { state } = await chat(wire, "main", "run it", "run-ask");
  assert.equal(state, "final");
  const told = heard().slice(before);
  assert.match(told.at(-1) ?? "", /Approval required/);
  const { pending } = await wire.call("exec.approvals.pending", {});
  assert.deepEqual(
    pending.map(({ request }) => request.command),
    ["echo $((20+3))"],
  );
  await wire.request("exec.approval.resolve", { id: pending[0]?.id, decision: "allow-once" });
  const line = await until(
    () => heard().find((text) => text.includes("Exec finished")),
    (found) => found !== undefined,
  );
  assert.match(line ?? "", /System: \[[^\]]+\] Exec finished \(gateway id=[0-9a-f-]+, code=0\)\\n  23\\n/);
  await sleep(600);
  assert.equal(heard().filter((text) => text.includes("Exec finished")).length, 1);
});

test("gives the model a denied command as an error with the reason and the fix", async () => {
  runtime.script = ({ role }) =>
    role === "tool" ? say("I may not.") : call("exec", { command: "id", security: "deny" });
  const before = runtime.server.requests.length;
  await chat(wire, "main", "who am I", "run-refused");
  assert.match(heard().slice(before).at(-1) ?? "", /denied[\s\S]*To fix/);
});

test("a background exit wakes the session that started it, and no other", async () => {
  const { hash } = await wire.call("exec.approvals.get", {});
  await wire.request("exec.approvals.set", {
    file: { version: 1, agents: { main: { allowlist: [{ pattern: "/usr/bin/sleep" }, { pattern: "/bin/sleep" }] } } },
    baseHash: hash,
  });
  runtime.script = ({ role, content }) => {
    if (String(content).includes("System:")) return say("Seen.");
    return role === "tool" ? say("Started.") : call("exec", { command: "sleep 0.4", background: true });
  };
  const before = runtime.server.requests.length;
  await chat(wire, "agent:main:errands", "start it", "run-background");
  const line = await until(
    () =>
      heard()
        .slice(before)
        .find((text) => text.includes("System:")),
    (found) => found !== undefined,
  );
  assert.match(line ?? "", /System: \[[^\]]+\] Exec completed \([a-z]+-[a-z]+, code 0\)/);
  const { payload } = await wire.request("chat.history", { sessionKey: "main" });
  assert.doesNotMatch(JSON.stringify(payload), /Exec completed/);
});
