// sessions_spawn, agents_list and /subagents as the documents have them: what a child is given, how it ends, who is told.
import assert from "node:assert/strict";
import { after, before, beforeEach, describe, test } from "node:test";

import { until } from "../../harness/exec.ts";
import { fail, hang, say } from "../../fakes/openai.ts";
import { invoke } from "../../harness/gateway.ts";
import { chat, textOf } from "../../harness/model.ts";
import { atRest, isResult, openStage, rowsOf, untilSaid, type Stage, type Turn } from "../../harness/sessions.ts";

let stage: Stage;
let count = 0;
/** A session of its own for each test, so that none hears of another's talk. */
let here = "";

describe("sessions_spawn and agents_list (conformance check 10)", () => {
  before(async () => {
    const list = [
      { id: "main", default: true, subagents: { allowAgents: ["helper"] } },
      { id: "helper", tools: { deny: ["exec"] }, subagents: { model: "fake/fake-2" } },
      { id: "other" },
    ];
    stage = await openStage({ more: { agents: { list } } });
  });
  after(() => stage.close());
  beforeEach(async () => {
    count += 1;
    await atRest(stage);
    here = `agent:main:parent-${count}`;
    stage.play(() => say("ready"));
    await chat(stage.wire, here, "begin", `begin-${here}`);
  });

  test("returns accepted at once, without waiting for the work", async () => {
    const { promise, resolve } = Promise.withResolvers<ReturnType<typeof say>>();
    stage.play((turn) => (isResult(turn) ? say("It is done.") : promise));
    const answer = await stage.call("sessions_spawn", { task: "take your time" }, here);
    assert.equal(answer["status"], "accepted");
    assert.match(String(answer["childSessionKey"]), /^agent:main:subagent:[0-9a-f-]{36}$/);
    assert.match(String(answer["runId"]), /^[0-9a-f-]{36}$/);
    resolve(say("the work"));
    await untilSaid(stage.wire, here, /^assistant: It is done\./);
  });

  test("the result is announced to the requester's chat with status, result, notes and figures", async () => {
    stage.play((turn) => say(isResult(turn) ? "Summary for you." : "42 files"));
    await stage.call("sessions_spawn", { task: "count the files", label: "counter" }, here);
    await untilSaid(stage.wire, here, /^assistant: Summary for you\./);
    const notice = (await stage.history(here)).find((line) => line.includes("[Sub-agent]")) ?? "";
    assert.match(notice, /“counter”[\s\S]*Task: count the files\nStatus: ok\nResult:\n<outside [0-9a-f]+ source=/);
    assert.match(notice, /42 files/);
    assert.match(
      notice,
      /Stats: runtime [\d.]+s, tokens \d+ in \/ \d+ out \/ \d+ total, cost \$[\d.]+, sessionKey agent:main:subagent:/,
    );
  });

  test("NO_REPLY and ANNOUNCE_SKIP of the requester keep the chat silent", async () => {
    for (const token of ["NO_REPLY", "ANNOUNCE_SKIP"]) {
      stage.play((turn) => say(isResult(turn) ? token : "a result"));
      const before = stage.wire.frames.length;
      const { runId } = await stage.call("sessions_spawn", { task: "x" }, here);
      const end = await until(
        () =>
          stage.wire.frames
            .slice(before)
            .map((frame) => frame.payload as { runId?: string; state?: string; message?: unknown } | undefined)
            .find((payload) => payload?.runId === `${String(runId)}:announce` && payload.state === "final"),
        (frame) => frame !== undefined,
      );
      assert.equal(end?.message, undefined);
    }
  });

  test("the child has the minimal prompt, its own tools only, and a model by rule", async () => {
    stage.play((turn) => say(isResult(turn) ? "NO_REPLY" : "ok"));
    await stage.call("sessions_spawn", { task: "task-one", agentId: "helper" }, here);
    await stage.call("sessions_spawn", { task: "task-two", model: "fake/fake-2", thinking: "low" }, here);
    await stage.call("sessions_spawn", { task: "task-three" }, here);
    const of = (task: string): Turn | undefined => stage.turns().find(({ first }) => first === task);
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

  test("refuses a model that no provider lists and names the known ones; takes a bare id that one provider has", async () => {
    stage.play((turn) => say(isResult(turn) ? "NO_REPLY" : "ok"));
    for (const model of ["nowhere/big", "fake/big", "big"])
      assert.match(
        JSON.stringify(await stage.call("sessions_spawn", { task: "x", model }, here)),
        /there is no model .*known: fake\/fake-1, fake\/fake-2/,
        model,
      );
    const bare = await stage.call("sessions_spawn", { task: "x", model: "fake-2", timeoutSeconds: 60 }, here);
    assert.deepEqual([bare["status"], bare["warning"]], ["accepted", undefined]);
    const empty = await stage.call("sessions_spawn", { task: "x", model: " " }, here);
    assert.match(JSON.stringify(empty), /model is empty/);
  });

  test("a blank task or message begins nothing", async () => {
    for (const [tool, args] of [
      ["sessions_spawn", { task: " \n" }],
      ["sessions_send", { sessionKey: "agent:helper:main", message: "\t " }],
    ] as const) {
      const { status, body } = await invoke(stage.gateway, tool, args);
      assert.equal(status, 400);
      assert.match(JSON.stringify(body), /is blank.*tool\.bad-arguments/);
    }
    assert.ok(!stage.turns().some(({ first }) => first.trim() === ""));
  });

  test("an agent that is not allowed is forbidden, and so is a spawn from a sub-agent", async () => {
    const other = await stage.call("sessions_spawn", { task: "x", agentId: "other" }, here);
    assert.deepEqual(other, {
      status: "forbidden",
      error: "agentId is not allowed for sessions_spawn (allowed: helper)",
    });
    stage.play((turn) => say(isResult(turn) ? "NO_REPLY" : "ok"));
    const { childSessionKey } = await stage.call("sessions_spawn", { task: "x" }, here);
    const nested = await stage.call("sessions_spawn", { task: "y" }, String(childSessionKey));
    assert.match(JSON.stringify(nested), /refused|forbidden|sub-agent/);
  });

  test("runTimeoutSeconds ends the run as a timeout, and says so; the session stays", async () => {
    stage.play((turn) => (isResult(turn) ? say("It ran out of time.") : hang("after")));
    const { childSessionKey } = await stage.call("sessions_spawn", { task: "x", runTimeoutSeconds: 3 }, here);
    await untilSaid(stage.wire, here, /Status: timeout[\s\S]*Notes: stopped: the run took longer/);
    const history = await stage.history(String(childSessionKey));
    assert.equal(history[0], "user: x");
  });

  test("a child that fails is a clear failure in the chat", async () => {
    stage.play((turn) => (isResult(turn) ? say("It failed.") : fail(400, { error: { message: "model exploded" } })));
    await stage.call("sessions_spawn", { task: "x", label: "bomb" }, here);
    await untilSaid(stage.wire, here, /“bomb”, which you started, failed[\s\S]*Status: error/);
  });

  test("cleanup delete takes the child's session away after it was told; keep leaves it", async () => {
    stage.play((turn) => say(isResult(turn) ? "told" : "ok"));
    const gone = await stage.call("sessions_spawn", { task: "x", cleanup: "delete" }, here);
    const kept = await stage.call("sessions_spawn", { task: "y", cleanup: "keep" }, here);
    await untilSaid(stage.wire, here, /^assistant: told/, 2);
    const keys = await until(
      async () => rowsOf(await stage.call("sessions_list", { limit: 200 }, here)).map(({ key }) => key),
      (list) => !list.includes(String(gone["childSessionKey"])),
    );
    assert.ok(keys.includes(String(kept["childSessionKey"])));
  });

  test("agents_list shows whom this session may start, itself first", async () => {
    assert.deepEqual(await stage.call("agents_list", {}, here), {
      requester: "main",
      allowAny: false,
      agents: [
        { id: "main", configured: true },
        { id: "helper", configured: true },
      ],
    });
  });

  test("/subagents lists, shows, reads, speaks to and stops them; /stop ends them and says how many", async () => {
    stage.play((turn) => {
      if (isResult(turn)) return say("NO_REPLY");
      return turn.text === "more?" ? say("more indeed") : turn.first === "stay" ? hang("after") : say("the end");
    });
    const first = await stage.call("sessions_spawn", { task: "quick", label: "quick" }, here);
    await until(
      async () => textOf(await chat(stage.wire, here, "/subagents list", crypto.randomUUID())),
      (text) => /1\. quick: completed/.test(text),
    );
    const say2 = async (words: string): Promise<string> =>
      textOf(await chat(stage.wire, here, words, crypto.randomUUID()));
    assert.match(await say2("/subagents info 1"), /Task: quick[\s\S]*Result: the end/);
    assert.match(await say2(`/subagents log ${String(first["runId"]).slice(0, 8)}`), /user: quick\nassistant: the end/);
    assert.equal(await say2(`/subagents send ${String(first["childSessionKey"])} more?`), "more indeed");
    await stage.call("sessions_spawn", { task: "stay", label: "stayer" }, here);
    assert.match(await say2("/subagents"), /1 at work, 1 ended/);
    assert.match(await say2("/subagents stop last"), /Stopped 1 sub-agent: stayer/);
    await untilSaid(stage.wire, here, /^assistant: Sub-agent “stayer” was stopped before it finished/);
    await stage.call("sessions_spawn", { task: "stay" }, here);
    await stage.call("sessions_spawn", { task: "stay" }, here);
    assert.match(await say2("/stop"), /[Ss]topped 2 sub-agents/);
    assert.match(await say2("/subagents stop all"), /Nothing of that is running/);
  });
});
