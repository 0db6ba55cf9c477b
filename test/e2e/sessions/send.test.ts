// sessions_send as the documents have it: waiting, talking back and forth, announcing, and what is forbidden.
import assert from "node:assert/strict";
import { after, before, beforeEach, describe, test } from "node:test";

import { until } from "../../harness/exec.ts";
import { call, fail, say } from "../../fakes/openai.ts";
import { chat } from "../../harness/model.ts";
import {
  atRest,
  isAnnounce,
  isReplyTurn,
  openTwoAgents,
  rowsOf,
  shownIn,
  untilSaid,
  type SessionRow,
  type TwoAgents,
} from "../../harness/sessions.ts";

const crossing = { tools: { agentToAgent: { enabled: true, allow: ["main", "helper"] } } };

let agents: TwoAgents;
let count = 0;
/** Each test has its own session, so that it sees no messages of another. */
let here = "";
let there = "";

describe("sessions_send (conformance check 9)", () => {
  before(async () => {
    agents = await openTwoAgents({ more: crossing });
  });
  after(() => agents.close());
  beforeEach(async () => {
    count += 1;
    await atRest(agents);
    here = `agent:main:here-${count}`;
    there = `agent:helper:there-${count}`;
    agents.play(() => say("ready"));
    for (const key of [here, there]) await chat(agents.wire, key, "begin", `begin-${key}`);
  });

  test("timeoutSeconds 0 does not wait: accepted with a run id, and the target still gets it", async () => {
    agents.play(() => say("REPLY_SKIP"));
    const answer = await agents.call("sessions_send", { sessionKey: there, message: "hi", timeoutSeconds: 0 }, here);
    assert.equal(answer["status"], "accepted");
    assert.match(String(answer["runId"]), /^[0-9a-f-]{36}$/);
    await untilSaid(agents.wire, there, /^user: \[Message from session agent:main:here/);
  });

  test("timeoutSeconds above 0 waits for the final completion: ok with the reply", async () => {
    agents.play((turn) => (turn.text.includes("what is 6*7") ? say("42") : say("REPLY_SKIP")));
    const answer = await agents.call("sessions_send", { sessionKey: there, message: "what is 6*7" }, here);
    assert.deepEqual(
      { status: answer["status"], reply: answer["reply"], sessionKey: answer["sessionKey"] },
      { status: "ok", reply: "42", sessionKey: there },
    );
  });

  test("a wait that expires returns timeout, and the run continues", async () => {
    const { promise, resolve } = Promise.withResolvers<ReturnType<typeof say>>();
    agents.play((turn) => (turn.text.startsWith("[Message from") ? promise : say("REPLY_SKIP")));
    const answer = await agents.call(
      "sessions_send",
      { sessionKey: there, message: "slow", timeoutSeconds: 0.3 },
      here,
    );
    assert.equal(answer["status"], "timeout");
    assert.match(String(answer["error"]), /the run continues/);
    resolve(say("done at last"));
    await untilSaid(agents.wire, there, /^assistant: done at last/);
  });

  test("a run that fails returns error", async () => {
    agents.play(() => fail(400, { error: { message: "no such thing" } }));
    const answer = await agents.call("sessions_send", { sessionKey: there, message: "hi" }, here);
    assert.equal(answer["status"], "error");
    assert.equal(typeof answer["error"], "string");
  });

  test("by session id, by key and by main; an unknown key is an error and creates no session", async () => {
    agents.play(() => say("REPLY_SKIP"));
    const rows = rowsOf(await agents.call("sessions_list", {}, here)) as (SessionRow & { sessionId: string })[];
    const id = rows.find(({ key }) => key === there)?.sessionId;
    const byId = await agents.call("sessions_send", { sessionId: id, message: "hi", timeoutSeconds: 0 }, here);
    assert.equal(byId["sessionKey"], there);
    const main = await agents.call("sessions_send", { sessionKey: "main", message: "hi", timeoutSeconds: 0 }, here);
    assert.deepEqual([main["status"], main["sessionKey"]], ["accepted", "agent:main:main"]);
    const unknown = await agents.call("sessions_send", { sessionKey: "agent:main:nobody", message: "hi" }, here);
    assert.equal(unknown["status"], "error");
    assert.match(String(unknown["error"]), /session not found/);
    const keys = rowsOf(await agents.call("sessions_list", { limit: 200 }, here)).map(({ key }) => key);
    assert.ok(!keys.includes("agent:main:nobody"));
    const mainOfHelper = { sessionKey: "agent:helper:main", message: "hi", timeoutSeconds: 0 };
    assert.equal((await agents.call("sessions_send", mainOfHelper, here))["status"], "accepted");
  });

  test("by label, and by agent id for the main session of that agent", async () => {
    await agents.wire.request("sessions.patch", { key: there, label: `desk-${count}` });
    const labeled = await agents.call(
      "sessions_send",
      { label: `desk-${count}`, message: "hi", timeoutSeconds: 0 },
      here,
    );
    assert.deepEqual([labeled["status"], labeled["sessionKey"]], ["accepted", there]);
    const byAgent = await agents.call("sessions_send", { agentId: "helper", message: "hi", timeoutSeconds: 0 }, here);
    assert.deepEqual([byAgent["status"], byAgent["sessionKey"]], ["accepted", "agent:helper:main"]);
    const none = await agents.call("sessions_send", { label: "nowhere", message: "hi" }, here);
    assert.match(String(none["error"]), /no session has the label "nowhere"; sessions_list shows the labels/);
  });

  test("a session cannot send to itself", async () => {
    const answer = await agents.call("sessions_send", { sessionKey: here, message: "hi" }, here);
    assert.deepEqual(answer, {
      status: "error",
      error: "a session cannot send to itself; reply in this conversation instead",
    });
  });

  test("replies go back and forth until one side answers REPLY_SKIP, which is not shown", async () => {
    agents.play((turn) => {
      if (isAnnounce(turn)) return say("ANNOUNCE_SKIP");
      if (turn.text.includes("turn 3 of 5")) return say("REPLY_SKIP");
      return say(isReplyTurn(turn) ? `answer to ${/turn (\d)/.exec(turn.text)?.[1]}` : "first");
    });
    const before = agents.turns().length;
    await agents.call("sessions_send", { sessionKey: there, message: "shall we?" }, here);
    const talk = await until(
      () => agents.turns().slice(before),
      (turns) => turns.some(isAnnounce),
    );
    assert.deepEqual(
      talk.map(({ text }) => /turn \d of \d|Announce step|Message from/.exec(text)?.[0]),
      ["Message from", "turn 1 of 5", "turn 2 of 5", "turn 3 of 5", "Announce step"],
    );
    const shown = await until(
      () => [shownIn(agents.wire, here), shownIn(agents.wire, there)],
      ([ours, theirs]) => ours?.length === 3 && theirs?.length === 4,
    );
    assert.deepEqual(shown, [
      ["ready", "answer to 1", undefined],
      ["ready", "first", "answer to 2", undefined],
    ]);
  });

  test("the exchange ends after session.agentToAgent.maxPingPongTurns, then the target announces in its chat", async () => {
    agents.play((turn) => say(isAnnounce(turn) ? "We agreed on Tuesday." : "go on"));
    const before = agents.turns().length;
    await agents.call("sessions_send", { sessionKey: there, message: "when?" }, here);
    await untilSaid(agents.wire, there, /^assistant: We agreed on Tuesday/);
    const talk = agents.turns().slice(before);
    assert.equal(talk.filter(isReplyTurn).length, 5);
    const announce = talk.find(isAnnounce)?.text ?? "";
    assert.match(announce, /Request:[\s\S]*when\?[\s\S]*first reply[\s\S]*go on[\s\S]*Latest reply/i);
  });

  test("a session that is answering cannot send back: an error, not a second exchange", async () => {
    agents.play((turn) => {
      if (turn.text.startsWith("[Message from") && turn.role === "user")
        return call("sessions_send", { sessionKey: here, message: "and you?" });
      return say(turn.role === "tool" ? "fine" : "REPLY_SKIP");
    });
    const answer = await agents.call("sessions_send", { sessionKey: there, message: "how are you?" }, here);
    assert.equal(answer["reply"], "fine");
    assert.ok(
      agents.turns().some(({ role, text }) => role === "tool" && /already exchanges messages with you/.test(text)),
    );
  });

  test("sessions of other agents need tools.agentToAgent; a send policy can deny it", async () => {
    await agents.wire.request("sessions.patch", { key: there, sendPolicy: "deny" });
    const answer = await agents.call("sessions_send", { sessionKey: there, message: "hi" }, here);
    assert.equal(answer["status"], "forbidden");
    assert.match(String(answer["error"]), /sendPolicy/);
  });
});

describe("sessions_send with session.agentToAgent.maxPingPongTurns 0 (conformance check 9)", () => {
  before(async () => {
    agents = await openTwoAgents({ more: { session: { agentToAgent: { maxPingPongTurns: 0 } } } });
  });
  after(() => agents.close());

  test("no reply goes back; ANNOUNCE_SKIP keeps the chat silent", async () => {
    await chat(agents.wire, "agent:main:quiet", "begin", "q1");
    agents.play((turn) => say(isAnnounce(turn) ? "ANNOUNCE_SKIP" : "noted"));
    const before = agents.turns().length;
    const answer = await agents.call("sessions_send", { sessionKey: "agent:main:quiet", message: "note this" });
    assert.equal(answer["reply"], "noted");
    const talk = await until(
      () => agents.turns().slice(before),
      (turns) => turns.some(isAnnounce),
    );
    assert.deepEqual(talk.map(isReplyTurn), [false, false]);
    const shown = await until(
      () => shownIn(agents.wire, "agent:main:quiet"),
      (texts) => texts.length === 3,
    );
    assert.deepEqual(shown, ["hello", "noted", undefined]);
    const other = await agents.call("sessions_send", { sessionKey: "agent:helper:main", message: "hi" });
    assert.equal(other["status"], "forbidden");
  });
});

for (const [title, rule, message] of [
  ["enabled without a list means all agents", { enabled: true }, undefined],
  [
    "an empty list names nobody, and both agents are named in the refusal",
    { enabled: true, allow: [] },
    /does not list main and helper; only the owner can add them/,
  ],
  [
    "a list with one of the two names the other in the refusal",
    { enabled: true, allow: ["main"] },
    /does not list helper; only the owner can add it/,
  ],
] as const) {
  test(`tools.agentToAgent: ${title}`, async (t) => {
    const opened = await openTwoAgents({ more: { tools: { agentToAgent: rule } } });
    t.after(() => opened.close());
    const answer = await opened.call("sessions_send", { agentId: "helper", message: "hi", timeoutSeconds: 0 });
    if (message === undefined) assert.equal(answer["status"], "accepted");
    else assert.match(String(answer["error"]), message);
  });
}
