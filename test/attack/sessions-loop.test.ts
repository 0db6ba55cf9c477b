// Attacks on the purse by sessions: a message that three agents pass on to each other without end.
import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { until } from "../harness/exec.ts";
import { call, say } from "../fakes/openai.ts";
import { openTwoAgents } from "../harness/sessions.ts";

test("a message that agents pass on in a circle ends by itself", async (t) => {
  const ids = ["main", "b", "c"];
  const agents = await openTwoAgents({
    more: {
      agents: { list: ids.map((id) => ({ id, ...(id === "main" ? { default: true } : {}) })) },
      tools: { agentToAgent: { enabled: true, allow: ["*"] } },
      session: { agentToAgent: { maxPingPongTurns: 0 } },
    },
  });
  t.after(() => agents.close());
  const refusals: string[] = [];
  let sent = 0;
  agents.play(({ role, text }) => {
    if (role === "tool") {
      if (text.includes('"error"')) refusals.push(text);
      return say("ANNOUNCE_SKIP");
    }
    const from = /\[Message from session agent:(\w+):/.exec(text)?.[1];
    if (from === undefined) return say("ANNOUNCE_SKIP");
    sent += 1;
    const own = ids[(ids.indexOf(from) + 1) % ids.length] ?? "";
    const next = ids[(ids.indexOf(own) + 1) % ids.length];
    return call("sessions_send", { sessionKey: `agent:${next}:main`, message: "pass it on", timeoutSeconds: 0 });
  });
  await agents.call("sessions_send", { sessionKey: "agent:b:main", message: "pass it on", timeoutSeconds: 0 });
  await until(
    () => refusals.length,
    (count) => count > 0,
  );
  const count = sent;
  await sleep(1000);
  assert.equal(sent, count, "it stands still");
  assert.match(refusals.join("\n"), /already passed through 6 exchanges/);
});
