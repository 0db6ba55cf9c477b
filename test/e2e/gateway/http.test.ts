// The HTTP surface: recorded statuses and shapes, security headers, bounds, and nothing served without the secret.
import assert from "node:assert/strict";
import { request } from "node:http";
import { after, before, test } from "node:test";

import { dispose, invoke, startGateway, type TestGateway } from "../../harness/gateway.ts";

let gateway: TestGateway;
before(async () => {
  gateway = await startGateway({ config: { tools: { deny: ["browser"] } } });
});
after(() => dispose(gateway));

interface Answer {
  readonly status: number;
  readonly headers: Record<string, string | string[] | undefined>;
  readonly body: string;
}

function ask(
  method: string,
  path: string,
  headers: Record<string, string> = {},
  body?: string | Buffer,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sent = request({ host: "127.0.0.1", port: gateway.port, method, path, agent: false, headers }, (response) => {
      let text = "";
      response.on("data", (chunk: Buffer) => (text += chunk.toString()));
      response.on("end", () => resolve({ status: response.statusCode ?? 0, headers: response.headers, body: text }));
    });
    sent.on("error", reject);
    sent.end(body);
  });
}

const bearer = (): Record<string, string> => ({
  authorization: `Bearer ${gateway.token}`,
  "content-type": "application/json",
});
const post = (body: string | Buffer, headers = bearer()): Promise<Answer> =>
  ask("POST", "/tools/invoke", headers, body);

test("health answers without a secret and reveals nothing more", async () => {
  const { status, body } = await ask("GET", "/health");
  assert.deepEqual({ status, body }, { status: 200, body: '{"ok":true}' });
});

const refusals: [name: string, call: () => Promise<Answer>, status: number, body: unknown][] = [
  ["another verb", () => ask("GET", "/tools/invoke", bearer()), 405, "Method Not Allowed"],
  ["no secret", () => post("{}", {} as never), 401, { error: { message: "Unauthorized", type: "unauthorized" } }],
  [
    "a wrong secret",
    () => post("{}", { authorization: "Bearer nope" } as never),
    401,
    { error: { message: "Unauthorized", type: "unauthorized" } },
  ],
  [
    "the secret in another header",
    () => post("{}", { "x-openclaw-token": gateway.token } as never),
    401,
    { error: { message: "Unauthorized", type: "unauthorized" } },
  ],
  [
    "an empty body",
    () => post(""),
    400,
    { error: { message: "tools.invoke requires body.tool", type: "invalid_request_error" } },
  ],
  [
    "an array",
    () => post("[]"),
    400,
    { error: { message: "tools.invoke requires body.tool", type: "invalid_request_error" } },
  ],
  [
    "no tool",
    () => post("{}"),
    400,
    { error: { message: "tools.invoke requires body.tool", type: "invalid_request_error" } },
  ],
  [
    "another content type",
    () => post("{}", { ...bearer(), "content-type": "text/plain" }),
    415,
    { error: { message: "send application/json", type: "unsupported_media_type" } },
  ],
  [
    "three megabytes",
    () => post(JSON.stringify({ tool: "read", pad: "x".repeat(3_000_000) })),
    413,
    { error: { message: "the body is larger than 2000000 bytes", type: "payload_too_large" } },
  ],
  ["POST to the page", () => ask("POST", "/", {}, "{}"), 405, "Method Not Allowed"],
];
for (const [name, call, status, expected] of refusals) {
  test(`/tools/invoke with ${name}: ${status}`, async () => {
    const answer = await call();
    const body: unknown = typeof expected === "string" ? answer.body : JSON.parse(answer.body);
    assert.deepEqual({ status: answer.status, body }, { status, body: expected });
  });
}

test("invalid JSON and invalid UTF-8 are 400 with the reason", async () => {
  for (const bytes of ["{nope", Buffer.from([0x7b, 0x22, 0xc3, 0x28, 0x22, 0x7d])]) {
    const { status, body } = await post(bytes);
    assert.equal(status, 400);
    const { error } = JSON.parse(body) as { error: { type: string; message: string } };
    assert.equal(error.type, "invalid_request_error");
    assert.match(error.message, /^the body is not JSON: /);
  }
});

test("an unknown tool is 404 in the recorded shape, with the nearest name in the details", async () => {
  const { status, body } = await invoke(gateway, "web_fecth");
  assert.equal(status, 404);
  const { ok, error } = body as { ok: boolean; error: { type: string; message: string; details: { reason: string } } };
  assert.deepEqual(
    { ok, type: error.type, message: error.message },
    { ok: false, type: "not_found", message: "Tool not available: web_fecth" },
  );
  assert.match(error.details.reason, /web_fetch/);
});

test("a denied tool is 404 with the whole explanation", async () => {
  const { status, body } = await invoke(gateway, "browser");
  assert.equal(status, 404);
  const { error } = body as {
    error: { details: { explain: string; decision: { allowed: boolean; decidedBy: { path: string } } } };
  };
  assert.equal(error.details.decision.allowed, false);
  assert.equal(error.details.decision.decidedBy.path, "tools.deny[0]");
  assert.match(error.details.explain, /tools\.deny\[0\]/);
  assert.match(error.details.explain, /openclaw\.json:\d+/);
});

test("a tool answers 200 with content and details", async () => {
  const { status, body } = await invoke(gateway, "agents_list", {});
  assert.equal(status, 200);
  assert.deepEqual((body as { result: { details: unknown } }).result.details, {
    requester: "main",
    allowAny: false,
    agents: [{ id: "main", configured: false }],
  });
});

test("bad arguments are 400 and name what is wrong", async () => {
  const { status, body } = await invoke(gateway, "sessions_list", { limit: "many", approved: true });
  assert.equal(status, 400);
  const { error } = body as { error: { type: string; message: string } };
  assert.equal(error.type, "tool_error");
  assert.match(error.message, /sessions_list has no parameter "approved"/);
  assert.match(error.message, /"limit" must be a whole number, not "many"/);
});

test("an unknown agent is refused with the known ones and creates nothing", async () => {
  const { status, body } = await invoke(gateway, "session_status", {}, { body: { sessionKey: "agent:zzz:main" } });
  assert.equal(status, 400);
  assert.match((body as { error: { message: string } }).error.message, /no agent "zzz"; known: main/);
});

test("every answer carries the security headers", async () => {
  for (const path of ["/", "/health", "/nope"]) {
    const { headers } = await ask("GET", path);
    assert.equal(headers["x-frame-options"], "DENY");
    assert.equal(headers["x-content-type-options"], "nosniff");
    assert.equal(headers["referrer-policy"], "no-referrer");
    assert.match(String(headers["content-security-policy"]), /frame-ancestors 'none'/);
    assert.ok(headers["permissions-policy"] !== undefined);
  }
});

test("serves the page for every path and no file outside its folder", async () => {
  for (const path of [
    "/",
    "/chat",
    "/nope.txt",
    "/../../package.json",
    "/%2e%2e/%2e%2e/package.json",
    "/assets/../../../etc/passwd",
  ]) {
    const { status, headers, body } = await ask("GET", path);
    assert.equal(status, 200, path);
    assert.equal(headers["content-type"], "text/html; charset=utf-8");
    assert.match(body, /<!doctype html>/i);
  }
});

test("refuses a foreign host name (DNS rebinding) and a foreign page", async () => {
  assert.equal((await ask("GET", "/health", { host: "evil.example:18789" })).status, 403);
  assert.equal(
    (await ask("POST", "/tools/invoke", { ...bearer(), origin: "https://evil.example" }, '{"tool":"agents_list"}'))
      .status,
    403,
  );
  assert.equal((await ask("GET", "/health", { host: `localhost:${gateway.port}` })).status, 200);
});

test("GWY-048 a header with control characters cannot forge a log line", async () => {
  await new Promise<void>((resolve) => {
    const { connect } = process.getBuiltinModule("node:net");
    const socket = connect(gateway.port, "127.0.0.1", () => {
      socket.write(
        "GET /health HTTP/1.1\r\nhost: 127.0.0.1\r\nuser-agent: x\u001b[2J\u009bfake\r\nconnection: close\r\n\r\n",
      );
    });
    socket.on("close", () => resolve());
    socket.resume();
  });
  assert.ok(!gateway.output().includes("\u001b[2J"));
});
