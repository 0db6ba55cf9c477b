// /tool and !: tools run by a person, under the same rules as the agent.
import assert from "node:assert/strict";
import { describe, test } from "node:test";

import type { SessionKey } from "../../core/names.ts";
import type { Config } from "../../config/schema/index.ts";
import { models, openChat } from "../fixture.cases.ts";

describe("/tool", () => {
  test("runs a tool under the session's policy without a model, and records it in the journal", async () => {
    const chat = await openChat();
    assert.equal(await chat.answer("/tool read {path: 'hello.txt'}"), "```\nhello from a file\n```");
    const [call] = await chat.store.journal.list({ limit: 5 });
    assert.deepEqual([call?.tool, call?.caller, call?.outcome], ["read", "chat:/tool", "ok"]);
  });

  test("lists the allowed tools", async () => {
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

  test("applies the policy of the model's provider", async () => {
    const config: Config = { tools: { byProvider: { openai: { deny: ["read"] } } } };
    const chat = await openChat({ config, models });
    assert.match(await chat.answer("/tool read {path: 'hello.txt'}"), /byProvider/);
    await chat.answer("/model anthropic/claude");
    assert.match(await chat.answer("/tool read {path: 'hello.txt'}"), /hello from a file/);
  });
});

describe("! and /bash", () => {
  test("are off by default", async () => {
    const chat = await openChat();
    for (const message of ["! ls", "!ls", "/bash ls", "!poll"]) {
      assert.match(await chat.answer(message), /openclaw config set commands\.bash true/);
    }
    assert.deepEqual(await chat.store.journal.list({ limit: 5 }), []);
  });

  test("run through the exec tool and its policy", async () => {
    const chat = await openChat({ config: { commands: { bash: true }, tools: { deny: ["exec"] } } });
    const directed = await chat.say("! ls");
    assert.equal(directed.kind === "answered" ? directed.failure?.code : undefined, "tool.refused");
    const [call] = await chat.store.journal.list({ limit: 5 });
    assert.deepEqual([call?.tool, call?.caller, call?.outcome], ["exec", "chat:!", "refused"]);
    assert.match(await chat.answer("!stop"), /No shell command of this chat is running[^]*!stop \[id\]/);
  });
});

describe("! in a sandboxed session", () => {
  const sandboxed: Config = { commands: { bash: true }, agents: { defaults: { sandbox: { mode: "all" } } } };

  test("needs every gate of elevated, and lists the closed ones", async () => {
    const chat = await openChat({ config: sandboxed });
    const directed = await chat.say("! ls");
    assert.equal(directed.kind === "answered" ? directed.failure?.code : undefined, "exec.elevated-unavailable");
    assert.match(directed.text, /sandboxed[^]*- tools\.elevated\.allowFrom\.webchat/);
    assert.deepEqual(await chat.store.journal.list({ limit: 5 }), []);
  });

  test("is not available to a subagent", async () => {
    const config: Config = { ...sandboxed, tools: { elevated: { allowFrom: { webchat: ["*"] } } } };
    const chat = await openChat({ config });
    const sessionKey = "agent:main:subagent:1" as SessionKey;
    assert.match(await chat.answer("! ls", { sessionKey }), /subagents are never elevated/);
  });
});

test("runs one shell command at a time per session", async () => {
  const chat = await openChat({ config: { commands: { bash: true }, tools: { deny: ["exec"] } } });
  const answers = await Promise.all([chat.answer("! sleep 1"), chat.answer("! ls")]);
  assert.match(answers[0], /tools\.deny/);
  assert.match(answers[1], /still running here/);
  assert.match(await chat.answer("! ls"), /tools\.deny/);
});
