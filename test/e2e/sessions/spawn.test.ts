// sessions_spawn, agents_list and /subagents as the documents have them: what a child is given, how it ends, who is told.
import assert from "node:assert/strict";
import { after, before, beforeEach, describe, test } from "node:test";

import { until } from "../../harness/exec.ts";
import { fail, hang, say } from "../../fakes/openai.ts";
import { invoke } from "../../harness/gateway.ts";
import { chat, textOf } from "../../harness/model.ts";
import {
  atRest,
  isResult,
  openTwoAgents,
  rowsOf,
  untilSaid,
  type TwoAgents,
  type Turn,
} from "../../harness/sessions.ts";

let agents: TwoAgents;
let count = 0;
/** Each test has its own session, so that it sees no messages of another. */
let here = "";

describe("sessions_spawn and agents_list (conformance check 10)", () => {
  before(async () => {
    const list = [
      { id: "main", default: true, subagents: { allowAgents: ["helper"] } },
      { id: "helper", tools: { deny: ["exec"] }, subagents: { model: "fake/fake-2" } },
      { id: "other" },
    ];
    agents = await openTwoAgents({ more: { agents: { list } } });
  });
  after(() => agents.close());
  beforeEach(async () => {
    count += 1;
    await atRest(agents);
    here = `agent:main:parent-${count}`;
    agents.play(() => say("ready"));
    await chat(agents.wire, here, "begin", `begin-${here}`);
  });

  test("returns accepted immediately, without waiting for the work", async () => {
    const { promise, resolve } = Promise.withResolvers<ReturnType<typeof say>>();
    agents.play((turn) => (isResult(turn) ? say("It is done.") : promise));
    const answer = await agents.call("sessions_spawn", { task: "take your time" }, here);
    assert.equal(answer["status"], "accepted");
    assert.match(String(answer["childSessionKey"]), /^agent:main:subagent:[0-9a-f-]{36}$/);
    assert.match(String(answer["runId"]), /^[0-9a-f-]{36}$/);
    resolve(say("the work"));
    await untilSaid(agents.wire, here, /^assistant: It is done\./);
  });

  test("announces the result to the requester's chat with status, result, notes and figures", async () => {
    agents.play((turn) => say(isResult(turn) ? "Summary for you." : "42 files"));
    await agents.call("sessions_spawn", { task: "count the files", label: "counter" }, here);
    await untilSaid(agents.wire, here, /^assistant: Summary for you\./);
    const notice = (await agents.history(here)).find((line) => line.includes("[Subagent]")) ?? "";
    assert.match(notice, /“counter”[\s\S]*Task: count the files\nStatus: ok\nResult:\n<outside [0-9a-f]+ source=/);
    assert.match(notice, /42 files/);
    assert.match(
      notice,
      /Stats: runtime [\d.]+s, tokens \d+ in \/ \d+ out \/ \d+ total, cost \$[\d.]+, sessionKey agent:main:subagent:/,
    );
  });

  test("NO_REPLY and ANNOUNCE_SKIP of the requester keep the chat silent", async () => {
    for (const token of ["NO_REPLY", "ANNOUNCE_SKIP"]) {
      agents.play((turn) => say(isResult(turn) ? token : "a result"));
      const before = agents.wire.frames.length;
      const { runId } = await agents.call("sessions_spawn", { task: "x" }, here);
      const end = await until(
        () =>
          agents.wire.frames
            .slice(before)
            .map((frame) => frame.payload as { runId?: string; state?: string; message?: unknown } | undefined)
            .find((payload) => payload?.runId === `${String(runId)}:announce` && payload.state === "final"),
        (frame) => frame !== undefined,
      );
      assert.equal(end?.message, undefined);
    }
  });

  test("a subagent has the minimal prompt, only its own tools, and a model by rule", async () => {
    agents.play((turn) => say(isResult(turn) ? "NO_REPLY" : "ok"));
    await agents.call("sessions_spawn", { task: "task-one", agentId: "helper" }, here);
    await agents.call("sessions_spawn", { task: "task-two", model: "fake/fake-2", thinking: "low" }, here);
    await agents.call("sessions_spawn", { task: "task-three" }, here);
    const of = (task: string): Turn | undefined => agents.turns().find(({ first }) => first === task);
    await until(
      () => ["task-one", "task-two", "task-three"].every((task) => of(task) !== undefined),
      (all) => all,
    );
    assert.deepEqual(
      [of("task-one")?.model, of("task-two")?.model, of("task-three")?.model],
      ["fake-2", "fake-2", "fake-1"],
    );
    assert.match(of("task-one")?.system ?? "", /Another agent started you for the task/);
    assert.deepEqual(
      of("task-three")?.tools.filter((name) => /^(session|agents|cron|gateway|memory)/.test(name)),
      [],
    );
    assert.ok(of("task-three")?.tools.includes("exec"));
    assert.ok(!of("task-one")?.tools.includes("exec"));
  });

  test("refuses a model that no provider lists and names the known ones; accepts a bare id that one provider has", async () => {
    agents.play((turn) => say(isResult(turn) ? "NO_REPLY" : "ok"));
    for (const model of ["nowhere/big", "fake/big", "big"])
      assert.match(
        JSON.stringify(await agents.call("sessions_spawn", { task: "x", model }, here)),
        /there is no model .*known: fake\/fake-1, fake\/fake-2/,
        model,
      );
    const bare = await agents.call("sessions_spawn", { task: "x", model: "fake-2", timeoutSeconds: 60 }, here);
    assert.deepEqual([bare["status"], bare["warning"]], ["accepted", undefined]);
    const empty = await agents.call("sessions_spawn", { task: "x", model: " " }, here);
    assert.match(JSON.stringify(empty), /model is empty/);
  });

  test("a blank task or message starts nothing", async () => {
    for (const [tool, args] of [
      ["sessions_spawn", { task: " \n" }],
      ["sessions_send", { sessionKey: "agent:helper:main", message: "\t " }],
    ] as const) {
      const { status, body } = await invoke(agents.gateway, tool, args);
      assert.equal(status, 400);
      assert.match(JSON.stringify(body), /is blank.*tool\.bad-arguments/);
    }
    assert.ok(!agents.turns().some(({ first }) => first.trim() === ""));
  });

  test("refuses an agent that is not allowed, and a spawn from a subagent", async () => {
    const other = await agents.call("sessions_spawn", { task: "x", agentId: "other" }, here);
    assert.deepEqual(other, {
      status: "forbidden",
      error: "agentId is not allowed for sessions_spawn (allowed: helper)",
    });
    agents.play((turn) => say(isResult(turn) ? "NO_REPLY" : "ok"));
    const { childSessionKey } = await agents.call("sessions_spawn", { task: "x" }, here);
    const nested = await agents.call("sessions_spawn", { task: "y" }, String(childSessionKey));
    assert.match(JSON.stringify(nested), /refused|forbidden|subagent/);
  });

  test("runTimeoutSeconds ends the run as a timeout and says so; the session stays", async () => {
    agents.play((turn) => (isResult(turn) ? say("It ran out of time.") : hang("after")));
    const { childSessionKey } = await agents.call("sessions_spawn", { task: "x", runTimeoutSeconds: 3 }, here);
    await untilSaid(agents.wire, here, /Status: timeout[\s\S]*Notes: stopped: the run took longer/);
    const history = await agents.history(String(childSessionKey));
    assert.equal(history[0], "user: x");
  });

  test("a failed subagent is a clear failure in the chat", async () => {
    agents.play((turn) => (isResult(turn) ? say("It failed.") : fail(400, { error: { message: "model exploded" } })));
    await agents.call("sessions_spawn", { task: "x", label: "bomb" }, here);
    await untilSaid(agents.wire, here, /“bomb”, which you started, failed[\s\S]*Status: error/);
  });

  test("cleanup delete removes the subagent's session after its result was delivered; keep leaves it", async () => {
    agents.play((turn) => say(isResult(turn) ? "told" : "ok"));
    const gone = await agents.call("sessions_spawn", { task: "x", cleanup: "delete" }, here);
    const kept = await agents.call("sessions_spawn", { task: "y", cleanup: "keep" }, here);
    await untilSaid(agents.wire, here, /^assistant: told/, 2);
    const keys = await until(
      async () => rowsOf(await agents.call("sessions_list", { limit: 200 }, here)).map(({ key }) => key),
      (list) => !list.includes(String(gone["childSessionKey"])),
    );
    assert.ok(keys.includes(String(kept["childSessionKey"])));
  });

  test("agents_list shows which agents this session may start, itself first", async () => {
    assert.deepEqual(await agents.call("agents_list", {}, here), {
      requester: "main",
      allowAny: false,
      agents: [
        { id: "main", configured: true },
        { id: "helper", configured: true },
      ],
    });
  });

  test("/subagents lists, shows, reads, messages and stops them; /stop ends them and says how many", async () => {
    agents.play((turn) => {
      if (isResult(turn)) return say("NO_REPLY");
      return turn.text === "more?" ? say("more indeed") : turn.first === "stay" ? hang("after") : say("the end");
    });
    const first = await agents.call("sessions_spawn", { task: "quick", label: "quick" }, here);
    await until(
      async () => textOf(await chat(agents.wire, here, "/subagents list", crypto.randomUUID())),
      (text) => /1\. quick: completed/.test(text),
    );
    const say2 = async (words: string): Promise<string> =>
      textOf(await chat(agents.wire, here, words, crypto.randomUUID()));
    assert.match(await say2("/subagents info 1"), /Task: quick[\s\S]*Result: the end/);
    assert.match(await say2(`/subagents log ${String(first["runId"]).slice(0, 8)}`), /user: quick\nassistant: the end/);
    assert.equal(await say2(`/subagents send ${String(first["childSessionKey"])} more?`), "more indeed");
    await agents.call("sessions_spawn", { task: "stay", label: "stayer" }, here);
    assert.match(await say2("/subagents"), /1 running, 1 ended/);
    assert.match(await say2("/subagents stop last"), /Stopped 1 subagent: stayer/);
    await untilSaid(agents.wire, here, /^assistant: Subagent “stayer” was stopped before it finished/);
    await agents.call("sessions_spawn", { task: "stay" }, here);
    await agents.call("sessions_spawn", { task: "stay" }, here);
    assert.match(await say2("/stop"), /[Ss]topped 2 subagents/);
    assert.match(await say2("/subagents stop all"), /None of these is running/);
  });
});
