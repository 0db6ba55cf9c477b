// What the documents say of the sessions tools, statement by statement, against a real gateway and a scripted model.
import assert from "node:assert/strict";
import { after, before, beforeEach, describe, test } from "node:test";

import { until } from "../exec-kit.ts";
import { call, fail, hang, say } from "../fakes/openai.ts";
import { invoke } from "../kit.ts";
import { chat, textOf } from "../model-kit.ts";
import { atRest, openStage, untilSaid, type Stage, type Turn } from "../sessions-kit.ts";

const crossing = { tools: { agentToAgent: { enabled: true, allow: ["main", "helper"] } } };
const isAnnounce = ({ text }: Turn): boolean => text.includes("Announce step");
const isReplyTurn = ({ text }: Turn): boolean => text.startsWith("[Reply from");
const isResult = ({ text }: Turn): boolean => text.startsWith("[Sub-agent]");

interface Row {
  readonly key: string;
  readonly kind: string;
  readonly messages?: readonly { readonly role: string }[];
}
const rowsOf = (answer: Record<string, unknown>): Row[] => answer["sessions"] as Row[];

/** What open chats of a session were shown, run by run; undefined for silence. */
function shownIn(sessionKey: string): (string | undefined)[] {
  return stage.wire.frames.flatMap((frame) => {
    const chatFrame = frame.payload as
      | { sessionKey?: string; state?: string; message?: { content: { text: string }[] } }
      | undefined;
    if (frame.event !== "chat" || chatFrame?.sessionKey !== sessionKey || chatFrame.state === "delta") return [];
    return [chatFrame.message?.content.map(({ text }) => text).join("")];
  });
}

let stage: Stage;
let count = 0;
/** A session of its own for each test, so that none hears of another's talk. */
let here = "";
let there = "";

describe("sessions_send (conformance check 9)", () => {
  before(async () => {
    stage = await openStage({ more: crossing });
  });
  after(() => stage.close());
  beforeEach(async () => {
    count += 1;
    await atRest(stage);
    here = `agent:main:here-${count}`;
    there = `agent:helper:there-${count}`;
    stage.play(() => say("ready"));
    for (const key of [here, there]) await chat(stage.wire, key, "begin", `begin-${key}`);
  });

  test("timeoutSeconds 0 is fire and forget: accepted with a run id, and the target still gets it", async () => {
    stage.play(() => say("REPLY_SKIP"));
    const answer = await stage.call("sessions_send", { sessionKey: there, message: "hi", timeoutSeconds: 0 }, here);
    assert.equal(answer["status"], "accepted");
    assert.match(String(answer["runId"]), /^[0-9a-f-]{36}$/);
    await untilSaid(stage.wire, there, /^user: \[Message from session agent:main:here/);
  });

  test("timeoutSeconds above 0 waits for the final completion: ok with the reply", async () => {
    stage.play((turn) => (turn.text.includes("what is 6*7") ? say("42") : say("REPLY_SKIP")));
    const answer = await stage.call("sessions_send", { sessionKey: there, message: "what is 6*7" }, here);
    assert.deepEqual(
      { status: answer["status"], reply: answer["reply"], sessionKey: answer["sessionKey"] },
      { status: "ok", reply: "42", sessionKey: there },
    );
  });

  test("a wait that expires says timeout, and the run goes on", async () => {
    const { promise, resolve } = Promise.withResolvers<ReturnType<typeof say>>();
    stage.play((turn) => (turn.text.startsWith("[Message from") ? promise : say("REPLY_SKIP")));
    const answer = await stage.call("sessions_send", { sessionKey: there, message: "slow", timeoutSeconds: 0.3 }, here);
    assert.equal(answer["status"], "timeout");
    assert.match(String(answer["error"]), /the run goes on/);
    resolve(say("done at last"));
    await untilSaid(stage.wire, there, /^assistant: done at last/);
  });

  test("a run that fails says error", async () => {
    stage.play(() => fail(400, { error: { message: "no such thing" } }));
    const answer = await stage.call("sessions_send", { sessionKey: there, message: "hi" }, here);
    assert.equal(answer["status"], "error");
    assert.equal(typeof answer["error"], "string");
  });

  test("by session id, by key and by main; an unknown key is an error and makes no session", async () => {
    stage.play(() => say("REPLY_SKIP"));
    const rows = rowsOf(await stage.call("sessions_list", {}, here)) as (Row & { sessionId: string })[];
    const id = rows.find(({ key }) => key === there)?.sessionId;
    const byId = await stage.call("sessions_send", { sessionId: id, message: "hi", timeoutSeconds: 0 }, here);
    assert.equal(byId["sessionKey"], there);
    const main = await stage.call("sessions_send", { sessionKey: "main", message: "hi", timeoutSeconds: 0 }, here);
    assert.deepEqual([main["status"], main["sessionKey"]], ["accepted", "agent:main:main"]);
    const unknown = await stage.call("sessions_send", { sessionKey: "agent:main:nobody", message: "hi" }, here);
    assert.equal(unknown["status"], "error");
    assert.match(String(unknown["error"]), /session not found/);
    const keys = rowsOf(await stage.call("sessions_list", { limit: 200 }, here)).map(({ key }) => key);
    assert.ok(!keys.includes("agent:main:nobody"));
    const mainOfHelper = { sessionKey: "agent:helper:main", message: "hi", timeoutSeconds: 0 };
    assert.equal((await stage.call("sessions_send", mainOfHelper, here))["status"], "accepted");
  });

  test("a session cannot send to itself", async () => {
    const answer = await stage.call("sessions_send", { sessionKey: here, message: "hi" }, here);
    assert.deepEqual(answer, { status: "error", error: "a session cannot send to itself" });
  });

  test("the reply goes back and forth until one side answers REPLY_SKIP, which nobody is shown", async () => {
    stage.play((turn) => {
      if (isAnnounce(turn)) return say("ANNOUNCE_SKIP");
      if (turn.text.includes("turn 3 of 5")) return say("REPLY_SKIP");
      return say(isReplyTurn(turn) ? `answer to ${/turn (\d)/.exec(turn.text)?.[1]}` : "first");
    });
    const before = stage.turns().length;
    await stage.call("sessions_send", { sessionKey: there, message: "shall we?" }, here);
    const talk = await until(
      () => stage.turns().slice(before),
      (turns) => turns.some(isAnnounce),
    );
    assert.deepEqual(
      talk.map(({ text }) => /turn \d of \d|Announce step|Message from/.exec(text)?.[0]),
      ["Message from", "turn 1 of 5", "turn 2 of 5", "turn 3 of 5", "Announce step"],
    );
    const shown = await until(
      () => [shownIn(here), shownIn(there)],
      ([ours, theirs]) => ours?.length === 3 && theirs?.length === 4,
    );
    assert.deepEqual(shown, [
      ["ready", "answer to 1", undefined],
      ["ready", "first", "answer to 2", undefined],
    ]);
  });

  test("the talk ends after session.agentToAgent.maxPingPongTurns, then the target announces into its chat", async () => {
    stage.play((turn) => say(isAnnounce(turn) ? "We agreed on Tuesday." : "go on"));
    const before = stage.turns().length;
    await stage.call("sessions_send", { sessionKey: there, message: "when?" }, here);
    await untilSaid(stage.wire, there, /^assistant: We agreed on Tuesday/);
    const talk = stage.turns().slice(before);
    assert.equal(talk.filter(isReplyTurn).length, 5);
    const announce = talk.find(isAnnounce)?.text ?? "";
    assert.match(announce, /Request:[\s\S]*when\?[\s\S]*first reply[\s\S]*go on[\s\S]*Latest reply/i);
  });

  test("a session that is being talked to answers in its reply: sending back is an error, not a second talk", async () => {
    stage.play((turn) => {
      if (turn.text.startsWith("[Message from") && turn.role === "user")
        return call("sessions_send", { sessionKey: here, message: "and you?" });
      return say(turn.role === "tool" ? "fine" : "REPLY_SKIP");
    });
    const answer = await stage.call("sessions_send", { sessionKey: there, message: "how are you?" }, here);
    assert.equal(answer["reply"], "fine");
    assert.ok(stage.turns().some(({ role, text }) => role === "tool" && /is talking with you already/.test(text)));
  });

  test("sessions of other agents need tools.agentToAgent; a send policy that denies forbids", async () => {
    await stage.wire.request("sessions.patch", { key: there, sendPolicy: "deny" });
    const answer = await stage.call("sessions_send", { sessionKey: there, message: "hi" }, here);
    assert.equal(answer["status"], "forbidden");
    assert.match(String(answer["error"]), /sendPolicy/);
  });
});

describe("sessions_send with session.agentToAgent.maxPingPongTurns 0 (conformance check 9)", () => {
  before(async () => {
    stage = await openStage({ more: { session: { agentToAgent: { maxPingPongTurns: 0 } } } });
  });
  after(() => stage.close());

  test("no reply goes back; ANNOUNCE_SKIP keeps the chat silent", async () => {
    await chat(stage.wire, "agent:main:quiet", "begin", "q1");
    stage.play((turn) => say(isAnnounce(turn) ? "ANNOUNCE_SKIP" : "noted"));
    const before = stage.turns().length;
    const answer = await stage.call("sessions_send", { sessionKey: "agent:main:quiet", message: "note this" });
    assert.equal(answer["reply"], "noted");
    const talk = await until(
      () => stage.turns().slice(before),
      (turns) => turns.some(isAnnounce),
    );
    assert.deepEqual(talk.map(isReplyTurn), [false, false]);
    const shown = await until(
      () => shownIn("agent:main:quiet"),
      (texts) => texts.length === 3,
    );
    assert.deepEqual(shown, ["hello", "noted", undefined]);
    const other = await stage.call("sessions_send", { sessionKey: "agent:helper:main", message: "hi" });
    assert.equal(other["status"], "forbidden");
  });
});

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
    assert.match(of("task-one")?.system ?? "", /You were started for one task/);
    assert.deepEqual(
      of("task-three")?.tools.filter((name) => /^(session|agents|cron|gateway|memory)/.test(name)),
      [],
    );
    assert.ok(of("task-three")?.tools.includes("exec"));
    assert.ok(!of("task-one")?.tools.includes("exec"));
  });

  test("a model that is not allowed is skipped with a warning; an empty one is an error", async () => {
    stage.play((turn) => say(isResult(turn) ? "NO_REPLY" : "ok"));
    const answer = await stage.call("sessions_spawn", { task: "x", model: "nowhere/big" }, here);
    assert.equal(answer["status"], "accepted");
    assert.match(String(answer["warning"]), /nowhere\/big/);
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
    await untilSaid(stage.wire, here, /^assistant: Sub-agent “stayer” was stopped before it was done/);
    await stage.call("sessions_spawn", { task: "stay" }, here);
    await stage.call("sessions_spawn", { task: "stay" }, here);
    assert.match(await say2("/stop"), /[Ss]topped 2 sub-agents/);
    assert.match(await say2("/subagents stop all"), /Nothing of that is running/);
  });
});

describe("sessions_list, sessions_history and session_status", () => {
  before(async () => {
    stage = await openStage({
      more: {
        agents: {
          list: [{ id: "main", default: true, subagents: { allowAgents: ["*"] } }, { id: "helper" }],
          defaults: { models: { "fake/fake-1": {}, "fake/fake-2": { alias: "two" } } },
        },
      },
    });
    stage.play((turn) => (turn.role === "user" ? call("session_status", {}) : say("seen")));
    for (const key of [
      "main",
      "agent:main:telegram:group:-5",
      "agent:main:cron:j1",
      "agent:main:hook:h1",
      "agent:main:notes",
    ])
      await chat(stage.wire, key, `hello ${key}`, `list-${key}`);
    await chat(stage.wire, "agent:helper:main", "hello", "list-helper");
  });
  after(() => stage.close());

  test("main is the canonical key, global and unknown are hidden, other agents' sessions too", async () => {
    const keys = rowsOf(await stage.call("sessions_list", {})).map(({ key }) => key);
    assert.ok(keys.includes("agent:main:main"));
    assert.deepEqual(
      keys.filter((key) => key === "global" || key === "unknown" || key.startsWith("agent:helper:")),
      [],
    );
    assert.equal((await stage.call("sessions_history", { sessionKey: "main" }))["sessionKey"], "agent:main:main");
  });

  test("kinds, activeMinutes and limit filter", async () => {
    const keysOf = async (args: unknown): Promise<string[]> =>
      rowsOf(await stage.call("sessions_list", args)).map(({ key }) => key);
    assert.deepEqual(await keysOf({ kinds: ["group"] }), ["agent:main:telegram:group:-5"]);
    assert.deepEqual(await keysOf({ kinds: ["cron", "hook"] }), ["agent:main:hook:h1", "agent:main:cron:j1"]);
    assert.deepEqual(await keysOf({ kinds: ["main"] }), ["agent:main:main"]);
    assert.deepEqual(await keysOf({ kinds: ["other"] }), ["agent:main:notes"]);
    assert.equal((await keysOf({ limit: 2 })).length, 2);
    assert.equal((await keysOf({ activeMinutes: 30 })).length, 5);
  });

  test("channel says where a session was last spoken to: the page, a platform, or inside; rows have the recorded fields", async () => {
    const rows = rowsOf(await stage.call("sessions_list", { limit: 200 })) as (Row & Record<string, unknown>)[];
    const row = (key: string) => rows.find((one) => one.key === key);
    assert.equal(row("agent:main:hook:h1")?.["channel"], "internal");
    assert.equal(row("agent:main:cron:j1")?.["channel"], "internal");
    const { updatedAt, sessionId, totalTokens, ...main } =
      row("agent:main:main") ?? ({} as Row & Record<string, unknown>);
    assert.deepEqual([typeof updatedAt, typeof sessionId, typeof totalTokens], ["number", "string", "number"]);
    assert.deepEqual(main, {
      key: "agent:main:main",
      kind: "main",
      channel: "webchat",
      model: "fake-1",
      contextTokens: 200_000,
      systemSent: true,
      abortedLastRun: false,
      lastChannel: "webchat",
      deliveryContext: { channel: "webchat" },
    });
  });

  test("messageLimit above 0 brings the last messages of each, tool results left out", async () => {
    const rows = rowsOf(await stage.call("sessions_list", { kinds: ["main"], messageLimit: 5 }));
    const roles = rows[0]?.messages?.map(({ role }) => role);
    assert.deepEqual(roles, ["user", "assistant", "assistant"]);
    assert.equal(rowsOf(await stage.call("sessions_list", { kinds: ["main"] }))[0]?.messages, undefined);
  });

  test("sessions_history filters tool results unless includeTools is set, and takes a session id", async () => {
    const roles = async (args: object): Promise<string[]> =>
      ((await stage.call("sessions_history", args))["messages"] as { role: string }[]).map(({ role }) => role);
    assert.deepEqual(await roles({ sessionKey: "main" }), ["user", "assistant", "assistant"]);
    assert.deepEqual(await roles({ sessionKey: "main", includeTools: true }), [
      "user",
      "assistant",
      "toolResult",
      "assistant",
    ]);
    assert.deepEqual(await roles({ sessionKey: "main", limit: 1 }), ["assistant"]);
    const [row] = rowsOf(await stage.call("sessions_list", { kinds: ["main"] })) as (Row & { sessionId: string })[];
    assert.equal((await roles({ sessionId: row?.sessionId })).length, 3);
  });

  test("session_status sets the model within the allow list, and default clears it", async () => {
    const set = await stage.call("session_status", { model: "two" });
    assert.deepEqual([set["ok"], set["changedModel"]], [true, true]);
    assert.match(String(set["statusText"]), /Model: fake\/fake-2 \(set for this session\), auth ready/);
    const refused = await stage.call("session_status", { model: "fake/fake-9" });
    assert.match(JSON.stringify(refused), /Model \\"fake\/fake-9\\" is not allowed/);
    const nowhere = await stage.call("session_status", { model: "nowhere/thing" });
    assert.match(JSON.stringify(nowhere), /No model is called \\"nowhere\/thing\\": there is no provider nowhere/);
    const cleared = await stage.call("session_status", { model: "default" });
    assert.match(String(cleared["statusText"]), /Model: fake\/fake-1, auth ready/);
  });

  test("session_status tells time, session, tokens, place, levels, queue and usage, of this session by default", async () => {
    const { statusText, sessionKey } = await stage.call("session_status", {}, "agent:main:notes");
    assert.equal(sessionKey, "agent:main:notes");
    for (const line of [
      /^OpenClaw /,
      /\nTime: .*\(.+\), 20\d\d-/,
      /\nSession: agent:main:notes/,
      /\nContext: \d+ of 200000/,
    ])
      assert.match(String(statusText), line);
    for (const line of [
      /\nUsage: \d+ tokens in, \d+ out, \$/,
      /\nRuns: on this host/,
      /\nLevels: /,
      /\nQueue: collect/,
    ])
      assert.match(String(statusText), line);
  });

  test("agents_list with allowAgents * lists every configured agent and says allowAny", async () => {
    const answer = await stage.call("agents_list", {});
    assert.equal(answer["allowAny"], true);
    assert.deepEqual(
      (answer["agents"] as { id: string }[]).map(({ id }) => id),
      ["main", "helper"],
    );
  });
});

describe("a sandboxed session (conformance check 11)", () => {
  before(async () => {
    stage = await openStage({ more: { agents: { defaults: { sandbox: { mode: "non-main" } } } } });
  });
  after(() => stage.close());

  test("with sessionToolsVisibility spawned sees itself and what it started, and nothing else", async () => {
    await chat(stage.wire, "main", "hello", "sb-1");
    await chat(stage.wire, "agent:main:boxed", "hello", "sb-2");
    stage.play((turn) => say(isResult(turn) ? "NO_REPLY" : "ok"));
    const { childSessionKey } = await stage.call("sessions_spawn", { task: "x" }, "agent:main:boxed");
    const keys = rowsOf(await stage.call("sessions_list", {}, "agent:main:boxed")).map(({ key }) => key);
    assert.deepEqual(new Set(keys), new Set(["agent:main:boxed", childSessionKey]));
    const sent = await stage.call("sessions_send", { sessionKey: "main", message: "hi" }, "agent:main:boxed");
    assert.equal(sent["status"], "forbidden");
  });
});
