// sessions_list, sessions_history and session_status as the documents have them, and what a sandboxed session sees.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";

import { call, say } from "../../fakes/openai.ts";
import { chat } from "../../harness/model.ts";
import { isResult, openTwoAgents, rowsOf, type SessionRow, type TwoAgents } from "../../harness/sessions.ts";

let agents: TwoAgents;

describe("sessions_list, sessions_history and session_status", () => {
  before(async () => {
    agents = await openTwoAgents({
      more: {
        agents: {
          list: [{ id: "main", default: true, subagents: { allowAgents: ["*"] } }, { id: "helper" }],
          defaults: { models: { "fake/fake-1": {}, "fake/fake-2": { alias: "two" } } },
        },
      },
    });
    agents.play((turn) => (turn.role === "user" ? call("session_status", {}) : say("seen")));
    for (const key of [
      "main",
      "agent:main:telegram:group:-5",
      "agent:main:cron:j1",
      "agent:main:hook:h1",
      "agent:main:notes",
    ])
      await chat(agents.wire, key, `hello ${key}`, `list-${key}`);
    await chat(agents.wire, "agent:helper:main", "hello", "list-helper");
  });
  after(() => agents.close());

  test("main is the canonical key; global, unknown and other agents' sessions are hidden", async () => {
    const keys = rowsOf(await agents.call("sessions_list", {})).map(({ key }) => key);
    assert.ok(keys.includes("agent:main:main"));
    assert.deepEqual(
      keys.filter((key) => key === "global" || key === "unknown" || key.startsWith("agent:helper:")),
      [],
    );
    assert.equal((await agents.call("sessions_history", { sessionKey: "main" }))["sessionKey"], "agent:main:main");
  });

  test("kinds, activeMinutes and limit filter", async () => {
    const keysOf = async (args: unknown): Promise<string[]> =>
      rowsOf(await agents.call("sessions_list", args)).map(({ key }) => key);
    assert.deepEqual(await keysOf({ kinds: ["group"] }), ["agent:main:telegram:group:-5"]);
    assert.deepEqual(await keysOf({ kinds: ["cron", "hook"] }), ["agent:main:hook:h1", "agent:main:cron:j1"]);
    assert.deepEqual(await keysOf({ kinds: ["main"] }), ["agent:main:main"]);
    assert.deepEqual(await keysOf({ kinds: ["other"] }), ["agent:main:notes"]);
    assert.equal((await keysOf({ limit: 2 })).length, 2);
    assert.equal((await keysOf({ activeMinutes: 30 })).length, 5);
  });

  test("channel shows where a session was last used: the page, a platform or internal; rows have the recorded fields", async () => {
    const rows = rowsOf(await agents.call("sessions_list", { limit: 200 })) as (SessionRow & Record<string, unknown>)[];
    const row = (key: string) => rows.find((one) => one.key === key);
    assert.equal(row("agent:main:hook:h1")?.["channel"], "internal");
    assert.equal(row("agent:main:cron:j1")?.["channel"], "internal");
    const { updatedAt, sessionId, totalTokens, ...main } =
      row("agent:main:main") ?? ({} as SessionRow & Record<string, unknown>);
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

  test("messageLimit above 0 adds the last messages of each session without tool results", async () => {
    const rows = rowsOf(await agents.call("sessions_list", { kinds: ["main"], messageLimit: 5 }));
    const roles = rows[0]?.messages?.map(({ role }) => role);
    assert.deepEqual(roles, ["user", "assistant", "assistant"]);
    assert.equal(rowsOf(await agents.call("sessions_list", { kinds: ["main"] }))[0]?.messages, undefined);
  });

  test("sessions_history filters tool results unless includeTools is set, and accepts a session id", async () => {
    const roles = async (args: object): Promise<string[]> =>
      ((await agents.call("sessions_history", args))["messages"] as { role: string }[]).map(({ role }) => role);
    assert.deepEqual(await roles({ sessionKey: "main" }), ["user", "assistant", "assistant"]);
    assert.deepEqual(await roles({ sessionKey: "main", includeTools: true }), [
      "user",
      "assistant",
      "toolResult",
      "assistant",
    ]);
    assert.deepEqual(await roles({ sessionKey: "main", limit: 1 }), ["assistant"]);
    const [row] = rowsOf(await agents.call("sessions_list", { kinds: ["main"] })) as (SessionRow & {
      sessionId: string;
    })[];
    assert.equal((await roles({ sessionId: row?.sessionId })).length, 3);
  });

  test("session_status sets the model within the allow list, and default clears it", async () => {
    const set = await agents.call("session_status", { model: "two" });
    assert.deepEqual([set["ok"], set["changedModel"]], [true, true]);
    assert.match(String(set["statusText"]), /Model: fake\/fake-2 \(set for this session\), auth ready/);
    const refused = await agents.call("session_status", { model: "fake/fake-9" });
    assert.match(
      JSON.stringify(refused),
      /model \\"fake\/fake-9\\" is not allowed here .*known: fake\/fake-1, fake\/fake-2/,
    );
    const nowhere = await agents.call("session_status", { model: "nowhere/thing" });
    assert.match(
      JSON.stringify(nowhere),
      /model \\"nowhere\/thing\\" is not allowed here .*known: fake\/fake-1, fake\/fake-2/,
    );
    const bare = await agents.call("session_status", { model: "FAKE-2" });
    assert.match(String(bare["statusText"]), /Model: fake\/fake-2 \(set for this session\)/);
    const cleared = await agents.call("session_status", { model: "default" });
    assert.match(String(cleared["statusText"]), /Model: fake\/fake-1, auth ready/);
  });

  test("session_status reports time, session, tokens, host, levels, queue and usage, of this session by default", async () => {
    const { statusText, sessionKey } = await agents.call("session_status", {}, "agent:main:notes");
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
    const answer = await agents.call("agents_list", {});
    assert.equal(answer["allowAny"], true);
    assert.deepEqual(
      (answer["agents"] as { id: string }[]).map(({ id }) => id),
      ["main", "helper"],
    );
  });
});

describe("a sandboxed session (conformance check 11)", () => {
  before(async () => {
    agents = await openTwoAgents({ more: { agents: { defaults: { sandbox: { mode: "non-main" } } } } });
  });
  after(() => agents.close());

  test("with sessionToolsVisibility spawned sees only itself and the sessions it started", async () => {
    await chat(agents.wire, "main", "hello", "sb-1");
    await chat(agents.wire, "agent:main:boxed", "hello", "sb-2");
    agents.play((turn) => say(isResult(turn) ? "NO_REPLY" : "ok"));
    const { childSessionKey } = await agents.call("sessions_spawn", { task: "x" }, "agent:main:boxed");
    const keys = rowsOf(await agents.call("sessions_list", {}, "agent:main:boxed")).map(({ key }) => key);
    assert.deepEqual(new Set(keys), new Set(["agent:main:boxed", childSessionKey]));
    const sent = await agents.call("sessions_send", { sessionKey: "main", message: "hi" }, "agent:main:boxed");
    assert.equal(sent["status"], "forbidden");
  });
});
