// Attacks on sessions through the sessions tools: other agents, other keys, other people's models.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { dispose, invoke, operator, startGateway, type TestGateway, type Wire } from "../harness/gateway.ts";

let gateway: TestGateway;
let admin: Wire;
before(async () => {
  gateway = await startGateway({ config: { agents: { list: [{ id: "main", default: true }, { id: "other" }] } } });
  admin = await operator(gateway);
  for (const key of ["agent:main:main", "agent:other:main", "agent:main:subagent:child"])
    await admin.request("sessions.patch", { key, label: key.slice(6) });
});
after(async () => {
  admin.end();
  await dispose(gateway);
});

interface ToolAnswer {
  readonly ok: boolean;
  readonly result?: { readonly details: { readonly sessions: { readonly key: string }[] } };
  readonly error?: { readonly message: string; readonly details?: { readonly code?: string } };
}
const call = async (tool: string, args: object, sessionKey?: string): Promise<ToolAnswer> =>
  (await invoke(gateway, tool, args, { body: sessionKey === undefined ? {} : { sessionKey } })).body as ToolAnswer;

test("SES-004 does not list or read the sessions of another agent", async () => {
  const listed = await call("sessions_list", {});
  assert.deepEqual(listed.result?.details.sessions.map(({ key }) => key).sort(), [
    "agent:main:main",
    "agent:main:subagent:child",
  ]);
  const read = await call("sessions_history", { sessionKey: "agent:other:main" });
  assert.equal(read.error?.details?.code, "session.unknown");
});

test("SES-002 nor by session id", async () => {
  const { sessions } = await admin.call("sessions.list", {});
  const id = sessions.find(({ key }) => key === "agent:other:main")?.sessionId ?? "";
  assert.ok(id.length > 10);
  assert.equal((await call("sessions_history", { sessionKey: id })).error?.details?.code, "session.unknown");
  assert.equal((await call("session_status", { sessionKey: id })).error?.details?.code, "session.unknown");
});

test("SES-003 a subagent cannot set its parent's model", async () => {
  const tried = await call(
    "session_status",
    { sessionKey: "agent:main:main", model: "openai/gpt-5.2" },
    "agent:main:subagent:child",
  );
  assert.equal(tried.ok, false);
  const { sessions } = await admin.call("sessions.list", {});
  assert.equal(sessions.find(({ key }) => key === "agent:main:main")?.modelOverride, undefined);
});

test("SES-015 refuses a malformed session key", async () => {
  for (const key of [
    "agent:main:../../x",
    "agent:main:a\u0000b",
    "agent:main:a/b",
    "agent:main:a\u202eb",
    "agent:../x:main",
    `agent:main:${"x".repeat(300)}`,
  ]) {
    const answer = await call("session_status", {}, key);
    assert.equal(answer.ok, false, JSON.stringify(key));
    assert.match(answer.error?.details?.code ?? "", /^(session\.bad-key|agent\.bad-id)$/);
  }
});

test("POL-014 refuses numbers out of range and text that is not a number", async () => {
  for (const limit of [-1, 0, "many", "-1", "0x10", "1e9", " 30", "", true, [30], { limit: 30 }]) {
    assert.equal(
      (await call("sessions_list", { limit })).error?.details?.code,
      "tool.bad-arguments",
      JSON.stringify(limit),
    );
  }
  for (const limit of [30, "30", 1.5, null])
    assert.equal((await call("sessions_list", { limit })).ok, true, String(limit));
});

test("POL-015 refuses huge, malformed and duplicate arguments before any effect", async () => {
  assert.equal((await call("write", { path: "a.txt", content: "\ud800" })).error?.details?.code, "tool.bad-arguments");
  const doubled = await fetch(`${gateway.url}/tools/invoke`, {
    method: "POST",
    headers: { authorization: `Bearer ${gateway.token}`, "content-type": "application/json" },
    body: '{"tool":"write","args":{"path":"a.txt","path":"b.txt","content":"x"}}',
  });
  assert.equal(doubled.status, 400);
});

test("POL-016 refuses fields that only the gateway may set", async () => {
  const answer = await call("write", { path: "a.txt", content: "x", approved: true });
  assert.match(answer.error?.message ?? "", /has no parameter "approved"/);
});
