// Tools of MCP servers in turns of an agent: the search tool, what servers ask of the owner, and the end of their processes.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { call, say } from "../../fakes/openai.ts";
import { dispose, invoke, operator, startGateway } from "../../harness/gateway.ts";
import { answerNext, fakeStdio } from "../../harness/mcp-client.ts";
import { chat, messagesOf, openScripted, textOf, toolsOf, type ScriptedGateway } from "../../harness/model.ts";

let few: ScriptedGateway;
let many: ScriptedGateway;
before(async () => {
  few = await openScripted({
    mcp: { servers: { fake: fakeStdio({ tools: { allow: ["echo", "sample", "form", "slow"] } }) } },
  });
  many = await openScripted({
    mcp: { servers: { archive: fakeStdio({ env: { FAKE_MANY: "200" }, tools: { allow: ["record_*"] } }) } },
    tools: { deny: ["archive__record_13"] },
  });
});
after(async () => {
  await few.close();
  await many.close();
});

/** Tool names and size of the first request of a turn. */
async function firstRequest(runtime: ScriptedGateway, runId: string): Promise<{ tools: string[]; bytes: number }> {
  let first: { tools: string[]; bytes: number } | undefined;
  runtime.script = (_last, request) => {
    first ??= { tools: toolsOf(request), bytes: Buffer.byteLength(JSON.stringify(request.body)) };
    return say("hello");
  };
  await chat(runtime.wire, `agent:main:${runId}`, "hi", runId);
  return first ?? { tools: [], bytes: 0 };
}

test("a few tools are offered by name", async () => {
  await invoke(few.gateway, "fake__echo", { text: "x" });
  const { tools } = await firstRequest(few, "few");
  assert.deepEqual(
    tools.filter((name) => name.startsWith("fake__") || name === "mcp_tools"),
    ["fake__echo", "fake__slow", "fake__sample", "fake__form"],
  );
});

test("200 tools cost the first request at most 2,500 bytes", async (t) => {
  const plain = await openScripted();
  t.after(() => plain.close());
  const without = await firstRequest(plain, "none");
  await invoke(many.gateway, "archive__record_1", {});
  const withTools = await firstRequest(many, "many");
  assert.ok(withTools.tools.includes("mcp_tools"));
  assert.ok(!withTools.tools.some((name) => name.startsWith("archive__")));
  t.diagnostic(`${withTools.bytes - without.bytes} bytes`);
  assert.ok(withTools.bytes - without.bytes <= 2_500, `${withTools.bytes - without.bytes} bytes`);
});

test("the model finds a tool by words, reads its schema and calls it under that tool's own policy", async () => {
  const results: string[] = [];
  const steps = [
    call("mcp_tools", { search: "harbor record 7", limit: 2 }),
    call("mcp_tools", { name: "archive__record_7", arguments: { field: "name" } }),
    call("mcp_tools", { name: "archive__record_13", arguments: {} }),
    call("mcp_tools", { name: "archive__record_7", arguments: { field: 5 } }),
    call("mcp_tools", { name: "exec", arguments: { command: "id" } }),
  ];
  let at = 0;
  many.script = (last) => {
    if (last.role === "tool") results.push(String(last.content));
    return steps[at++] ?? say("done");
  };
  assert.equal(textOf(await chat(many.wire, "agent:main:search", "look it up", "search")), "done");
  const [found = "", called = "", denied = "", wrong = "", escaped = ""] = results;
  assert.match(found, /archive__record_7/);
  assert.match(found, /"field":\{"type":"string"/);
  assert.match(called, /record 7/);
  assert.match(denied, /archive__record_13.*denies it/s);
  assert.match(wrong, /field/);
  assert.match(escaped, /no connected MCP server has a tool named/);
  const { body } = await invoke(many.gateway, "mcp_tools", { search: "record 13", limit: 20 });
  assert.doesNotMatch(JSON.stringify(body), /archive__record_13"/);
  const journal = await many.wire.request("tools.journal", { limit: 20 });
  const rows = journal.payload?.entries ?? [];
  assert.ok(rows.some(({ tool, outcome }) => tool === "archive__record_7" && outcome === "ok"));
  assert.ok(rows.some(({ tool, outcome }) => tool === "archive__record_13" && outcome === "refused"));
});

test("progress of a tool reaches clients while it runs", async (t) => {
  const wire = await operator(few.gateway, { extra: { caps: ["tool-events"] } });
  t.after(() => wire.end());
  few.script = (last) => (last.role === "tool" ? say("done") : call("fake__slow", {}));
  await chat(wire, "agent:main:progress", "go", "progress");
  // A report that arrives together with the result is dropped by the client library, so only the first one is certain.
  assert.match(JSON.stringify(wire.frames), /"phase":"update"[^]*step 1[^]*"phase":"result"/);
});

for (const [decision, expected] of [
  ["allow-once", /Paris, says the model/],
  ["deny", /the owner did not allow it/],
] as const)
  test(`a server's question to the model waits for the owner: ${decision}`, async () => {
    few.script = (last, request) => {
      if (/capital of France/.test(JSON.stringify(messagesOf(request).at(-1)))) return say("Paris, says the model");
      return last.role === "tool" ? say(`result: ${String(last.content)}`) : call("fake__sample", {});
    };
    const run = chat(few.wire, `agent:main:sample-${decision}`, "ask", `sample-${decision}`);
    await answerNext(few.wire, decision, /MCP server fake asks your model/, /What is the capital of France/);
    assert.match(textOf(await run), expected);
  });

test("a question that is too long for the owner to read is refused", async () => {
  const { body } = await invoke(few.gateway, "fake__sample", { question: "x".repeat(30_000) });
  assert.match(JSON.stringify(body), /longer than the 20000 characters/);
});

for (const [decision, expected] of [
  ["allow-once", /"action":\s*\\?"accept/],
  ["deny", /"action":\s*\\?"decline/],
] as const)
  test(`a server's form waits for the owner: ${decision}`, async () => {
    few.script = (last) => (last.role === "tool" ? say(`result: ${String(last.content)}`) : call("fake__form", {}));
    const run = chat(few.wire, `agent:main:form-${decision}`, "ask", `form-${decision}`);
    await answerNext(few.wire, decision, /MCP server fake asks for input/, /Delete the record/);
    assert.match(textOf(await run), expected);
  });

for (const signal of ["SIGTERM", "SIGKILL"] as const)
  test(`the programs of servers end with the gateway, also after ${signal}`, async (t) => {
    const gateway = await startGateway({ config: { mcp: { servers: { fake: fakeStdio() } } } });
    t.after(() => dispose(gateway));
    const { body } = await invoke(gateway, "fake__environment");
    const pid = Number(/\\"pid\\":(\d+)/.exec(JSON.stringify(body))?.[1]);
    assert.ok(pid > 1 && isAlive(pid), JSON.stringify(body).slice(0, 300));
    await gateway.stop(signal);
    for (let tries = 0; tries < 1_000 && isAlive(pid); tries += 1) await sleep(10);
    assert.equal(isAlive(pid), false);
  });

function isAlive(pid: number): boolean {
  try {
    return !/^\d+ \(.*\) [ZX]/.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    return false; // gone
  }
}
