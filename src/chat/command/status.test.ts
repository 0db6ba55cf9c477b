// /status, /stop, /usage and other small commands.
import assert from "node:assert/strict";
import { describe, test } from "node:test";

import type { Config } from "../../config/schema/index.ts";
import { noUsage } from "../../agent/ledger.ts";
import { key, models, NOW, openChat } from "../fixture.cases.ts";

describe("/stop", () => {
  test("stops every other run and reports how many", async () => {
    const chat = await openChat({ running: ["one", "two"] });
    assert.equal(await chat.answer("stop"), "Stopped 2 runs.");
    assert.deepEqual(chat.asked, ["abort one: stopped by /stop", "abort two: stopped by /stop"]);
    assert.deepEqual([...chat.running], ["own"]);
    assert.equal(await chat.answer("/stop"), "Nothing is running here.");
  });
});

describe("/status", () => {
  test("shows one card", async () => {
    const chat = await openChat({ models, running: ["one"] });
    const usage = { input: 1200, output: 34, cacheRead: 0, cacheWrite: 0, totalTokens: 1234 };
    const totals = { ...noUsage, ...usage, costUsd: 0.0123, calls: 2 };
    await (
      await chat.ledger.book({
        agentId: "main",
        sessionKey: key,
        used: [{ provider: "openai", model: "mini", totals }],
      })
    )();
    await chat.answer("/model 2 /verbose on");
    assert.equal(
      await chat.answer("/status"),
      [
        "OpenClaw 1.2.3",
        `Session: ${key}, last used ${new Date(NOW).toISOString()}`,
        "Model: anthropic/claude (chosen for this session)",
        "Context: 0 of 200,000 (0%) tokens, compacted 0 times",
        "Used: 1,200 tokens in, 34 out, $0.01",
        "Thinking: low (default), reasoning: off, verbose: on",
        "Queue: collect (wait 1000 ms, keep 20, then drop summarize); 1 running or waiting",
        "Sandbox: OFF; tools act on this computer with your rights",
      ].join("\n"),
    );
  });

  test("works for a session that does not exist, without creating it", async () => {
    const chat = await openChat();
    const card = await chat.answer("/status");
    assert.match(card, /no messages yet/);
    assert.match(card, /Model: none; add one with: openclaw configure --section model/);
    assert.equal(await chat.store.sessions.get(key), undefined);
  });

  const sandboxes: readonly (readonly [mode: "all" | "non-main", line: RegExp])[] = [
    ["all", /Sandbox: on for this session \(mode all\)/],
    ["non-main", /Sandbox: off for this session \(mode non-main\)/],
  ];
  for (const [mode, line] of sandboxes) {
    test(`shows sandbox mode ${mode}`, async () => {
      const chat = await openChat({ config: { agents: { defaults: { sandbox: { mode } } } } });
      assert.match(await chat.answer("/status"), line);
    });
  }

  test("is answered as a note inside a message", async () => {
    const chat = await openChat({ models });
    const directed = await chat.say("all well? /status");
    assert.equal(directed.kind === "turn" && directed.text, "all well?");
    assert.match(directed.kind === "turn" ? (directed.notes[0] ?? "") : "", /^OpenClaw 1\.2\.3\n/);
  });
});

describe("smaller commands", () => {
  test("/usage sets what replies include and shows usage", async () => {
    const usage = { input: 2000, output: 500, cacheRead: 10, cacheWrite: 5, totalTokens: 2515 };
    const totals = { ...noUsage, ...usage, costUsd: 1.5, calls: 3 };
    const entry = { agentId: "main", used: [{ provider: "openai", model: "mini", totals }] };
    const chat = await openChat();
    await (
      await chat.ledger.book({ ...entry, sessionKey: key })
    )();
    await (
      await chat.ledger.book({ ...entry, sessionKey: "agent:main:other" })
    )();
    assert.equal(await chat.answer("/usage tokens"), "Replies now include: tokens.");
    assert.deepEqual(await chat.entry(), { responseUsage: "tokens" });
    assert.equal(
      await chat.answer("/usage cost"),
      [
        "This session: 2,000 tokens in, 500 out, cache 10 read and 5 written, 3 model calls, $1.50",
        "Agent main today: 4,000 tokens in, 1,000 out, cache 20 read and 10 written, 6 model calls, $3.00",
      ].join("\n"),
    );
    assert.match(await chat.answer("/usage"), /Replies include: tokens\.$/);
    assert.match(await chat.answer("/usage lots"), /Nothing was changed/);
  });

  test("/compact passes on what to keep", async () => {
    const chat = await openChat();
    assert.equal(await chat.answer("/compact keep the names"), "Summarized; 4 messages kept unchanged.");
    assert.equal(await chat.answer("/compact nothing"), "Not summarized: the session is short");
    await chat.answer("/compact");
    assert.deepEqual(chat.asked, ["compact: keep the names", "compact: nothing", "compact: -"]);
  });

  test("/send stores the delivery rule", async () => {
    const chat = await openChat();
    const after = async (message: string): Promise<unknown> => {
      await chat.answer(message);
      return (await chat.entry())["sendPolicy"];
    };
    assert.deepEqual(
      [await after("/send off"), await after("/send sideways"), await after("/send on"), await after("/send inherit")],
      ["deny", "deny", "allow", undefined],
    );
  });

  test("/config shows the config without secrets when it is enabled", async () => {
    const off = await openChat();
    assert.match(await off.answer("/config show"), /commands\.config true/);
    const config: Config = { commands: { config: true }, gateway: { auth: { token: "very-secret" } } };
    const on = await openChat({ config });
    assert.doesNotMatch(await on.answer("/config show"), /very-secret/);
    assert.equal(await on.answer("/config get commands.config"), "```json\ntrue\n```");
    assert.equal(await on.answer("/config get no.such"), "Config path not found: no.such");
    assert.match(await on.answer("/config set commands.bash"), /Usage.*Nothing was changed/);
    assert.match(await on.answer("/config set commands.bash=true"), /only inside the running gateway/);
  });

  test("/whoami shows sender and channel", async () => {
    const chat = await openChat();
    assert.equal(
      await chat.answer("/id"),
      `You write through: chat\nSession: ${key}\nAgent: main\nYou may use commands.`,
    );
  });

  test("/context measures the tools", async () => {
    const chat = await openChat({ config: { tools: { allow: ["read"] } } });
    assert.match(await chat.answer("/context"), /^1 tool: [\d,]+ characters, about [\d,]+ tokens\n/);
    assert.match(await chat.answer("/context detail"), /\n {2}read: /);
    const shown = JSON.parse((await chat.answer("/context json")).replaceAll(/```(?:json)?/g, "")) as {
      tools: unknown[];
    };
    assert.equal(shown.tools.length, 1);
  });

  test("/help and /commands come from the command list", async () => {
    const chat = await openChat();
    const names = (text: string): string[] => [...text.matchAll(/^\/([a-z]+)/gm)].map((match) => match[1] ?? "");
    assert.deepEqual(names(await chat.answer("/help")), [
      "new",
      "stop",
      "status",
      "model",
      "think",
      "usage",
      "compact",
      "tool",
    ]);
    assert.equal(
      names(await chat.answer("/commands")).join(" "),
      "help commands status whoami new stop subagents model think verbose reasoning elevated exec queue usage context compact undo tool bash approve send config debug restart",
    );
  });
});
