// Levels, /exec and /queue: stored when alone, applied to one turn inside a message, unchanged by unknown values.
import assert from "node:assert/strict";
import { describe, test } from "node:test";

import type { Config } from "../config/schema/index.ts";
import { patchSession } from "../session/session.ts";
import type { OnceSettings } from "../agent/direct.ts";
import { key, NOW, models, openChat, turn } from "./fixture.cases.ts";

describe("levels", () => {
  const kept: readonly (readonly [message: string, entry: Record<string, unknown>, answer: RegExp])[] = [
    ["/think high", { thinkingLevel: "high" }, /^Thinking is now high/],
    ["/t: extra high", { thinkingLevel: "xhigh" }, /xhigh/],
    ["/thinking max", { thinkingLevel: "high" }, /high/],
    ["/verbose full", { verboseLevel: "full" }, /full/],
    ["/v off", { verboseLevel: "off" }, /off/],
    ["/reasoning stream", { reasoningLevel: "stream" }, /stream/],
    ["/elevated off", { elevatedLevel: "off" }, /off/],
    ["/think low /verbose on", { thinkingLevel: "low", verboseLevel: "on" }, /low[^]*\n[^]*on/],
    ["/think maybe", {}, /"maybe" is not a level[^]*Nothing was changed/],
    ["/elevated maybe", {}, /"maybe" is not a level/],
    ["/think", {}, /^Thinking: low \(default\)\. Choices: off, minimal, low, medium, high, xhigh\.$/],
    ["/verbose", {}, /^Verbose: off \(default\)/],
  ];
  for (const [message, entry, answer] of kept) {
    test(message, async () => {
      const chat = await openChat({ models });
      assert.match(await chat.answer(message), answer);
      assert.deepEqual(await chat.entry(), entry);
    });
  }

  const once: readonly (readonly [message: string, text: string, once: OnceSettings])[] = [
    ["hey /think high there", "hey there", { thinking: "high" }],
    ["/v on /reasoning on do it", "do it", { verbose: "on", reasoning: "on" }],
    ["do it /queue steer", "do it", { queue: "steer" }],
    ["hey /exec host=gateway", "hey", { exec: { host: "gateway" } }],
    ["hi /model 2", "hi", { model: "anthropic/claude" }],
    ["/model default hi", "hi", { model: "openai/gpt-5.2" }],
    ["hi", "hi", {}],
  ];
  for (const [message, text, settings] of once) {
    test(`${message}: for this turn only`, async () => {
      const chat = await openChat({ models });
      assert.deepEqual(await chat.say(message), turn(text, settings));
      assert.deepEqual(await chat.entry(), {});
    });
  }

  test("accepts xhigh only for models that support it", async () => {
    const chat = await openChat({ models: ["anthropic/claude"] });
    assert.match(await chat.answer("/think xhigh"), /GPT-5\.2 and Codex models only, not with claude/);
    assert.deepEqual(await chat.entry(), {});
  });

  test("marks the configured level as the default", async () => {
    const chat = await openChat({ config: { agents: { defaults: { thinkingDefault: "medium" } } } });
    assert.match(await chat.answer("/think"), /^Thinking: medium \(default\)/);
    await chat.answer("/think off");
    assert.match(await chat.answer("/think"), /^Thinking: off\./);
  });
});

describe("elevated", () => {
  const open: Config = { tools: { elevated: { allowFrom: { webchat: ["*"] } } } };
  test("is stored when every gate is open", async () => {
    const chat = await openChat({ config: open });
    assert.match(await chat.answer("/elev full"), /Elevated is now full/);
    assert.deepEqual(await chat.entry(), { elevatedLevel: "full" });
    assert.deepEqual(await chat.say("go /elevated on now"), turn("go now", { elevated: "on" }));
  });

  const closed: readonly (readonly [why: string, config: Config, gate: RegExp])[] = [
    ["no sender is listed", {}, /- tools\.elevated\.allowFrom\.webchat/],
    [
      "it is switched off",
      { tools: { elevated: { ...open.tools?.elevated, enabled: false } } },
      /- tools\.elevated\.enabled/,
    ],
    [
      "the agent forbids it",
      { ...open, agents: { list: [{ id: "main", tools: { elevated: { enabled: false } } }] } },
      /- agents\.list\[\]\.tools\.elevated\.enabled/,
    ],
    [
      "the agent lists others",
      { ...open, agents: { list: [{ id: "main", tools: { elevated: { allowFrom: { webchat: ["somebody"] } } } }] } },
      /- agents\.list\[\]\.tools\.elevated\.allowFrom\.webchat/,
    ],
    ["exec is denied", { tools: { ...open.tools, deny: ["exec"] } }, /exec is not allowed here/],
  ];
  for (const [why, config, gate] of closed) {
    test(`is rejected when ${why}`, async () => {
      const chat = await openChat({ config });
      assert.match(await chat.answer("/elevated full"), gate);
      assert.deepEqual(await chat.entry(), {});
      assert.equal((await chat.say("go /elevated full")).kind, "turn");
    });
  }

  test("APR-030 does not treat the recipient as the sender", async () => {
    const config = { tools: { elevated: { allowFrom: { telegram: ["42"] } } } };
    const chat = await openChat({ config });
    await patchSession(chat.store.sessions, key, NOW, { lastChannel: "telegram", lastTo: "42", origin: { from: "7" } });
    assert.match(await chat.answer("/elevated on"), /- tools\.elevated\.allowFrom\.telegram/);
    await patchSession(chat.store.sessions, key, NOW, { lastTo: "7", origin: { from: "42" } });
    assert.match(await chat.answer("/elevated on"), /now on/);
  });

  test("knows only the sender of the message in a group", async () => {
    const config = { tools: { elevated: { allowFrom: { telegram: ["42"] } } } };
    const chat = await openChat({ config });
    const sessionKey = "agent:main:telegram:group:9" as typeof key;
    await patchSession(chat.store.sessions, sessionKey, NOW, { origin: { from: "42" } });
    assert.match(await chat.answer("/elevated on", { sessionKey }), /not available/);
    const approver = { clientId: "telegram", surface: "telegram", sender: "42" };
    assert.match(await chat.answer("/elevated on", { sessionKey, approver }), /now on/);
  });

  test("shows the configured default, and why it is not available", async () => {
    const chat = await openChat({ config: { agents: { defaults: { elevatedDefault: "ask" } } } });
    assert.match(
      await chat.answer("/elevated"),
      /ask \(default\); not available here \(tools\.elevated\.allowFrom\.webchat\)/,
    );
  });

  test("is available for a listed session id, and only for that session", async () => {
    const config = { tools: { elevated: { allowFrom: { webchat: [key] } } } };
    const chat = await openChat({ config });
    assert.match(await chat.answer("/elevated on"), /now on/);
    const other = "agent:main:other" as typeof key;
    assert.match(await chat.answer("/elevated on", { sessionKey: other }), /not available/);
  });
});

describe("/exec", () => {
  test("stores, shows and rejects values", async () => {
    const chat = await openChat();
    assert.match(
      await chat.answer("/exec"),
      /host=sandbox \(default\) security=deny \(default\) ask=on-miss \(default\) node=any/,
    );
    await chat.answer("/exec host=gateway security=allowlist ask=on-miss node=Mac-1");
    const kept = { execHost: "gateway", execSecurity: "allowlist", execAsk: "on-miss", execNode: "Mac-1" };
    assert.deepEqual(await chat.entry(), kept);
    const shown =
      /host=gateway \(session\) security=allowlist \(session\) ask=on-miss \(session\) node=Mac-1 \(session\)/;
    assert.match(await chat.answer("/exec"), shown);
    for (const wrong of ["/exec host=moon", "/exec whatever", "/exec security=", "/exec ask=off host=mars"]) {
      assert.match(await chat.answer(wrong), /Usage: \/exec[^]*Nothing was changed/);
    }
    assert.deepEqual(await chat.entry(), kept);
  });

  test("shows where each value comes from", async () => {
    const chat = await openChat({
      config: {
        tools: { exec: { host: "node", ask: "always" } },
        agents: { list: [{ id: "main", tools: { exec: { host: "gateway", node: "lab" } } }] },
      },
    });
    await chat.answer("/exec ask=off");
    assert.match(
      await chat.answer("/exec"),
      /host=gateway \(agent\) security=allowlist \(default\) ask=off \(session\) node=lab \(agent\)/,
    );
  });

  test("resets a value to the config", async () => {
    const chat = await openChat();
    await chat.answer("/exec host=gateway ask=off node=lab");
    await chat.answer("/exec ask=default node=DEFAULT");
    assert.deepEqual(await chat.entry(), { execHost: "gateway" });
    assert.match(
      await chat.answer("run it /exec host=default"),
      /must be a separate message[^]*was not sent to a model/,
    );
  });

  test("applies to one message and is not stored inside a message", async () => {
    const chat = await openChat();
    assert.deepEqual(
      await chat.say("hey /exec host=gateway security=full ask=off node=lab"),
      turn("hey", { exec: { host: "gateway", security: "full", ask: "off", node: "lab" } }),
    );
    assert.deepEqual(await chat.entry(), {});
  });

  test("is plain text from a sender without commands", async () => {
    const chat = await openChat();
    for (const message of ["/exec host=gateway", "hey /exec host=gateway", "/elevated full", "! id", "/bash id"])
      assert.deepEqual(await chat.say(message, { authorised: false }), turn(message));
    assert.deepEqual(await chat.entry(), {});
  });

  test("keeps a message with a wrong value from the model", async () => {
    const chat = await openChat();
    assert.match(
      await chat.answer("run it /exec host=moon"),
      /"moon" is not a value of host[^]*was not sent to a model/,
    );
  });
});

describe("/queue", () => {
  test("stores mode and options, and clears them", async () => {
    const chat = await openChat();
    assert.equal(
      await chat.answer("/queue steer+backlog debounce:2s cap:25 drop:old"),
      "Queue: steer-backlog (wait 2000 ms, keep 25, then drop old).",
    );
    const kept = { queueMode: "steer-backlog", queueDebounceMs: 2000, queueCap: 25, queueDrop: "old" };
    assert.deepEqual(await chat.entry(), kept);
    for (const wrong of ["/queue sideways", "/queue cap:0", "/queue debounce:soon", "/queue drop:all"]) {
      assert.match(await chat.answer(wrong), /does not know[^]*Nothing was changed/);
    }
    assert.deepEqual(await chat.entry(), kept);
    await chat.answer("/queue default");
    assert.deepEqual(await chat.entry(), {});
    assert.match(await chat.answer("/queue"), /^Queue: collect \(wait 1000 ms, keep 20, then drop summarize\)/);
  });
});
