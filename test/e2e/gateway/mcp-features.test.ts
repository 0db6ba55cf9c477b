// What an MCP client gets beside plain calls, through the official client, in a session and without one.
import assert from "node:assert/strict";
import { existsSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";

import { operator, type Wire } from "../../harness/gateway.ts";
import { openSampleGateway, PNG, type SampleGateway } from "../../harness/mcp-sample.ts";

let gateway: SampleGateway;
before(async () => {
  gateway = await openSampleGateway({
    tools: { alsoAllow: ["conformance"], exec: { host: "gateway", security: "allowlist", ask: "always" } },
    agents: {
      list: [
        { id: "main", default: true },
        { id: "blind", tools: { deny: ["read", "sessions_history"] } },
      ],
    },
  });
});
after(() => gateway.close());

type Options = NonNullable<ConstructorParameters<typeof Client>[1]>;
type Answer = { action: "accept"; content: Record<string, string> } | { action: "decline" | "cancel" };

const stateless: Options = { versionNegotiation: { mode: { pin: "2026-07-28" } } };
const eras: readonly (readonly [string, Options])[] = [
  ["in a session", {}],
  ["without a session", stateless],
];

async function connect(options: Options = {}, headers: Record<string, string> = {}, at = gateway): Promise<Client> {
  const client = new Client({ name: "test", version: "1" }, options);
  const requestInit = { headers: { authorization: `Bearer ${at.token}`, ...headers } };
  await client.connect(new StreamableHTTPClientTransport(new URL(`${at.url}/mcp`), { requestInit }));
  return client;
}

/** A client whose user answers every question the same way. */
async function asked(
  options: Options,
  answer: Answer | (() => Promise<Answer>),
  headers: Record<string, string> = {},
  at = gateway,
): Promise<{ client: Client; questions: string[] }> {
  const client = new Client({ name: "test", version: "1" }, { ...options, capabilities: { elicitation: {} } });
  const questions: string[] = [];
  client.setRequestHandler("elicitation/create", async ({ params }) => {
    questions.push(params.message);
    return typeof answer === "function" ? answer() : answer;
  });
  const requestInit = { headers: { authorization: `Bearer ${at.token}`, ...headers } };
  await client.connect(new StreamableHTTPClientTransport(new URL(`${at.url}/mcp`), { requestInit }));
  return { client, questions };
}

/** An operator that can approve. */
const dashboard = (at = gateway): Promise<Wire> => operator({ port: Number(new URL(at.url).port), token: at.token });

type Called = Awaited<ReturnType<Client["callTool"]>>;
const textOf = ({ content }: Called): string =>
  (content as { text?: string }[]).map(({ text }) => text ?? "").join("\n");

async function post(body: unknown, headers: Record<string, string> = {}, method = "POST"): Promise<Response> {
  return fetch(`${gateway.url}/mcp`, {
    method,
    headers: {
      authorization: `Bearer ${gateway.token}`,
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      ...headers,
    },
    ...(method === "POST" ? { body: JSON.stringify(body) } : {}),
  });
}
const rpc = (method: string, params: object = {}, id = 1) => ({ jsonrpc: "2.0", id, method, params });
const initialize = rpc("initialize", {
  protocolVersion: "2025-11-25",
  capabilities: {},
  clientInfo: { name: "raw", version: "1" },
});

describe("while a call runs", () => {
  for (const [era, options] of eras) {
    test(`reports progress ${era}`, async () => {
      const client = await connect(options);
      const seen: (number | undefined)[] = [];
      await client.callTool({ name: "test_tool_with_progress" }, { onprogress: ({ progress }) => seen.push(progress) });
      assert.deepEqual(seen, [0, 50, 100]);
      await client.close();
    });

    test(`stops the tool when the client cancels ${era}`, async () => {
      const sessionKey = `agent:main:cancel-${options === stateless ? 2 : 1}`;
      const client = await connect(options, { "x-openclaw-session-key": sessionKey });
      const control = new AbortController();
      const calling = client.callTool({ name: "test_wait" }, { signal: control.signal });
      const wire = await dashboard();
      setTimeout(() => control.abort(), 300);
      await assert.rejects(calling);
      for (;;) {
        const { entries } = await wire.call("tools.journal", { sessionKey });
        if (entries.some(({ outcome }) => outcome === "aborted")) break;
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
      wire.end();
      await client.close();
    });
  }

  test("sends logs of the level that the client set, and none before", async () => {
    const client = await connect();
    const logs: unknown[] = [];
    client.setNotificationHandler("notifications/message", ({ params }) => void logs.push(params.data));
    await client.callTool({ name: "test_tool_with_logging" });
    assert.deepEqual(logs, []);
    await client.setLoggingLevel("info");
    await client.callTool({ name: "test_tool_with_logging" });
    assert.deepEqual(logs, ["Tool execution started", "Tool processing data", "Tool execution completed"]);
    await client.close();
  });

  test("goes on after the connection was lost, and the client gets what it missed", async () => {
    const opened = await post(initialize);
    const headers = {
      "mcp-session-id": opened.headers.get("mcp-session-id") ?? "",
      "mcp-protocol-version": "2025-11-25",
    };
    await opened.body?.cancel();
    const cut = await post(rpc("tools/call", { name: "test_reconnection" }, 7), headers);
    const reader = cut.body?.getReader();
    const first = new TextDecoder().decode((await reader?.read())?.value);
    await reader?.cancel();
    const lastEventId = /^id: (\S+)$/m.exec(first)?.[1] ?? "";
    const resumed = await (await post(undefined, { ...headers, "last-event-id": lastEventId }, "GET")).text();
    const messages = resumed
      .split("\n")
      .flatMap((line) =>
        line.startsWith("data: {") ? [JSON.parse(line.slice(6)) as { id?: number; method?: string }] : [],
      );
    assert.equal(messages.at(-1)?.id, 7);
    const unknown = await post(undefined, { ...headers, "last-event-id": "r99.1" }, "GET");
    assert.equal(unknown.status, 404);
  });
});

describe("a tool that asks its client", () => {
  for (const [era, options] of eras) {
    test(`gets the answer of the user ${era}`, async () => {
      const { client, questions } = await asked(options, { action: "accept", content: { name: "Ada" } });
      const called = await client.callTool({ name: "test_input_required_result_elicitation" });
      assert.match(textOf(called), /"Ada"/);
      assert.deepEqual(questions, ["What is your name?"]);
      await client.close();
    });

    test(`cannot ask a client that did not say it can answer ${era}`, async () => {
      const client = await connect(options);
      const calling = client.callTool({ name: "test_input_required_result_elicitation" });
      if (options === stateless) await assert.rejects(calling, { code: -32021 });
      else assert.match(textOf(await calling), /capability "elicitation"/);
      await client.close();
    });
  }

  test("cannot use the client's model unless the config allows it", async () => {
    const other = await openSampleGateway();
    try {
      other.reconfigure((config) => ({
        ...config,
        gateway: { ...(config["gateway"] as object), http: { endpoints: { mcp: { enabled: true } } } },
      }));
      const client = new Client({ name: "test", version: "1" }, { capabilities: { sampling: {} } });
      client.setRequestHandler("sampling/createMessage", () => assert.fail("was asked"));
      const requestInit = { headers: { authorization: `Bearer ${other.token}` } };
      await client.connect(new StreamableHTTPClientTransport(new URL(`${other.url}/mcp`), { requestInit }));
      const called = await client.callTool({ name: "test_sampling", arguments: { prompt: "hi" } });
      assert.equal(called.isError, true);
      assert.match(textOf(called), /config set gateway\.http\.endpoints\.mcp\.sampling true/);
      await client.close();
    } finally {
      await other.close();
    }
  });

  test("does not take the state of another request", async () => {
    const meta = {
      "io.modelcontextprotocol/protocolVersion": "2026-07-28",
      "io.modelcontextprotocol/clientCapabilities": { elicitation: {} },
    };
    const call = async (name: string, more: object = {}, headers: Record<string, string> = {}) => {
      const sent = { "mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call", "mcp-name": name, ...headers };
      const answer = await post(rpc("tools/call", { name, arguments: {}, _meta: meta, ...more }), sent);
      return (await answer.json()) as { result?: Record<string, unknown>; error?: { code: number } };
    };
    const first = await call("test_input_required_result_request_state");
    const requestState = String(first.result?.["requestState"]);
    const inputResponses = { confirm: { action: "accept", content: { ok: true } } };
    const right = await call("test_input_required_result_request_state", { inputResponses, requestState });
    assert.equal(right.result?.["resultType"], "complete");
    const wrong = [
      call("test_input_required_result_tampered_state", { inputResponses, requestState }),
      call("test_input_required_result_request_state", { inputResponses, requestState: `${requestState}A` }),
      call("test_input_required_result_request_state", { inputResponses, requestState: 7 }),
      call(
        "test_input_required_result_request_state",
        { inputResponses, requestState },
        { "x-openclaw-session-key": "agent:main:other" },
      ),
    ];
    for (const { error } of await Promise.all(wrong)) assert.equal(error?.code, -32602);
  });
});

describe("a call that needs approval", () => {
  const touch = (name: string) => ({ name: "exec", arguments: { command: `touch ${name}` } });
  const made = (name: string): boolean => existsSync(join(gateway.workspace, name));
  const allow: Answer = { action: "accept", content: { decision: "allow-once" } };
  const statusOf = ({ structuredContent }: Called): unknown => (structuredContent as { status?: unknown }).status;

  for (const [era, options] of eras) {
    const tag = options === stateless ? "b" : "a";
    test(`asks the user of the client and returns the output ${era}`, async () => {
      const { client, questions } = await asked(options, allow);
      const called = await client.callTool({ name: "exec", arguments: { command: `uname -s` } });
      assert.match(textOf(called), /Exec finished .*code=0[^]*Linux/);
      assert.equal(questions.length, 1);
      assert.match(questions[0] ?? "", /uname -s/);
      await client.close();
    });

    for (const [what, answer] of [
      ["denies", { action: "accept", content: { decision: "deny" } }],
      ["declines", { action: "decline" }],
    ] as const satisfies readonly (readonly [string, Answer])[])
      test(`does not run what the user ${what} ${era}`, async () => {
        const { client } = await asked(options, answer);
        const called = await client.callTool(touch(`${what}-${tag}`));
        assert.deepEqual([called.isError, statusOf(called), made(`${what}-${tag}`)], [true, "denied", false]);
        await client.close();
      });

    test(`stays pending when the user closes the question ${era}`, async () => {
      const { client } = await asked(options, { action: "cancel" });
      const called = await client.callTool(touch(`closed-${tag}`));
      assert.deepEqual([statusOf(called), made(`closed-${tag}`)], ["approval-pending", false]);
      await client.close();
    });

    test(`waits elsewhere for a client that cannot ask ${era}`, async () => {
      const wire = await dashboard();
      const client = await connect(options);
      assert.equal(statusOf(await client.callTool(touch(`silent-${tag}`))), "approval-pending");
      await client.close();
      wire.end();
    });
  }

  test("is withdrawn when the client cancels the call while its user is asked", async () => {
    const wire = await dashboard();
    const control = new AbortController();
    const { client } = await asked({}, async () => {
      control.abort();
      return new Promise<Answer>(() => {});
    });
    await assert.rejects(client.callTool(touch("cancelled"), { signal: control.signal }));
    for (;;) {
      const { recent = [] } = await wire.call("exec.approvals.pending", { recent: 50 });
      const mine = recent.find(({ request }) => request.command === "touch cancelled");
      if (mine?.state === "denied") break;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    assert.equal(made("cancelled"), false);
    await client.close();
    wire.end();
  });

  test("is not asked about when the client is on another machine", async () => {
    const wire = await dashboard();
    const { client, questions } = await asked({}, allow, { "x-forwarded-for": "192.0.2.7" });
    assert.equal(statusOf(await client.callTool(touch("far"))), "approval-pending");
    assert.deepEqual([questions, made("far")], [[], false]);
    await client.close();
    wire.end();
  });

  test("is not asked about when the owner turned that off", async () => {
    const other = await openSampleGateway({
      tools: { alsoAllow: ["conformance"], exec: { host: "gateway", security: "allowlist", ask: "always" } },
    });
    try {
      other.reconfigure((config) => ({
        ...config,
        gateway: {
          ...(config["gateway"] as object),
          http: { endpoints: { mcp: { enabled: true, approvals: false } } },
        },
      }));
      const wire = await dashboard(other);
      const { client, questions } = await asked({}, allow, {}, other);
      assert.equal(statusOf(await client.callTool(touch("off"))), "approval-pending");
      assert.deepEqual(questions, []);
      await client.close();
      wire.end();
    } finally {
      await other.close();
    }
  });

  test("is not answered by a client when the owner turns that off after the question", async () => {
    const other = await openSampleGateway({
      tools: { alsoAllow: ["conformance"], exec: { host: "gateway", security: "allowlist", ask: "always" } },
    });
    try {
      const turnOff = async (): Promise<Answer> => {
        other.reconfigure((config) => ({
          ...config,
          gateway: {
            ...(config["gateway"] as object),
            http: { endpoints: { mcp: { enabled: true, approvals: false } } },
          },
        }));
        return allow;
      };
      const { client } = await asked(stateless, turnOff, {}, other);
      assert.equal(statusOf(await client.callTool(touch("late"))), "approval-pending");
      assert.equal(existsSync(join(other.workspace, "late")), false);
      await client.close();
    } finally {
      await other.close();
    }
  });

  test("takes the question back when the owner answers elsewhere first", async () => {
    const wire = await dashboard();
    const { client } = await asked({}, async () => {
      const { pending } = await wire.call("exec.approvals.pending", {});
      const mine = pending.find(({ request }) => request.command.includes("touch elsewhere"));
      await wire.call("exec.approval.resolve", { id: mine?.id ?? "", decision: "allow-once" });
      return new Promise<Answer>(() => {});
    });
    const takenBack = new Promise<unknown>((resolve) => {
      const { transport } = client;
      assert.ok(transport !== undefined);
      const { onmessage } = transport;
      transport.onmessage = (message, extra) => {
        if ("method" in message && message.method === "notifications/cancelled") resolve(message);
        onmessage?.(message, extra);
      };
    });
    const called = await client.callTool(touch("elsewhere"));
    assert.deepEqual([statusOf(called), made("elsewhere")], ["done", true]);
    await takenBack;
    await client.close();
    wire.end();
  });
});

describe("resources", () => {
  before(() => {
    mkdirSync(join(gateway.workspace, "notes", "deep"), { recursive: true });
    writeFileSync(join(gateway.workspace, "notes", "a b.md"), "# Hello\n");
    writeFileSync(join(gateway.workspace, "notes", "deep", "long.txt"), "0123456789abcdef\n".repeat(9000));
    writeFileSync(join(gateway.workspace, "dot.png"), Buffer.from(PNG, "base64"));
    writeFileSync(join(gateway.workspace, ".hidden"), "x");
    writeFileSync(join(gateway.workspace, "data.bin"), Buffer.from([0, 1, 2, 3, 0, 255]));
    symlinkSync("/etc/hostname", join(gateway.workspace, "link"));
  });
  const urisOf = async (client: Client): Promise<string[]> =>
    (await client.listResources()).resources.map(({ uri }) => uri).filter((uri) => !uri.startsWith("test:"));

  test("are the files of the workspace, whole, and images", async () => {
    const client = await connect();
    const uris = await urisOf(client);
    assert.ok(uris.includes("workspace:///notes/a%20b.md"));
    assert.ok(!uris.some((uri) => /hidden|link/.test(uri)));
    const read = async (uri: string) => (await client.readResource({ uri })).contents[0];
    assert.deepEqual(await read("workspace:///notes/a%20b.md"), {
      uri: "workspace:///notes/a%20b.md",
      mimeType: "text/markdown",
      text: "# Hello\n",
    });
    const long = (await read("workspace:///notes/deep/long.txt")) as { text: string };
    assert.equal(long.text, "0123456789abcdef\n".repeat(9000));
    assert.equal(((await read("workspace:///dot.png")) as { blob: string }).blob, PNG);
    await assert.rejects(read("workspace:///data.bin"), /neither text nor an image/);
    await client.close();
  });

  test("outside of the workspace, missing ones and other schemes are none", async () => {
    const client = await connect();
    for (const uri of [
      "workspace:///../openclaw.json",
      "workspace:///notes/%2e%2e/%2e%2e/openclaw.json",
      "workspace:////etc/passwd",
      "workspace:///%2Fetc%2Fpasswd",
      "workspace:///absent.txt",
      "workspace:///%zz",
      "file:///etc/passwd",
      "session:///agent:main:absent",
    ])
      await assert.rejects(client.readResource({ uri }), /no such resource/, uri);
    await client.close();
  });

  test("include sessions that the caller may see", async () => {
    const wire = await dashboard();
    await wire.call("sessions.patch", { key: "main", label: "Groceries" });
    await wire.call("chat.inject", { sessionKey: "main", message: "remember the milk" });
    wire.end();
    const client = await connect();
    const uri = (await urisOf(client)).find((one) => one === `session:///${encodeURIComponent("agent:main:main")}`);
    assert.ok(uri !== undefined);
    const [contents] = (await client.readResource({ uri })).contents as { text: string }[];
    assert.match(contents?.text ?? "", /remember the milk/);
    await client.close();
  });

  test("are there only where policy allows the tool that reads them", async () => {
    const client = await connect({}, { "x-openclaw-agent-id": "blind" });
    assert.deepEqual(await urisOf(client), []);
    const { resourceTemplates } = await client.listResourceTemplates();
    assert.ok(resourceTemplates.every(({ uriTemplate }) => uriTemplate.startsWith("test:")));
    for (const uri of ["workspace:///notes/a%20b.md", "session:///agent%3Amain%3Amain"])
      await assert.rejects(client.readResource({ uri }), /no such resource/);
    await client.close();
  });

  test("are in the journal by the tool that read them", async () => {
    const headers = { "x-openclaw-session-key": "agent:main:reads" };
    const client = await connect({}, headers);
    await client.readResource({ uri: "workspace:///notes/a%20b.md" });
    await client.close();
    const wire = await dashboard();
    const { entries } = await wire.call("tools.journal", { sessionKey: "agent:main:reads" });
    assert.deepEqual(
      entries.map(({ tool, caller }) => [tool, caller]),
      [["read", "mcp"]],
    );
    wire.end();
  });

  test("complete the variables of their templates", async () => {
    const client = await connect();
    const complete = async (uri: string, name: string, value: string) =>
      (await client.complete({ ref: { type: "ref/resource", uri }, argument: { name, value } })).completion.values;
    assert.deepEqual(await complete("workspace:///{+path}", "path", "notes/"), ["notes/a b.md", "notes/deep/long.txt"]);
    assert.ok((await complete("session:///{key}", "key", "agent:main")).includes("agent:main:main"));
    await client.close();
  });

  test("tell a subscribed client that they changed", async () => {
    const uri = "workspace:///notes/a%20b.md";
    const client = await connect();
    const updated = new Promise<string>((resolve) =>
      client.setNotificationHandler("notifications/resources/updated", ({ params }) => resolve(params.uri)),
    );
    await client.subscribeResource({ uri });
    await assert.rejects(client.subscribeResource({ uri: "workspace:///../x/y" }), /cannot be watched/);
    const change = setInterval(() => writeFileSync(join(gateway.workspace, "notes", "a b.md"), `${Date.now()}`), 100);
    assert.equal(await updated, uri);
    clearInterval(change);
    await client.close();
  });
});

describe("changes", () => {
  const deny = (config: Record<string, unknown>) => ({
    ...config,
    tools: { ...(config["tools"] as object), deny: ["agents_list"] },
  });
  const undo = (config: Record<string, unknown>) => {
    const { deny: _deny, ...tools } = config["tools"] as { deny?: unknown };
    return { ...config, tools };
  };

  test("of the tools reach a client in a session after the config changed", async () => {
    const client = await connect();
    const changed = new Promise<void>((resolve) =>
      client.setNotificationHandler("notifications/tools/list_changed", () => resolve()),
    );
    // The client opens its stream at some time after it has connected, and hears only of later changes.
    for (let [told, isDenied] = [false, false]; !told || !isDenied; isDenied = !isDenied) {
      gateway.reconfigure(isDenied ? undo : deny);
      const pause = new Promise<boolean>((resolve) => setTimeout(resolve, 200, told));
      told = await Promise.race([changed.then(() => true), pause]);
    }
    assert.ok(!(await client.listTools()).tools.some(({ name }) => name === "agents_list"));
    gateway.reconfigure(undo);
    await client.close();
  });

  test("reach a client without a session that listens, and only those it asked for", async () => {
    const client = await connect(stateless);
    const heard: string[] = [];
    const changed = new Promise<void>((resolve) =>
      client.setNotificationHandler("notifications/tools/list_changed", () => {
        heard.push("tools");
        resolve();
      }),
    );
    client.setNotificationHandler("notifications/prompts/list_changed", () => void heard.push("prompts"));
    const subscription = await client.listen({ toolsListChanged: true });
    assert.deepEqual(subscription.honoredFilter, { toolsListChanged: true });
    await client.callTool({ name: "test_trigger_prompt_change" });
    gateway.reconfigure(deny);
    await changed;
    assert.deepEqual(heard, ["tools"]);
    await subscription.close();
    gateway.reconfigure(undo);
    await client.close();
  });
});

describe("sessions of clients", () => {
  test("end with DELETE; an ended or unknown one is not found", async () => {
    const opened = await post(initialize);
    const headers = { "mcp-session-id": opened.headers.get("mcp-session-id") ?? "" };
    await opened.body?.cancel();
    assert.equal((await post(rpc("ping"), headers)).status, 200);
    assert.equal((await post(undefined, headers, "DELETE")).status, 204);
    for (const method of ["POST", "GET", "DELETE"]) {
      const { status } = await post(rpc("ping"), headers, method);
      assert.equal(status, 404, method);
    }
  });

  test("are not open to another machine than the one that began them", async () => {
    const opened = await post(initialize);
    const headers = { "mcp-session-id": opened.headers.get("mcp-session-id") ?? "" };
    await opened.body?.cancel();
    assert.equal((await post(rpc("ping"), { ...headers, "x-forwarded-for": "192.0.2.7" })).status, 404);
  });
});

test("states the schema of structured results, and results fit it", async () => {
  const client = await connect();
  const { tools } = await client.listTools();
  const schema = tools.find(({ name }) => name === "test_structured_content")?.outputSchema;
  assert.deepEqual(schema?.required, ["degrees"]);
  const { structuredContent } = await client.callTool({ name: "test_structured_content" });
  assert.deepEqual(structuredContent, { degrees: 21 });
  await client.close();
});
