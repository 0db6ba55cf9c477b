// Two agents talk, one of them gives work to three sub-agents, one of those is killed: what the person sees of it.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { until } from "../../harness/exec.ts";
import { call, calls, hang, say } from "../../fakes/openai.ts";
import { chat, textOf } from "../../harness/model.ts";
import { openStage, untilSaid, type Stage, type Turn } from "../../harness/sessions.ts";

let stage: Stage;
before(async () => {
  stage = await openStage({
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
after(() => stage.close());

test("two agents hold a ping-pong, one spawns three children, one is killed: three results, one a clear failure", async () => {
  stage.play(play);
  const end = await chat(stage.wire, "main", "plan the move with helper, then get it done", "run-plan");
  assert.equal(textOf(end), "Three are at work.");

  // The talk: the first answer as the tool's result, then back and forth as far as the config lets it.
  await untilSaid(stage.wire, "agent:helper:main", /^assistant: We settled the plan/);
  const talk = stage.turns().filter(({ text }) => text.startsWith("[Reply from"));
  assert.deepEqual(
    talk.map(({ text }) => /turn \d of \d/.exec(text)?.[0]),
    ["turn 1 of 2", "turn 2 of 2"],
  );

  // Three children with models and tools of their own.
  const childOf = (task: string): Turn | undefined => stage.turns().find(({ first }) => first === task);
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

  // One is killed from outside, as a program would: its session is aborted.
  const listed = textOf(await chat(stage.wire, "main", "/subagents list", "run-list"));
  assert.match(listed, /waiter: at work/);
  const { payload } = await stage.wire.request("sessions.list", { label: "waiter" });
  const [victim] = (payload as unknown as { sessions: { key: string }[] }).sessions;
  await stage.wire.request("chat.abort", { sessionKey: victim?.key });

  const results = await untilSaid(stage.wire, "main", /^assistant: (?:Packed|Booked|The waiter)/, 3);
  assert.deepEqual(results.toSorted(), [
    "assistant: Booked: seat 7.",
    "assistant: Packed: 3 boxes.",
    "assistant: The waiter was stopped before it finished.",
  ]);
  const notices = (await stage.history("main")).filter((line) => line.startsWith("user: [Sub-agent]"));
  assert.deepEqual(notices.map((line) => /Status: (\w+)/.exec(line)?.[1] ?? "").toSorted(), ["killed", "ok", "ok"]);
});

/** The model: every session by what it was told last. */
function play(turn: Turn) {
  const { text, first, role } = turn;
  if (first === "pack") return say("3 boxes");
  if (first === "book") return say("seat 7");
  if (first === "wait") return hang("after");
  if (text.startsWith("[Sub-agent]")) return say(wordsFor(text));
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

test("sub-agents run so many at a time (subagents.maxConcurrent); the others wait their turn, and all are told", async (t) => {
  const lanes = await openStage({ more: { agents: { defaults: { subagents: { maxConcurrent: 2 } } } } });
  t.after(() => lanes.close());
  const gate = Promise.withResolvers<void>();
  let [working, most] = [0, 0];
  lanes.play(async ({ first, text }) => {
    if (text.includes("[Sub-agent]")) return say("One more is done.");
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
