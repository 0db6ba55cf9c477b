// Two agents talk, one of them gives work to three subagents, one of those is stopped: what the person sees of it.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { until } from "../../harness/exec.ts";
import { call, calls, hang, say } from "../../fakes/openai.ts";
import { chat, textOf } from "../../harness/model.ts";
import { openTwoAgents, untilSaid, type TwoAgents, type Turn } from "../../harness/sessions.ts";

let agents: TwoAgents;
before(async () => {
  agents = await openTwoAgents({
    more: {
      agents: {
        list: [
          { id: "main", default: true, subagents: { allowAgents: ["helper", "reader"] } },
          { id: "helper", tools: { deny: ["exec", "process"] } },
          { id: "reader", tools: { allow: ["read"] } },
        ],
      },
      tools: { agentToAgent: { enabled: true, allow: ["main", "helper"] } },
      session: { agentToAgent: { maxPingPongTurns: 2 } },
    },
  });
});
after(() => agents.close());

test("two agents exchange messages, one spawns three subagents, one is stopped: three results, one a clear failure", async () => {
  agents.play(play);
  const end = await chat(agents.wire, "main", "plan the move with helper, then get it done", "run-plan");
  assert.equal(textOf(end), "Three are at work.");

  // The talk: the first answer as the tool's result, then back and forth as far as the config lets it.
  await untilSaid(agents.wire, "agent:helper:main", /^assistant: We settled the plan/);
  const talk = agents.turns().filter(({ text }) => text.startsWith("[Reply from"));
  assert.deepEqual(
    talk.map(({ text }) => /turn \d of \d/.exec(text)?.[0]),
    ["turn 1 of 2", "turn 2 of 2"],
  );

  // Three children with models and tools of their own.
  const childOf = (task: string): Turn | undefined => agents.turns().find(({ first }) => first === task);
  await until(
    () => ["pack", "book", "wait"].every((task) => childOf(task) !== undefined),
    (all) => all,
  );
  assert.deepEqual(
    ["pack", "book", "wait"].map((task) => childOf(task)?.model),
    ["fake-1", "fake-2", "fake-1"],
  );
  assert.ok(childOf("pack")?.tools.includes("exec"));
  assert.ok(!childOf("book")?.tools.includes("exec") && childOf("book")?.tools.includes("write"));
  assert.deepEqual(childOf("wait")?.tools, ["read"]);

  // One is stopped by another client: its session is aborted.
  const listed = textOf(await chat(agents.wire, "main", "/subagents list", "run-list"));
  assert.match(listed, /waiter: running/);
  const payload = await agents.wire.call("sessions.list", { label: "waiter" });
  const [victim] = payload.sessions;
  await agents.wire.request("chat.abort", { sessionKey: victim?.key });

  const results = await untilSaid(agents.wire, "main", /^assistant: (?:Packed|Booked|The waiter)/, 3);
  assert.deepEqual(results.toSorted(), [
    "assistant: Booked: seat 7.",
    "assistant: Packed: 3 boxes.",
    "assistant: The waiter was stopped before it finished.",
  ]);
  const notices = (await agents.history("main")).filter((line) => line.startsWith("user: [Subagent]"));
  assert.deepEqual(notices.map((line) => /Status: (\w+)/.exec(line)?.[1] ?? "").toSorted(), ["killed", "ok", "ok"]);
});

/** The model: every session by what it was told last. */
function play(turn: Turn) {
  const { text, first, role } = turn;
  if (first === "pack") return say("3 boxes");
  if (first === "book") return say("seat 7");
  if (first === "wait") return hang("after");
  if (text.startsWith("[Subagent]")) return say(wordsFor(text));
  if (text.startsWith("[Message from")) return say("First pack, then book.");
  if (text.startsWith("[Reply from")) return say("Agreed.");
  if (text.includes("Announce step")) return say("We settled the plan.");
  if (role === "tool" && text.includes("First pack")) return spawnThree();
  if (role === "tool") return say("Three are at work.");
  return call("sessions_send", { sessionKey: "agent:helper:main", message: "How do we move?" });
}

function wordsFor(notice: string): string {
  if (notice.includes("Status: killed")) return "The waiter was stopped before it finished.";
  return notice.includes("3 boxes") ? "Packed: 3 boxes." : "Booked: seat 7.";
}

function spawnThree() {
  return calls([
    { name: "sessions_spawn", args: { task: "pack", label: "packer" } },
    { name: "sessions_spawn", args: { task: "book", label: "booker", agentId: "helper", model: "fake/fake-2" } },
    { name: "sessions_spawn", args: { task: "wait", label: "waiter", agentId: "reader" } },
  ]);
}

test("subagents.maxConcurrent limits concurrent subagents; the others wait, and all report", async (t) => {
  const lanes = await openTwoAgents({ more: { agents: { defaults: { subagents: { maxConcurrent: 2 } } } } });
  t.after(() => lanes.close());
  const gate = Promise.withResolvers<void>();
  let [working, most] = [0, 0];
  lanes.play(async ({ first, text }) => {
    if (text.includes("[Subagent]")) return say("One more is done.");
    if (!first.includes("count sheep")) return say("hello");
    working += 1;
    most = Math.max(most, working);
    await gate.promise;
    working -= 1;
    return say("a hundred sheep");
  });
  for (const label of ["one", "two", "three", "four", "five"]) {
    const { status } = await lanes.call("sessions_spawn", { task: `count sheep ${label}`, label });
    assert.equal(status, "accepted");
  }
  await until(
    () => working,
    (now) => now === 2,
  );
  gate.resolve();
  await untilSaid(lanes.wire, "agent:main:main", /^assistant: One more is done\./, 5);
  assert.equal(most, 2);
});
