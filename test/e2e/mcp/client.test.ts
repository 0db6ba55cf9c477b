// Tools of MCP servers through the front door: results, policy, faults and what a server may ask of us.
import assert from "node:assert/strict";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";

import { startFakeMcpHttp, type FakeMcpHttp } from "../../fakes/mcp-http.ts";
import { INJECTION } from "../../fakes/mcp-tools.ts";
import { invoke, openclaw, operator, tempHome } from "../../harness/gateway.ts";
import { fakeStdio, startMcpGateway, type McpGateway } from "../../harness/mcp-client.ts";

let runtime: McpGateway;
let http: FakeMcpHttp;
const home = tempHome();
const changedFile = join(home, "changed");

before(async () => {
  http = await startFakeMcpHttp();
  runtime = await startMcpGateway(
    {
      fake: fakeStdio({ env: { FAKE_CHANGED: changedFile, PLAIN: "for the server" } }),
      quick: fakeStdio({ timeoutMs: 1_000 }),
      web: { url: http.url },
      broken: { command: "/nonexistent/program" },
      filtered: fakeStdio({ tools: { allow: ["e*", "sum"], deny: ["environment"] } }),
    },
    {
      home,
      env: { SECRET_API_KEY: "sk-never-for-servers-0123456789", OPENCLAW_X: "1" },
      config: { tools: { deny: ["fake__huge"] } },
    },
  );
});
after(async () => {
  await runtime.close();
  await http.close();
});

test("a tool of a stdio server is called as server__tool and its text is marked as untrusted", async () => {
  const { ok, text, error } = await runtime.call("fake__echo", { text: "hello" });
  assert.ok(ok, JSON.stringify(error));
  assert.match(text, /^<outside [0-9a-f]+ source="mcp:fake__echo">\nhello\n<\/outside [0-9a-f]+>$/);
});

test("a tool of a streamable HTTP server works the same way", async () => {
  const { ok, text, error } = await runtime.call("web__echo", { text: "over http" });
  assert.ok(ok, JSON.stringify(error));
  assert.match(text, /over http/);
});

test("a structured result is kept as details and shown as text", async () => {
  const { details, text } = await runtime.call("fake__sum", { a: 2, b: 3 });
  assert.deepEqual(details, { sum: 5 });
  assert.match(text, /"sum": 5/);
});

test("images, sounds, links and resources are kept", async () => {
  const { content, attachments, text } = await runtime.call("fake__picture");
  assert.deepEqual(
    content.filter(({ type }) => type === "image").map(({ mimeType }) => mimeType),
    ["image/png"],
  );
  assert.deepEqual(
    attachments.map(({ type }) => type),
    ["audio", "resource_link", "resource"],
  );
  assert.match(text, /four parts[\s\S]*note one[\s\S]*inside the note/);
});

test("an error that a tool reports is an error of the call, not a failure of the server", async () => {
  const { ok, isError, text } = await runtime.call("fake__fail");
  assert.deepEqual([ok, isError], [true, true]);
  assert.match(text, /no such record/);
});

test("arguments are checked against the server's schema before the call", async () => {
  const { ok, error } = await runtime.call("fake__sum", { a: 2 });
  assert.equal(ok, false);
  assert.equal(error?.code, "tool.bad-arguments");
  assert.match(error?.message ?? "", /b/);
});

test("a server gets a clean environment, its own variables and the workspace as folder", async () => {
  const { text } = await runtime.call("fake__environment");
  const { env, cwd } = JSON.parse(text.split("\n")[1] ?? "") as { env: Record<string, string>; cwd: string };
  assert.equal(env["PLAIN"], "for the server");
  assert.deepEqual([env["SECRET_API_KEY"], env["OPENCLAW_X"]], [undefined, undefined]);
  assert.ok(cwd.startsWith(runtime.gateway.home), cwd);
});

test("policy decides on each tool, on the server id and on group:mcp", async () => {
  const one = await runtime.call("fake__huge");
  assert.equal(one.error?.code, "tool.refused");
  assert.match(one.error?.message ?? "", /fake__huge/);
  const wire = await operator(runtime.gateway);
  try {
    const catalog = await wire.call("tools.catalog", {});
    const row = catalog.tools.find(({ name }) => name === "fake__echo");
    assert.deepEqual([row?.source, row?.group, row?.allowed], ["mcp:fake", "mcp", true]);
    assert.match(row?.explain ?? "", /MCP server fake/);
  } finally {
    wire.end();
  }
});

test("mcp.servers.<id>.tools hides tools of a server", async () => {
  const shown = await runtime.call("filtered__echo", { text: "x" });
  assert.ok(shown.ok, JSON.stringify(shown.error));
  assert.equal((await runtime.call("filtered__environment")).error?.code, "tool.unknown");
  assert.equal((await runtime.call("filtered__picture")).error?.code, "tool.unknown");
});

test("a server that cannot start fails with a clear error and does not affect others", async () => {
  const { error } = await runtime.call("broken__anything");
  assert.equal(error?.code, "mcp.not-started");
  assert.match(error?.message ?? "", /broken did not start/);
  assert.equal(error?.hint, "openclaw mcp test broken");
  assert.ok((await runtime.call("fake__echo", { text: "still here" })).ok);
});

test("a server killed in the middle of a call gives a clear error, and the next call works", async () => {
  const { error } = await runtime.call("fake__die");
  assert.equal(error?.code, "mcp.ended");
  assert.match(error?.message ?? "", /ended with exit code 3/);
  assert.match(error?.hint ?? "", /openclaw mcp test fake/);
  assert.ok((await runtime.call("fake__echo", { text: "again" })).ok);
});

test("a call that gets no answer ends at timeoutMs, and the next call works", async () => {
  const { error } = await runtime.call("quick__hang");
  assert.equal(error?.code, "mcp.timeout");
  assert.match(error?.hint ?? "", /openclaw mcp test quick/);
  assert.ok((await runtime.call("quick__echo", { text: "again" })).ok);
});

test("a server that stops answering is replaced", async () => {
  assert.equal((await runtime.call("quick__freeze")).error?.code, "mcp.timeout");
  const { ok, error } = await runtime.call("quick__echo", { text: "new process" });
  assert.ok(ok, JSON.stringify(error));
});

test("a server that floods is stopped, and the next call works", async () => {
  const { error } = await runtime.call("fake__flood");
  assert.equal(error?.code, "mcp.ended");
  assert.match(error?.message ?? "", /sent a message of more than/);
  assert.ok((await runtime.call("fake__echo", { text: "again" })).ok);
});

test("a huge result is cut before it is marked", async () => {
  const { text } = await runtime.call("web__huge");
  assert.ok(text.length < 110_000, `${text.length}`);
  assert.match(text, /<\/outside [0-9a-f]+>\n\[cut: the first 100000 of 5000000 characters\]$/);
});

test("a result that breaks the declared schema or the protocol is an error", async () => {
  const lie = await runtime.call("fake__lie");
  assert.equal(lie.error?.code, "mcp.bad-result");
  assert.match(lie.error?.message ?? "", /does not match the schema that it declares/);
  assert.ok(["mcp.bad-result", "mcp.failed"].includes((await runtime.call("fake__garbage")).error?.code ?? ""));
});

test("instructions in a description or a result reach the model disarmed and marked", async () => {
  const { text } = await runtime.call("fake__inject");
  assert.match(text, /^<outside /);
  assert.doesNotMatch(text, /<\|im_start\|>/);
  const wire = await operator(runtime.gateway);
  try {
    const { tools } = await wire.call("tools.catalog", {});
    const row = tools.find(({ name }) => name === "fake__inject");
    assert.match(row?.description ?? "", /^Tool of the MCP server fake, in the words of that server: /);
    assert.doesNotMatch(row?.description ?? "", /<\|im_start\|>/);
  } finally {
    wire.end();
  }
});

test("a changed description is not used until the owner approves it again", async () => {
  assert.ok((await runtime.call("fake__echo", { text: "before" })).ok);
  writeFileSync(changedFile, "");
  try {
    // The server says so itself; the same is found when it starts again.
    await runtime.call("fake__changed");
    await runtime.call("fake__die");
    const refused = await runtime.call("fake__echo", { text: "x" });
    assert.match(refused.error?.code ?? "", /^(?:mcp\.tool-changed|tool\.unavailable)$/);
    assert.equal(refused.error?.hint, "openclaw mcp approve fake");
    assert.ok((await runtime.call("fake__sum", { a: 1, b: 1 })).ok, "other tools go on");
    assert.equal((await runtime.call("fake__added")).error?.code, "tool.unknown");
    const listed = await openclaw(home, ["mcp", "list"]);
    assert.match(listed.stdout, /fake\s+changed: openclaw mcp approve fake/);
    const doctor = await openclaw(home, ["doctor", "--json"]);
    const { findings } = JSON.parse(doctor.stdout) as { findings: { check: string }[] };
    assert.deepEqual(
      findings.filter(({ check }) => check === "MCP servers"),
      [
        {
          check: "MCP servers",
          level: "warn",
          message:
            "MCP server fake changed its tools since you approved them: changed echo; new added. Agents use changed and new tools after you approve them.",
          hint: "openclaw mcp approve fake",
          repairable: false,
        },
      ],
    );
    const tested = await openclaw(home, ["mcp", "test", "fake"]);
    assert.equal(tested.code, 1);
    assert.match(tested.stderr, /Changed: echo/);
    const approved = await openclaw(home, ["mcp", "approve", "fake", "--yes", "--json"]);
    assert.equal(approved.code, 0, approved.stderr);
    assert.deepEqual(JSON.parse(approved.stdout).changes, { added: ["added"], changed: ["echo"], removed: [] });
    assert.ok((await runtime.call("fake__echo", { text: "after" })).ok);
    assert.match((await openclaw(home, ["doctor"])).stdout, /ok +MCP servers +\d configured, no changed tools/);
    assert.match(INJECTION, /Ignore/);
  } finally {
    rmSync(changedFile, { force: true });
  }
});

test("a server learns the workspace as its root", async () => {
  const { text } = await runtime.call("quick__roots");
  assert.match(text, new RegExp(`file://${runtime.gateway.workspace}`));
});

test("an HTTP server that forgot its session is connected again", async () => {
  assert.ok((await runtime.call("web__echo", { text: "one" })).ok);
  http.forgetSessions();
  const { ok, error } = await runtime.call("web__echo", { text: "two" });
  assert.ok(ok, JSON.stringify(error));
});

test("the approved tools are in a private file and known without a start of the server", async () => {
  const file = join(runtime.gateway.state, "mcp", "fake.json");
  assert.ok(existsSync(file));
  assert.match(readFileSync(file, "utf8"), /"name": "echo"/);
  const { stdout, code } = await openclaw(home, ["tools", "explain", "web__echo"]);
  assert.equal(code, 0);
  assert.match(stdout, /MCP server web/);
});

test("a call is stopped by its caller", async () => {
  const control = new AbortController();
  const asked = fetch(`${runtime.gateway.url}/tools/invoke`, {
    method: "POST",
    headers: { authorization: `Bearer ${runtime.gateway.token}`, "content-type": "application/json" },
    body: JSON.stringify({ tool: "web__hang" }),
    signal: control.signal,
  });
  control.abort();
  await assert.rejects(asked);
  const { status } = await invoke(runtime.gateway, "web__echo", { text: "free" });
  assert.equal(status, 200);
});
