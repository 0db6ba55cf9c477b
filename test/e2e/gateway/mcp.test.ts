// The official MCP client on /mcp: both ways to connect, the tools that policy allows, calls, images, failures, authentication.
import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";

import {
  dispose,
  freePort,
  operator,
  root,
  startGateway,
  tempHome,
  type TestGateway,
  type Wire,
} from "../../harness/gateway.ts";

const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const config = {
  gateway: { http: { endpoints: { mcp: { enabled: true } } } },
  agents: {
    list: [
      { id: "main", default: true },
      { id: "reader", tools: { allow: ["read", "session_status"] } },
    ],
  },
};
let gateway: TestGateway;
let wire: Wire;
before(async () => {
  const own = { ...config.gateway, mode: "local", port: await freePort() };
  gateway = await startGateway({ config: { ...config, gateway: own } });
  mkdirSync(gateway.workspace, { recursive: true });
  wire = await operator(gateway);
});
after(async () => {
  wire.end();
  await dispose(gateway);
});

type Options = NonNullable<ConstructorParameters<typeof Client>[1]>;

async function connect(headers: Record<string, string> = {}, options: Options = {}): Promise<Client> {
  const client = new Client({ name: "test", version: "1" }, options);
  await client.connect(
    new StreamableHTTPClientTransport(new URL(`${gateway.url}/mcp`), {
      requestInit: { headers: { authorization: `Bearer ${gateway.token}`, ...headers } },
    }),
  );
  return client;
}

async function post(body: unknown, headers: Record<string, string> = {}, method = "POST") {
  const response = await fetch(`${gateway.url}/mcp`, {
    method,
    headers: {
      authorization: `Bearer ${gateway.token}`,
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      ...headers,
    },
    ...(method === "GET" ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, text };
}
const rpc = (method: string, params?: unknown) => ({ jsonrpc: "2.0", id: 1, method, params });

for (const [name, options, revision] of [
  ["by a handshake", {}, "2025-11-25"],
  ["without one", { versionNegotiation: { mode: { pin: "2026-07-28" } } }, "2026-07-28"],
  ["by whichever both know", { versionNegotiation: { mode: "auto" } }, "2026-07-28"],
] as const satisfies readonly (readonly [string, Options, string])[]) {
  test(`a client connects ${name}, lists, calls and disconnects`, async () => {
    const client = await connect({}, options);
    assert.equal(client.getNegotiatedProtocolVersion(), revision);
    assert.equal(client.getServerVersion()?.name, "openclaw");
    const { tools } = await client.listTools();
    assert.ok(tools.some(({ name: tool }) => tool === "exec"));
    writeFileSync(join(gateway.workspace, "note.txt"), `hello ${revision}`);
    const { content, isError } = await client.callTool({ name: "read", arguments: { path: "note.txt" } });
    assert.equal(isError ?? false, false);
    assert.match(JSON.stringify(content), new RegExp(`hello ${revision}`));
    await client.close();
  });
}

describe("the list of tools", () => {
  const namesFor = async (headers: Record<string, string>): Promise<string[]> => {
    const client = await connect(headers);
    const { tools } = await client.listTools();
    await client.close();
    return tools.map(({ name }) => name).toSorted();
  };
  const shownTo = async (sessionKey: string): Promise<string[]> => {
    const { tools } = await wire.call("tools.catalog", { sessionKey });
    return tools
      .filter(({ allowed, available }) => allowed && available)
      .map(({ name }) => name)
      .toSorted();
  };

  test("holds exactly the tools that policy allows the session, which a header names", async () => {
    assert.deepEqual(await namesFor({}), await shownTo("main"));
    assert.deepEqual(await namesFor({ "x-openclaw-session-key": "agent:reader:main" }), ["read", "session_status"]);
    assert.deepEqual(await namesFor({ "x-openclaw-agent-id": "reader" }), await shownTo("agent:reader:main"));
    const child = "agent:main:subagent:7";
    assert.deepEqual(await namesFor({ "x-openclaw-session-key": child }), await shownTo(child));
  });

  test("has hints by the effect of a tool: read, change, network", async () => {
    const client = await connect();
    const { tools } = await client.listTools();
    await client.close();
    const hints = Object.fromEntries(
      tools.map(({ name, annotations: { title: _title, ...rest } = {} }) => [name, Object.values(rest)]),
    );
    //                                            read only, destructive, open world
    assert.deepEqual(hints["read"], [true, false, false]);
    assert.deepEqual(hints["sessions_list"], [true, false, false]);
    assert.deepEqual(hints["write"], [false, true, false]);
    assert.deepEqual(hints["exec"], [false, true, true]);
    assert.deepEqual(hints["gateway"], [false, true, false]);
    for (const { inputSchema, description } of tools) {
      assert.equal(inputSchema.type, "object");
      assert.notEqual(description, "");
    }
  });
});

describe("calls", () => {
  test("returns an image as an image, and details for programs", async () => {
    writeFileSync(join(gateway.workspace, "dot.png"), Buffer.from(PNG, "base64"));
    const client = await connect();
    const { content } = await client.callTool({ name: "read", arguments: { path: "dot.png" } });
    const image = (content as { type: string; mimeType?: string; data?: string }[]).find(
      ({ type }) => type === "image",
    );
    assert.deepEqual(image, { type: "image", mimeType: "image/png", data: PNG });
    const { structuredContent } = await client.callTool({ name: "agents_list" });
    assert.match(JSON.stringify(structuredContent), /"reader"|"main"/);
    await client.close();
  });

  test("a failed tool is a result for the model, with code and fix", async () => {
    const client = await connect();
    const missing = await client.callTool({ name: "read", arguments: { path: "absent.txt" } });
    assert.equal(missing.isError, true);
    assert.match(JSON.stringify(missing.structuredContent), /"code":"[a-z]+\.[a-z-]+"/);
    const wrong = await client.callTool({ name: "read", arguments: { nonsense: 1 } });
    assert.deepEqual([wrong.isError, (wrong.structuredContent as { code: string }).code], [true, "tool.bad-arguments"]);
    await client.close();
  });

  test("a tool that policy removed is an error with the reason, the fix and the decision", async () => {
    const client = await connect({ "x-openclaw-session-key": "agent:reader:main" });
    await assert.rejects(
      client.callTool({ name: "exec", arguments: { command: "touch never" } }),
      (error: Error & { code?: number; data?: Record<string, unknown> }) => {
        assert.equal(error.code, -32602);
        assert.match(error.message, /Tool not available: exec/);
        assert.equal(error.data?.["code"], "tool.refused");
        assert.match(String(error.data?.["hint"]), /config set|tools\.allow/);
        assert.ok(JSON.stringify(error.data?.["decision"]).includes("agents.list[1].tools.allow"));
        return true;
      },
    );
    await assert.rejects(client.callTool({ name: "no_such_tool" }), /Tool not available: no_such_tool/);
    await client.close();
  });

  test("records each call in the journal with its caller", async () => {
    const client = await connect({ "x-openclaw-session-key": "agent:main:journaled" });
    await client.callTool({ name: "agents_list" });
    await client.close();
    const { entries } = await wire.call("tools.journal", { sessionKey: "agent:main:journaled" });
    assert.deepEqual(
      entries.map(({ tool, caller, outcome }) => [tool, caller, outcome]),
      [["agents_list", "mcp", "ok"]],
    );
  });

  test("disconnecting stops the call", async () => {
    const client = await connect({ "x-openclaw-session-key": "agent:main:leaver" });
    const control = new AbortController();
    const calling = client.callTool(
      { name: "exec", arguments: { command: "sleep 600", yieldMs: 600_000 } },
      { signal: control.signal },
    );
    const ended = assert.rejects(calling);
    const rows = async (): Promise<string[]> => {
      const payload = await wire.call("tools.journal", { sessionKey: "agent:main:leaver" });
      return payload.entries.map(({ outcome }) => outcome);
    };
    const wait = async (outcome: string): Promise<void> => {
      for (const end = Date.now() + 120_000; !(await rows()).includes(outcome);) {
        assert.ok(Date.now() < end, `no ${outcome} in ${JSON.stringify(await rows())}`);
        await new Promise((resolve) => setTimeout(resolve, 30));
      }
    };
    await wait("started");
    control.abort();
    await ended;
    await client.close();
    await wait("unknown");
  });
});

describe("authentication", () => {
  test("refuses a missing secret, a wrong one, another origin, another HTTP method", async () => {
    assert.equal((await post(rpc("ping"), { authorization: "" })).status, 401);
    assert.equal((await post(rpc("ping"), { authorization: "Bearer wrong-token" })).status, 401);
    assert.equal((await post(rpc("ping"), { origin: "https://evil.example" })).status, 403);
    for (const method of ["GET", "DELETE", "PUT"]) {
      const { status, headers } = await post(rpc("ping"), {}, method);
      assert.deepEqual([status, headers.get("allow")], [405, "POST"], method);
    }
    const client = new Client({ name: "unauthenticated", version: "1" });
    await assert.rejects(
      client.connect(new StreamableHTTPClientTransport(new URL(`${gateway.url}/mcp`))),
      /401|nauthor/,
    );
  });

  test("is off unless the config enables it", async () => {
    const own = await startGateway();
    try {
      const { status } = await fetch(`${own.url}/mcp`, {
        method: "POST",
        headers: { authorization: `Bearer ${own.token}`, "content-type": "application/json" },
        body: JSON.stringify(rpc("tools/list")),
      });
      assert.ok(status === 404 || status === 405, String(status));
    } finally {
      await dispose(own);
    }
  });

  const broken: readonly (readonly [string, unknown, number, number])[] = [
    ["no JSON", "{", 400, -32700],
    ["JSON that can be read two ways", '{"jsonrpc":"2.0","id":1,"method":"ping","method":"tools/list"}', 400, -32700],
    ["an empty batch", [], 400, -32600],
    ["an id that is no integer", { ...rpc("ping"), id: 1.5 }, 400, -32600],
    ["a cursor that was never given out", rpc("tools/list", { cursor: "nowhere" }), 200, -32602],
    ["a method of a later revision", rpc("server/discover"), 200, -32601],
    ["no JSON-RPC", { id: 1, method: "ping" }, 400, -32600],
    ["an id of null", { ...rpc("ping"), id: null }, 400, -32600],
    ["a method that is none", rpc("resources/write"), 200, -32601],
    ["prompts, of which there are none", rpc("prompts/list"), 200, -32601],
    ["params that are a list", rpc("tools/call", ["exec"]), 200, -32602],
    ["a call without a name", rpc("tools/call", {}), 200, -32602],
  ];
  for (const [name, body, status, code] of broken)
    test(`${name}: ${status}, ${code}`, async () => {
      const answer = await post(body);
      const { error } = JSON.parse(answer.text) as { error: { code: number; message: string } };
      assert.deepEqual([answer.status, error.code], [status, code], answer.text);
      assert.notEqual(error.message, "");
    });

  const meta = (revision: string, capabilities: object = { "io.modelcontextprotocol/clientCapabilities": {} }) => ({
    _meta: { "io.modelcontextprotocol/protocolVersion": revision, ...capabilities },
  });
  const modern = { "mcp-protocol-version": "2026-07-28" };
  const outcomeOf = async (body: unknown, headers: Record<string, string>): Promise<[number, number | undefined]> => {
    const { status, text } = await post(body, headers);
    return [status, (JSON.parse(text) as { error?: { code: number } }).error?.code];
  };

  test("refuses 2026-07-28 requests whose headers are missing or differ from the body", async () => {
    const call = rpc("tools/call", { name: "exec", arguments: { command: "touch never" }, ...meta("2026-07-28") });
    const headers = { ...modern, "mcp-method": "tools/call", "mcp-name": "exec" };
    for (const missing of Object.keys(headers)) {
      const rest = Object.fromEntries(Object.entries(headers).filter(([name]) => name !== missing));
      assert.deepEqual(await outcomeOf(call, rest), [400, -32020], missing);
    }
    for (const other of [
      { "mcp-method": "tools/list" },
      { "mcp-name": "read" },
      { "mcp-name": "=?base64?%%%?=" },
      { "mcp-protocol-version": "2025-11-25" },
    ])
      assert.deepEqual(await outcomeOf(call, { ...headers, ...other }), [400, -32020], JSON.stringify(other));
  });

  test("accepts a Base64 Mcp-Name that decodes to the name in the body", async () => {
    const headers = { ...modern, "mcp-method": "tools/call", "mcp-name": "=?base64?YWdlbnRzX2xpc3Q=?=" };
    const call = rpc("tools/call", { name: "agents_list", ...meta("2026-07-28") });
    assert.deepEqual(await outcomeOf(call, headers), [200, undefined]);
  });

  test("refuses 2026-07-28 requests without client capabilities, and methods that revision removed", async () => {
    const list = { ...modern, "mcp-method": "tools/list" };
    assert.deepEqual(await outcomeOf(rpc("tools/list", meta("2026-07-28", {})), list), [400, -32602]);
    assert.deepEqual(await outcomeOf(rpc("tools/list"), list), [400, -32602]);
    for (const method of ["ping", "initialize", "logging/setLevel"])
      assert.deepEqual(
        await outcomeOf(rpc(method, meta("2026-07-28")), { ...modern, "mcp-method": method }),
        [404, -32601],
        method,
      );
  });

  test("refuses unknown revisions", async () => {
    const headers = { "mcp-protocol-version": "2999-01-01", "mcp-method": "tools/list" };
    assert.deepEqual(await outcomeOf(rpc("tools/list", meta("2999-01-01")), headers), [400, -32022]);
    assert.deepEqual(await outcomeOf(rpc("tools/list"), { "mcp-protocol-version": "1999-01-01" }), [400, -32022]);
  });

  test("answers a batch of revision 2025-03-26 in order, without its notifications", async () => {
    const batch = [
      { ...rpc("ping"), id: "a" },
      { jsonrpc: "2.0", method: "notifications/initialized" },
      { ...rpc("tools/call", { name: "agents_list" }), id: "b" },
      { ...rpc("nowhere"), id: "c" },
    ];
    const revisions: Record<string, string>[] = [{}, { "mcp-protocol-version": "2025-03-26" }];
    for (const headers of revisions) {
      const { status, text } = await post(batch, headers);
      const answers = JSON.parse(text) as { id: string; error?: { code: number } }[];
      assert.equal(status, 200);
      assert.deepEqual(
        answers.map(({ id, error }) => [id, error?.code]),
        [
          ["a", undefined],
          ["b", undefined],
          ["c", -32601],
        ],
      );
    }
    assert.deepEqual(await outcomeOf(batch, { "mcp-protocol-version": "2025-06-18" }), [400, -32600]);
    const silent = await post([{ jsonrpc: "2.0", method: "notifications/initialized" }]);
    assert.deepEqual([silent.status, silent.text], [202, ""]);
  });

  test("names the Bearer scheme when it refuses a caller without the secret", async () => {
    const absent = await post(rpc("ping"), { authorization: "" });
    assert.match(absent.headers.get("www-authenticate") ?? "", /^Bearer realm="openclaw"$/);
    const wrong = await post(rpc("ping"), { authorization: "Bearer wrong-token" });
    assert.match(wrong.headers.get("www-authenticate") ?? "", /^Bearer .*error="invalid_token"/);
  });

  test("refuses a body that is too large or of another type", async () => {
    assert.equal((await post(rpc("ping"), { "content-type": "text/plain" })).status, 415);
    assert.equal((await post("x".repeat(2_100_000))).status, 413);
  });

  test("accepts notifications without an answer", async () => {
    const { status, text } = await post({ jsonrpc: "2.0", method: "notifications/initialized" });
    assert.deepEqual([status, text], [202, ""]);
  });

  test("names an unknown agent, session or run and creates nothing", async () => {
    for (const [headers, code] of [
      [{ "x-openclaw-agent-id": "ghost" }, "agent.unknown"],
      [{ "x-openclaw-session-key": "agent:main:../x" }, "session.bad-key"],
      [{ "x-openclaw-run-id": "no-such-run" }, "run.unknown"],
    ] as const) {
      const { text } = await post(rpc("tools/list"), headers);
      const { error } = JSON.parse(text) as { error: { data: { code: string; hint: string } } };
      assert.equal(error.data.code, code);
      assert.notEqual(error.data.hint, undefined);
    }
  });
});

describe("openclaw mcp serve", () => {
  const started = (...args: string[]): Promise<Client> => startedWith({}, ...args);
  const startedWith = async (clientOptions: Options, ...args: string[]): Promise<Client> => {
    const client = new Client({ name: "desk", version: "1" }, clientOptions);
    await client.connect(
      new StdioClientTransport({
        command: process.execPath,
        args: [join(root, "openclaw.mjs"), "mcp", "serve", ...args],
        cwd: gateway.home,
        env: { PATH: process.env["PATH"] ?? "", HOME: gateway.home, NO_COLOR: "1" },
        stderr: "ignore",
      }),
    );
    return client;
  };

  test("forwards the standard input of a program, for the session it is started for", async () => {
    const client = await started("--session", "agent:reader:main");
    const { tools } = await client.listTools();
    assert.deepEqual(tools.map(({ name }) => name).toSorted(), ["read", "session_status"]);
    const several = await Promise.all([1, 2, 3].map(() => client.callTool({ name: "session_status" })));
    for (const { isError } of several) assert.equal(isError ?? false, false);
    await assert.rejects(client.callTool({ name: "exec", arguments: { command: "true" } }), /Tool not available/);
    await client.close();
  });

  test("adds the headers that HTTP needs for a program that speaks 2026-07-28", async () => {
    const client = await startedWith({ versionNegotiation: { mode: { pin: "2026-07-28" } } });
    assert.equal(client.getNegotiatedProtocolVersion(), "2026-07-28");
    const { isError } = await client.callTool({ name: "session_status" });
    assert.equal(isError ?? false, false);
    await client.close();
  });

  test("asks its user about an approval, and goes on after the gateway was restarted", async () => {
    const home = tempHome();
    const config = {
      gateway: { mode: "local", port: await freePort(), http: { endpoints: { mcp: { enabled: true } } } },
      tools: { exec: { host: "gateway", security: "allowlist", ask: "always" } },
    };
    const before = await startGateway({ home, config });
    mkdirSync(before.workspace, { recursive: true });
    const client = new Client({ name: "desk", version: "1" }, { capabilities: { elicitation: {} } });
    const questions: string[] = [];
    client.setRequestHandler("elicitation/create", ({ params }) => {
      questions.push(params.message);
      return { action: "accept", content: { decision: "allow-once" } };
    });
    await client.connect(
      new StdioClientTransport({
        command: process.execPath,
        args: [
          join(root, "openclaw.mjs"),
          "mcp",
          "serve",
          "--url",
          before.url.replace("http", "ws"),
          "--token",
          before.token,
        ],
        cwd: home,
        env: { PATH: process.env["PATH"] ?? "", HOME: home, NO_COLOR: "1" },
        stderr: "ignore",
      }),
    );
    const uname = async (): Promise<string> => {
      const { content } = await client.callTool({ name: "exec", arguments: { command: "uname -s" } });
      return JSON.stringify(content);
    };
    assert.match(await uname(), /Exec finished .*Linux/);
    await before.stop();
    const again = await startGateway({ home });
    assert.match(await uname(), /Exec finished .*Linux/);
    assert.equal(questions.length, 2);
    await client.close();
    await dispose(again);
  });

  test("says what is missing: no gateway, a wrong secret, or MCP disabled", async () => {
    const other = await startGateway();
    try {
      for (const [args, words] of [
        [["--url", `ws://127.0.0.1:${await freePort()}`, "--token", "x"], /openclaw gateway run/],
        [["--url", `ws://127.0.0.1:${gateway.port}`, "--token", "wrong"], /does not accept this secret/],
        [["--url", `ws://127.0.0.1:${other.port}`, "--token", other.token], /endpoints\.mcp\.enabled true/],
      ] as const)
        await assert.rejects(started(...args), words);
    } finally {
      await dispose(other);
    }
  });
});
