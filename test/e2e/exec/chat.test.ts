// /exec, /elevated and ! in a chat with a real gateway, a real model stand-in and real commands.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, describe, test } from "node:test";

import { until } from "../../harness/exec.ts";
import { call, say, startFakeOpenAI, type FakeServer, type Reply } from "../../fakes/openai.ts";
import { dispose, operator, type TestGateway, type Wire } from "../../harness/gateway.ts";
import { chat, startWithModel, textOf } from "../../harness/model.ts";

let server: FakeServer;
let gateway: TestGateway;
let wire: Wire;

/** The answer, or the error in its place. */
async function told(session: string, message: string): Promise<string> {
  const end = await chat(wire, session, message, randomUUID());
  return textOf(end) || (end.errorMessage ?? "");
}
const fresh = (): string => `agent:main:x${randomUUID().slice(0, 8)}`;

async function open(config: Record<string, unknown>): Promise<void> {
  server = await startFakeOpenAI((request) => script(request));
  gateway = await startWithModel(server, { more: config });
  wire = await operator(gateway);
}
async function close(): Promise<void> {
  wire.end();
  await dispose(gateway);
  await server.close();
}

/** A model that runs what it is asked to and reports the result. */
function script(request: unknown): Reply {
  const { messages } = (request as { body: { messages: { role: string; content: unknown }[] } }).body;
  const last = messages.at(-1);
  const text = typeof last?.content === "string" ? last.content : JSON.stringify(last?.content);
  if (last?.role === "tool") return say(`RESULT ${text}`);
  const [, args] = /run (\{.*?\})/.exec(text.replaceAll('\\"', '"')) ?? [];
  return args === undefined ? say("nothing to do") : call("exec", JSON.parse(args) as unknown);
}

describe("/exec", () => {
  before(() => open({}));
  after(close);

  test("persists: it allows a host that the model requests, and approvals still apply", async () => {
    const session = fresh();
    assert.match(await told(session, 'run {"command":"echo hi","host":"gateway"}'), /host=gateway[^]*host=sandbox/);
    assert.match(await told(session, "/exec host=gateway security=full ask=off"), /host=gateway security=full ask=off/);
    assert.match(await told(session, 'run {"command":"echo kept","host":"gateway"}'), /RESULT [^]*kept/);
    assert.match(
      await told(session, "/exec"),
      /host=gateway \(session\) security=full \(session\) ask=off \(session\)/,
    );
    assert.match(await told(session, "/exec security=allowlist"), /security=allowlist/);
    assert.match(await told(session, 'run {"command":"touch nothing"}'), /RESULT [^]*allowlist/);
  });

  test("inside a message: for that message only", async () => {
    const session = fresh();
    const first = await told(
      session,
      '/exec host=gateway security=full ask=off please run {"command":"echo once","host":"gateway"}',
    );
    assert.match(first, /RESULT [^]*once/);
    assert.match(await told(session, 'run {"command":"echo again","host":"gateway"}'), /host=gateway[^]*host=sandbox/);
    assert.match(await told(session, "/exec"), /host=sandbox \((?:default|config)\)/);
  });

  test("the model cannot loosen what was set", async () => {
    const session = fresh();
    await told(session, "/exec host=gateway security=allowlist ask=off");
    const answer = await told(session, 'run {"command":"touch canary-x","security":"full","ask":"off"}');
    assert.match(answer, /RESULT [^]*allowlist/);
  });
});

describe("! while it is disabled", () => {
  before(() => open({}));
  after(close);
  test("commands.bash=false: rejected, with the key", async () => {
    assert.match(await told(fresh(), "! echo hi"), /config set commands\.bash true/);
  });
});

describe("!", () => {
  before(() => open({ commands: { bash: true, bashForegroundMs: 8000 } }));
  after(close);

  test("runs on this host, without any model", async () => {
    const asked = server.requests.length;
    assert.equal(await told(fresh(), "! echo $((6*7))"), "```\n42\n```");
    assert.equal(await told(fresh(), "/bash echo there"), "```\nthere\n```");
    assert.equal(server.requests.length, asked);
  });

  test("a failed command reports its exit code", async () => {
    assert.match(await told(fresh(), "! exit 3"), /exit code 3/);
  });

  test("one at a time: the second is rejected while the first continues in the background", async () => {
    const session = fresh();
    const first = await told(session, "! echo begun; sleep 30");
    const [, id] = /^Still running \((\S+)\)/.exec(first) ?? [];
    assert.match(first, /!poll shows more, !stop ends it\.\n```\nbegun/);
    assert.notEqual(id, undefined);
    assert.match(await told(session, "! echo second"), new RegExp(`still running here \\(${id}\\)`));
    assert.equal(await told(fresh(), "! echo elsewhere"), "```\nelsewhere\n```");
    assert.match(await told(session, "!poll"), new RegExp(`${id}|running|no new output`, "i"));
    await told(session, "!stop");
    await until(
      () => told(session, "! echo third"),
      (text) => text.includes("third"),
    );
  });

  test("!poll and !stop take an id too", async () => {
    const session = fresh();
    const [, id] = /\((\S+)\)/.exec(await told(session, "! sleep 30")) ?? [];
    assert.match(await told(session, `!poll ${id}`), new RegExp(`${id}|running|no new output`, "i"));
    assert.match(await told(session, `/bash stop ${id}`), new RegExp(`${id}|killed|ended`, "i"));
    assert.match(await told(session, "!poll no-such-thing"), /no-such-thing/);
  });

  test("!stop with no running command", async () => {
    assert.match(await told(fresh(), "!stop"), /No shell command of this chat is running/);
  });

  test("the output of a background command can be polled until its end", async () => {
    const session = fresh();
    await told(session, "! sleep 10; echo late");
    let seen = "";
    await until(
      async () => (seen += await told(session, "!poll")),
      (text) => text.includes("late"),
    );
    assert.equal(await told(session, "! echo next"), "```\nnext\n```");
  });

  test("a session whose commands go to a node keeps ! on this host, under its approvals", async () => {
    const session = fresh();
    await told(session, "/exec host=node node=nowhere security=full ask=off");
    assert.equal(await told(session, "! echo here"), "```\nhere\n```");
  });

  test("commands.bashForegroundMs 0 goes to the background immediately", async () => {
    await dispose(gateway);
    gateway = await startWithModel(server, { more: { commands: { bash: true, bashForegroundMs: 0 } } });
    wire = await operator(gateway);
    assert.match(await told(fresh(), "! sleep 20"), /^Still running \(/);
  });
});

describe("elevated", () => {
  const sandboxed = { defaults: { model: { primary: "fake/fake-1" }, sandbox: { mode: "all" } } };
  before(() =>
    open({
      commands: { bash: true },
      agents: {
        ...sandboxed,
        list: [
          { id: "main", default: true },
          { id: "tight", tools: { elevated: { enabled: false } } },
        ],
      },
      tools: { elevated: { allowFrom: { webchat: ["*"] } } },
    }),
  );
  after(close);

  test("B21 elevated:true runs on the gateway with approvals; at level full without", async () => {
    const session = fresh();
    assert.match(await told(session, 'run {"command":"echo out","elevated":true}'), /RESULT [^]*(?:approv)/i);
    assert.match(await told(session, "/elevated full"), /now full/);
    assert.match(await told(session, 'run {"command":"echo $((40+2)) out","elevated":true}'), /RESULT [^]*42 out/);
  });

  test("B21 a closed gate is named with its key", async () => {
    const answer = await told(`agent:tight:${randomUUID().slice(0, 8)}`, 'run {"command":"id","elevated":true}');
    assert.match(answer, /RESULT [^]*agents\.list\[\]\.tools\.elevated\.enabled/);
  });

  test("an explicit off rejects the call", async () => {
    const session = fresh();
    await told(session, "/elevated off");
    assert.match(await told(session, 'run {"command":"id","elevated":true}'), /turned off for this session/);
  });

  test("inside a message: for that message only", async () => {
    const session = fresh();
    assert.match(await told(session, '/elevated full run {"command":"echo $((40+2)) out"}'), /RESULT [^]*42 out/);
    assert.match(await told(session, "/elevated"), /not set for this session/);
  });

  test("B27 an unknown level gives a hint and changes nothing", async () => {
    const session = fresh();
    assert.match(await told(session, "/elevated maybe"), /"maybe" is not a level[^]*Nothing was changed/);
    assert.match(await told(session, "/elevated"), /not set for this session/);
  });

  test("! in a sandboxed session goes to the host, under level full without approval", async () => {
    const session = fresh();
    assert.match(await told(session, "! echo held"), /approv/i);
    await told(session, "/elevated full");
    assert.equal(await told(session, "! echo free"), "```\nfree\n```");
  });
});

test("/exec from a client without rights changes nothing", async (t) => {
  await open({});
  t.after(close);
  const speaker = await operator(gateway, { scopes: ["operator.read", "operator.write"] });
  const session = "agent:main:spoken";
  const before = textOf(await chat(wire, session, "/exec", "look-1"));
  for (const [index, words] of ["/exec host=gateway security=full ask=off", "/exec security=full do it"].entries()) {
    const end = await chat(speaker, session, words, `speak-${index}`);
    assert.match(textOf(end) || (end.errorMessage ?? ""), /operator\.approvals|may not|approv/i, words);
  }
  assert.equal(textOf(await chat(wire, session, "/exec", "look-2")), before);
  speaker.end();
});
