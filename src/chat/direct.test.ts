// Commands and directives over a real store and the real tools: what is answered, what is kept, what goes to the model.
import assert from "node:assert/strict";
import { describe, test } from "node:test";

import fc from "fast-check";

import type { Config } from "../config/schema/index.ts";
import { key, NOW, openChat } from "./house.cases.ts";
import type { OnceSettings } from "./command.ts";
import { createIsUrgent } from "./direct.ts";

const models = ["openai/gpt-5.2", "anthropic/claude", "openai/mini"];
const turn = (text: string, once: OnceSettings = {}, notes: string[] = []) => ({ kind: "turn", text, notes, once });

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
    ["/think maybe", {}, /"maybe" is no level[^]*Nothing was changed/],
    ["/elevated maybe", {}, /"maybe" is no level/],
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

  test("xhigh is for models that have it", async () => {
    const chat = await openChat({ models: ["anthropic/claude"] });
    assert.match(await chat.answer("/think xhigh"), /GPT-5\.2 and Codex models only, not with claude/);
    assert.deepEqual(await chat.entry(), {});
  });

  test("the configured level is shown as such", async () => {
    const chat = await openChat({ config: { agents: { defaults: { thinkingDefault: "medium" } } } });
    assert.match(await chat.answer("/think"), /^Thinking: medium \(default\)/);
    await chat.answer("/think off");
    assert.match(await chat.answer("/think"), /^Thinking: off\./);
  });
});

describe("elevated", () => {
  const open: Config = { tools: { elevated: { allowFrom: { webchat: ["*"] } } } };
  test("is kept when every gate is open", async () => {
    const chat = await openChat({ config: open });
    assert.match(await chat.answer("/elev full"), /Elevated is now full/);
    assert.deepEqual(await chat.entry(), { elevatedLevel: "full" });
    assert.deepEqual(await chat.say("go /elevated on now"), turn("go now", { elevated: "on" }));
  });

  const closed: readonly (readonly [why: string, config: Config, gate: RegExp])[] = [
    ["nobody is listed", {}, /- tools\.elevated\.allowFrom\.webchat/],
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
    test(`is refused when ${why}`, async () => {
      const chat = await openChat({ config });
      assert.match(await chat.answer("/elevated full"), gate);
      assert.deepEqual(await chat.entry(), {});
      assert.equal((await chat.say("go /elevated full")).kind, "turn");
    });
  }

  test("a session id on the list opens it, and only for that session", async () => {
    const config = { tools: { elevated: { allowFrom: { webchat: [key] } } } };
    const chat = await openChat({ config });
    assert.match(await chat.answer("/elevated on"), /now on/);
    const other = "agent:main:other" as typeof key;
    assert.match(await chat.answer("/elevated on", { sessionKey: other }), /not available/);
  });
});

describe("/exec", () => {
  test("keeps, shows and refuses", async () => {
    const chat = await openChat();
    assert.match(await chat.answer("/exec"), /host=\(configured\) security=\(configured\)/);
    await chat.answer("/exec host=gateway security=allowlist ask=on-miss node=Mac-1");
    const kept = { execHost: "gateway", execSecurity: "allowlist", execAsk: "on-miss", execNode: "Mac-1" };
    assert.deepEqual(await chat.entry(), kept);
    assert.match(await chat.answer("/exec"), /host=gateway security=allowlist ask=on-miss node=Mac-1/);
    for (const wrong of ["/exec host=moon", "/exec whatever", "/exec security=", "/exec ask=off host=mars"]) {
      assert.match(await chat.answer(wrong), /Usage: \/exec[^]*Nothing was changed/);
    }
    assert.deepEqual(await chat.entry(), kept);
  });

  test("a wrong value inside a message keeps it from the model", async () => {
    const chat = await openChat();
    assert.match(await chat.answer("run it /exec host=moon"), /"moon" is no host[^]*did not go to a model/);
  });
});

describe("/queue", () => {
  test("keeps mode and options, and clears them", async () => {
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

describe("/model", () => {
  const listed: Config = {
    agents: { defaults: { models: { "openai/gpt-5.2": { alias: "Fast" }, "anthropic/claude": {}, "groq/llama": {} } } },
  };

  test("lists by number what can be chosen", async () => {
    const chat = await openChat({ models, config: listed });
    assert.equal(
      await chat.answer("/model"),
      [
        "Models:",
        "1. openai/gpt-5.2 (Fast, in use)",
        "2. anthropic/claude",
        "3. groq/llama (no key)",
        "Choose with /model <number> or /model <provider/model>.",
      ].join("\n"),
    );
    assert.equal(await chat.answer("/models list"), await chat.answer("/model"));
  });

  const chosen: readonly (readonly [message: string, provider: string, id: string])[] = [
    ["/model 2", "anthropic", "claude"],
    ["/model anthropic/claude", "anthropic", "claude"],
    ["/model ANTHROPIC/Claude", "anthropic", "claude"],
    ["/model fast", "openai", "gpt-5.2"],
    ["/fast", "openai", "gpt-5.2"],
    ["/model claude", "anthropic", "claude"],
    ["/model 3", "groq", "llama"],
  ];
  for (const [message, provider, id] of chosen) {
    test(message, async () => {
      const chat = await openChat({ models, config: listed });
      assert.match(await chat.answer(message), new RegExp(`^This session now uses ${provider}/${id}\\.`));
      assert.deepEqual(await chat.entry(), { providerOverride: provider, modelOverride: id });
    });
  }

  const refused: readonly (readonly [message: string, config: Config, answer: RegExp])[] = [
    ["/model openai/mini", listed, /^Model "openai\/mini" is not allowed\. Use \/model to list available models\.$/],
    ["/model 9", listed, /no model number 9\. \/model lists 1 to 3/],
    ["/model 0", listed, /no model number 0/],
    ["/model cluade", listed, /No model is called "cluade"\. Did you mean claude\?/],
    ["/model nowhere/thing", {}, /No model is called "nowhere\/thing"/],
    ["/model openai/mini@work", {}, /cannot be pinned/],
  ];
  for (const [message, config, answer] of refused) {
    test(`${message} is refused`, async () => {
      const chat = await openChat({ models, config });
      assert.match(await chat.answer(message), answer);
      assert.deepEqual(await chat.entry(), {});
    });
  }

  test("the default may be chosen though it is not on the list", async () => {
    const config: Config = { agents: { defaults: { models: { "anthropic/claude": {} } } } };
    const chat = await openChat({ models, config });
    assert.match(await chat.answer("/model"), /1\. anthropic\/claude\n2\. openai\/gpt-5\.2 \(in use\)\nChoose/);
    assert.match(await chat.answer("/model openai/gpt-5.2"), /now uses openai\/gpt-5\.2/);
    assert.match(await chat.answer("/model openai/mini"), /is not allowed/);
  });

  test("without an allow list any model of a known provider will do", async () => {
    const chat = await openChat({ models, keyless: ["groq/llama"] });
    await chat.answer("/model openai/brand-new");
    assert.deepEqual(await chat.entry(), { providerOverride: "openai", modelOverride: "brand-new" });
    assert.match(await chat.answer("/model groq/llama"), /No API key found for provider "groq"\./);
  });

  test("shows and clears the choice", async () => {
    const chat = await openChat({ models });
    await chat.answer("/model anthropic/claude");
    assert.equal(
      await chat.answer("/model status"),
      "Model: anthropic/claude (chosen for this session)\nDefault: openai/gpt-5.2",
    );
    assert.equal(await chat.answer("/model default"), "This session uses the default model again: openai/gpt-5.2.");
    assert.deepEqual(await chat.entry(), {});
  });

  test("a model that may not be used keeps the message from every other model", async () => {
    const chat = await openChat({ models, config: listed });
    assert.match(await chat.answer("hi /model openai/mini"), /is not allowed[^]*did not go to a model/);
  });

  test("says how to add one when there is none", async () => {
    const chat = await openChat();
    for (const message of ["/model", "/model status", "/model default"]) {
      assert.match(await chat.answer(message), /openclaw configure --section model/);
    }
  });
});

describe("/new and /reset", () => {
  test("begin a fresh transcript and keep what was chosen", async () => {
    const chat = await openChat({ models, running: ["old"] });
    await chat.answer("/think high /model 2");
    const before = await chat.store.sessions.get(key);
    const directed = await chat.say("/new tell me a joke");
    const after = await chat.store.sessions.get(key);
    assert.deepEqual(directed, turn("tell me a joke", {}, ["New session."]));
    assert.notEqual(after?.sessionId, before?.sessionId);
    assert.deepEqual(
      { thinking: after?.entry["thinkingLevel"], model: after?.entry["modelOverride"] },
      { thinking: "high", model: "claude" },
    );
    assert.deepEqual(chat.asked, ["abort old: a new session was begun"]);
  });

  const cases: readonly (readonly [message: string, text: RegExp, override: string | undefined])[] = [
    ["/new", /Greet them/, undefined],
    ["/reset", /Greet them/, undefined],
    ["/new anthropic/claude", /Greet them/, "claude"],
    ["/new mini write a poem", /^write a poem$/, "mini"],
    ["/new anthropic", /Greet them/, "claude"],
    ["/new anthropic is a company", /^anthropic is a company$/, undefined],
    ["/new hello", /^hello$/, undefined],
    ["let's begin", /Greet them/, undefined],
    ["let's begin with mini", /^with mini$/, undefined],
  ];
  for (const [message, text, override] of cases) {
    test(message, async () => {
      const chat = await openChat({ models, config: { session: { resetTriggers: ["let's begin"] } } });
      const directed = await chat.say(message);
      assert.equal(directed.kind, "turn");
      assert.match(directed.text, text);
      assert.equal((await chat.entry())["modelOverride"], override);
    });
  }

  test("without any model are answered by the house", async () => {
    const chat = await openChat();
    assert.equal(await chat.answer("/new"), "New session.");
  });
});

describe("/stop", () => {
  test("ends every other run and says how many", async () => {
    const chat = await openChat({ running: ["one", "two"] });
    assert.equal(await chat.answer("stop"), "Stopped 2 runs.");
    assert.deepEqual(chat.asked, ["abort one: stopped by /stop", "abort two: stopped by /stop"]);
    assert.deepEqual([...chat.running], ["own"]);
    assert.equal(await chat.answer("/stop"), "Nothing is running here.");
  });
});

describe("/status", () => {
  test("is one card", async () => {
    const chat = await openChat({ models, running: ["one"] });
    const usage = { input: 1200, output: 34, cacheRead: 0, cacheWrite: 0, totalTokens: 1234 };
    const entry = { agentId: "main", sessionKey: key, provider: "openai", model: "mini", durationMs: 5 };
    await chat.ledger.add({ ...entry, usage, costUsd: 0.0123, calls: 2 });
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

  test("works for a session that does not exist, and makes none", async () => {
    const chat = await openChat();
    const card = await chat.answer("/status");
    assert.match(card, /nothing said yet/);
    assert.match(card, /Model: none; add one with: openclaw configure --section model/);
    assert.equal(await chat.store.sessions.get(key), undefined);
  });

  const boxes: readonly (readonly [mode: "all" | "non-main", line: RegExp])[] = [
    ["all", /Sandbox: on for this session \(mode all\)/],
    ["non-main", /Sandbox: off for this session \(mode non-main\)/],
  ];
  for (const [mode, line] of boxes) {
    test(`says how it stands with sandbox mode ${mode}`, async () => {
      const chat = await openChat({ config: { agents: { defaults: { sandbox: { mode } } } } });
      assert.match(await chat.answer("/status"), line);
    });
  }

  test("inside a message is told beside it", async () => {
    const chat = await openChat({ models });
    const directed = await chat.say("all well? /status");
    assert.equal(directed.kind === "turn" && directed.text, "all well?");
    assert.match(directed.kind === "turn" ? (directed.notes[0] ?? "") : "", /^OpenClaw 1\.2\.3\n/);
  });
});

describe("/tool", () => {
  test("runs a tool under the session's rules, without any model, and leaves a trace", async () => {
    const chat = await openChat();
    assert.equal(await chat.answer("/tool read {path: 'hello.txt'}"), "```\nhello from a file\n```");
    const [call] = await chat.store.journal.list({ limit: 5 });
    assert.deepEqual([call?.tool, call?.caller, call?.outcome], ["read", "chat:/tool", "ok"]);
  });

  test("lists what may be run", async () => {
    const chat = await openChat({ config: { tools: { allow: ["read"] } } });
    const list = await chat.answer("/tool");
    assert.match(list, /^Tools of this session:\nread: /);
    assert.doesNotMatch(list, /\nwrite: /);
  });

  const refused: readonly (readonly [message: string, config: Config, code: string | undefined, text: RegExp])[] = [
    ['/tool write {path: "a", content: "b"}', { tools: { deny: ["write"] } }, "tool.refused", /tools\.deny/],
    ["/tool nosuchtool {}", {}, "tool.unknown", /nosuchtool/],
    ["/tool read {}", {}, "tool.bad-arguments", /path/],
    ["/tool read {path: 'nothing-here.txt'}", {}, "fs.not-found", /nothing-here/],
    ["/tool read {path:", {}, undefined, /not JSON[^]*Nothing was run/],
    ["/tool read [1]", {}, undefined, /must be an object/],
  ];
  for (const [message, config, code, text] of refused) {
    test(`${message} with ${JSON.stringify(config)}`, async () => {
      const chat = await openChat({ config });
      const directed = await chat.say(message);
      assert.equal(directed.kind, "answered");
      assert.match(directed.text, text);
      assert.equal(directed.kind === "answered" ? directed.failure?.code : "", code);
    });
  }

  test("rules for the provider of the model in use hold here too", async () => {
    const config: Config = { tools: { byProvider: { openai: { deny: ["read"] } } } };
    const chat = await openChat({ config, models });
    assert.match(await chat.answer("/tool read {path: 'hello.txt'}"), /byProvider/);
    await chat.answer("/model anthropic/claude");
    assert.match(await chat.answer("/tool read {path: 'hello.txt'}"), /hello from a file/);
  });
});

describe("! and /bash", () => {
  test("are off until the config says otherwise", async () => {
    const chat = await openChat();
    for (const message of ["! ls", "!ls", "/bash ls", "!poll"]) {
      assert.match(await chat.answer(message), /openclaw config set commands\.bash true/);
    }
    assert.deepEqual(await chat.store.journal.list({ limit: 5 }), []);
  });

  test("go through the one path to exec, which answers for itself", async () => {
    const chat = await openChat({ config: { commands: { bash: true }, tools: { deny: ["exec"] } } });
    const directed = await chat.say("! ls");
    assert.equal(directed.kind === "answered" ? directed.failure?.code : undefined, "tool.refused");
    const [call] = await chat.store.journal.list({ limit: 5 });
    assert.deepEqual([call?.tool, call?.caller, call?.outcome], ["exec", "chat:!", "refused"]);
    assert.match(await chat.answer("!stop"), /Usage: !stop <id>/);
  });
});

test("one shell command at a time in a session", async () => {
  const chat = await openChat({ config: { commands: { bash: true }, tools: { deny: ["exec"] } } });
  const answers = await Promise.all([chat.answer("! sleep 1"), chat.answer("! ls")]);
  assert.match(answers[0], /tools\.deny/);
  assert.match(answers[1], /still running here/);
  assert.match(await chat.answer("! ls"), /tools\.deny/);
});

describe("smaller commands", () => {
  test("/usage sets what replies carry and shows figures", async () => {
    const entry = { agentId: "main", provider: "openai", model: "mini", durationMs: 1000 };
    const usage = { input: 2000, output: 500, cacheRead: 10, cacheWrite: 5, totalTokens: 2515 };
    const chat = await openChat();
    await chat.ledger.add({ ...entry, sessionKey: key, usage, costUsd: 1.5, calls: 3 });
    await chat.ledger.add({ ...entry, sessionKey: "agent:main:other", usage, costUsd: 1.5, calls: 3 });
    assert.equal(await chat.answer("/usage tokens"), "Replies now carry: tokens.");
    assert.deepEqual(await chat.entry(), { responseUsage: "tokens" });
    assert.equal(
      await chat.answer("/usage cost"),
      [
        "This session: 2,000 tokens in, 500 out, cache 10 read and 5 written, 3 model calls, $1.50",
        "Agent main today: 4,000 tokens in, 1,000 out, cache 20 read and 10 written, 6 model calls, $3.00",
      ].join("\n"),
    );
    assert.match(await chat.answer("/usage"), /Replies carry: tokens\.$/);
    assert.match(await chat.answer("/usage lots"), /Nothing was changed/);
  });

  test("/compact passes on what to keep", async () => {
    const chat = await openChat();
    assert.equal(await chat.answer("/compact keep the names"), "Summed up; 4 messages kept as they were.");
    assert.equal(await chat.answer("/compact nothing"), "Nothing was summed up: the session is short");
    await chat.answer("/compact");
    assert.deepEqual(chat.asked, ["compact: keep the names", "compact: nothing", "compact: -"]);
  });

  test("/send keeps the delivery rule", async () => {
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

  test("/approve approves nothing while nothing waits", async () => {
    const chat = await openChat();
    assert.match(await chat.answer("/approve abc allow-once"), /No approval "abc" is waiting; nothing was approved/);
    assert.match(await chat.answer("/approve"), /Usage/);
  });

  test("/config shows without secrets, when it is on", async () => {
    const off = await openChat();
    assert.match(await off.answer("/config show"), /commands\.config true/);
    const config: Config = { commands: { config: true }, gateway: { auth: { token: "very-secret" } } };
    const on = await openChat({ config });
    assert.doesNotMatch(await on.answer("/config show"), /very-secret/);
    assert.equal(await on.answer("/config get commands.config"), "```json\ntrue\n```");
    assert.equal(await on.answer("/config get no.such"), "Config path not found: no.such");
    assert.match(await on.answer("/config set commands.bash=true"), /Usage/);
  });

  test("/whoami says who writes where", async () => {
    const chat = await openChat();
    assert.equal(
      await chat.answer("/id"),
      `You write through: chat\nSession: ${key}\nAgent: main\nYou may use commands.`,
    );
  });

  test("/context measures the tools", async () => {
    const chat = await openChat({ config: { tools: { allow: ["read"] } } });
    assert.match(await chat.answer("/context"), /^1 tools: [\d,]+ characters, about [\d,]+ tokens\n/);
    assert.match(await chat.answer("/context detail"), /\n {2}read: /);
    const shown = JSON.parse((await chat.answer("/context json")).replaceAll(/```(?:json)?/g, "")) as {
      tools: unknown[];
    };
    assert.equal(shown.tools.length, 1);
  });

  test("/help and /commands are made from the list", async () => {
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
      "help commands status whoami new stop model think verbose reasoning elevated exec queue usage context compact tool bash approve send config",
    );
  });
});

describe("strangers", () => {
  test("have no commands: everything is plain text", async () => {
    const chat = await openChat({ running: ["one"], config: { commands: { bash: true } } });
    const messages = [
      "/stop",
      "stop",
      "/new",
      "! ls",
      "/tool read {}",
      "hey /exec host=gateway",
      "/think high",
      "/status",
    ];
    for (const message of messages) {
      assert.deepEqual(await chat.say(message, { authorised: false }), turn(message));
    }
    assert.deepEqual([await chat.entry(), chat.asked, await chat.store.journal.list({ limit: 5 })], [{}, [], []]);
  });

  test("commands as text can be left to a platform's own menus", async () => {
    const chat = await openChat({ config: { commands: { text: false } } });
    assert.deepEqual(await chat.say("/status", { source: "telegram" }), turn("/status"));
    assert.match(await chat.answer("/status", { source: "chat" }), /^OpenClaw/);
  });
});

test("what is nothing but commands may pass the queue", () => {
  const isUrgent = createIsUrgent({ config: () => ({}) });
  const owner = { authorised: true, source: "chat" };
  const messages = [
    "/stop",
    "stop",
    "/new x",
    "/status",
    "/think high",
    "/compact",
    "! ls",
    "hi",
    "hi /status",
    "",
    "/usr/bin",
  ];
  assert.deepEqual(
    messages.filter((message) => isUrgent(message, owner)),
    ["/stop", "stop", "/new x", "/status", "/think high", "/compact", "! ls"],
  );
  assert.equal(isUrgent("/stop", { ...owner, authorised: false }), false);
});

test("nothing a person types throws", async () => {
  const chat = await openChat({ models, config: { commands: { bash: true, config: true } } });
  const commands = "/think /model /tool /queue /exec /elevated /usage /send /config /context /approve /new /compact";
  const words = fc.constantFrom(
    ...`${commands} read { } get [ a.b[0] __proto__ host= cap: drop:x 1 a/b @ high list`.split(" "),
  );
  const message = fc.array(fc.oneof(words, fc.string({ unit: "binary", maxLength: 8 })), { maxLength: 6 });
  await fc.assert(
    fc.asyncProperty(message, async (parts) => {
      const directed = await chat.say(parts.join(" "));
      assert.equal(typeof directed.text, "string");
    }),
    { numRuns: 300 },
  );
});
