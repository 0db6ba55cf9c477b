// A conversation through the gateway: streaming, tools under policy, idempotency, abort, failures, commands, restarts.
import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { until } from "../../harness/exec.ts";
import {
  call,
  calls,
  fail,
  hang,
  say,
  startFakeOpenAI,
  type FakeRequest,
  type FakeServer,
  type Reply,
} from "../../fakes/openai.ts";
import { dispose, operator, startGateway, type Frame, type TestGateway, type Wire } from "../../harness/gateway.ts";
import { chat, chatEnd, startWithModel, textOf } from "../../harness/model.ts";

let script: (request: FakeRequest, index: number) => Reply | Promise<Reply> = () => say("hello");
let server: FakeServer;
let gateway: TestGateway;
let wire: Wire;
before(async () => {
  server = await startFakeOpenAI((request, index) => script(request, index));
  gateway = await startWithModel(server);
  wire = await operator(gateway, { extra: { caps: ["tool-events"] } });
  mkdirSync(gateway.workspace, { recursive: true });
  writeFileSync(join(gateway.workspace, "note.txt"), "forty-two\n");
});
after(async () => {
  wire.end();
  await dispose(gateway);
  await server.close();
});

type Sent = {
  readonly messages: {
    readonly role: string;
    readonly content: unknown;
    readonly tool_calls?: unknown[];
    readonly tool_call_id?: string;
  }[];
  readonly tools?: { readonly function: { readonly name: string } }[];
};
const lastRequest = (): Sent =>
  server.requests.findLast(({ path }) => path.endsWith("/chat/completions"))?.body as Sent;

test("a plain turn streams, ends once, and is in the history", async () => {
  script = () => say("plain reply from the model", { chunks: 5, delayMs: 5 });
  const end = await chat(wire, "main", "hello", "run-plain");
  assert.deepEqual({ state: end.state, text: textOf(end) }, { state: "final", text: "plain reply from the model" });
  const { messages } = await wire.call("chat.history", { sessionKey: "main" });
  assert.deepEqual(
    messages.map(({ role }) => role),
    ["user", "assistant"],
  );
  assert.equal(
    wire.frames.filter(
      (frame) =>
        (frame.payload as { runId?: string; state?: string } | undefined)?.runId === "run-plain" &&
        frame.event === "chat" &&
        (frame.payload as { state: string }).state === "final",
    ).length,
    1,
  );
});

test("runs the same idempotency key once and repeats its outcome", async () => {
  const before = server.requests.length;
  const again = await wire.request("chat.send", { sessionKey: "main", message: "hello", idempotencyKey: "run-plain" });
  assert.deepEqual(again.payload, { runId: "run-plain", status: "ok" });
  assert.equal(server.requests.length, before);
});

test("a tool call passes policy, its result reaches the model, and tool events are sent", async () => {
  script = (_request, index) =>
    lastIsTool() ? say("it says forty-two") : call("read", { path: "note.txt" }, { id: `call_${index}` });
  const end = await chat(wire, "main", "what is in the note?", "run-tool");
  assert.equal(textOf(end), "it says forty-two");
  assert.match(JSON.stringify(lastRequest().messages.at(-1)), /forty-two/);
  const phases = wire.frames
    .filter((frame) => frame.event === "agent")
    .map((frame) => frame.payload as { runId: string; stream: string; data: { phase?: string; name?: string } })
    .filter(({ runId, stream }) => runId === "run-tool" && stream === "tool")
    .map(({ data }) => `${data.phase} ${data.name}`);
  assert.deepEqual(phases, ["start read", "result read"]);
  const { entries } = await wire.call("tools.journal", { tool: "read", limit: 5 });
  assert.equal(entries[0]?.outcome, "ok");
});

function lastIsTool(): boolean {
  return lastRequest().messages.at(-1)?.role === "tool";
}

test("a tool that policy removes is neither in the prompt nor in the tools, and calling it is refused", async () => {
  const own = await startFakeOpenAI((request) =>
    (request.body as Sent).messages.at(-1)?.role === "tool"
      ? say("refused, then")
      : call("write", { path: "x.txt", content: "y" }),
  );
  const strict = await startWithModel(own, { more: { tools: { deny: ["write"] } } });
  const client = await operator(strict);
  await chat(client, "main", "write it", "run-denied");
  const [first, second] = own.requests
    .filter(({ path }) => path.endsWith("/chat/completions"))
    .map(({ body }) => body as Sent);
  assert.ok(!(first?.tools ?? []).some((tool) => tool.function.name === "write"));
  assert.doesNotMatch(JSON.stringify(first?.messages[0]), /\bwrite\b:/);
  assert.match(JSON.stringify(second?.messages.at(-1)), /write/);
  client.end();
  await dispose(strict);
  await own.close();
});

test("answers parallel calls in order", async () => {
  script = () =>
    lastIsTool()
      ? say("both")
      : calls([
          { name: "read", args: { path: "note.txt" }, id: "a1" },
          { name: "agents_list", args: {}, id: "a2" },
        ]);
  assert.equal(textOf(await chat(wire, "agent:main:par", "both", "run-par")), "both");
  const ids = lastRequest()
    .messages.filter(({ role }) => role === "tool")
    .map((message) => message.tool_call_id);
  assert.deepEqual(ids, ["a1", "a2"]);
});

test("abort stops the run, reports it once, and the session continues", async () => {
  script = () => hang("after");
  await wire.request("chat.send", { sessionKey: "agent:main:stop", message: "long", idempotencyKey: "run-stop" });
  await sleep(200);
  const stopped = await wire.request("chat.abort", { sessionKey: "agent:main:stop" });
  assert.deepEqual(stopped.payload, { ok: true, aborted: true, runIds: ["run-stop"] });
  assert.equal((await chatEnd(wire, "run-stop")).state, "aborted");
  script = () => say("still here");
  assert.equal(textOf(await chat(wire, "agent:main:stop", "again", "run-stop-2")), "still here");
});

test("a failing model is a readable error on the wire, and the session stays usable", async () => {
  script = () => fail(401, { error: { message: "bad key", type: "invalid_request_error" } });
  const end = await chat(wire, "agent:main:fail", "hi", "run-fail");
  assert.equal(end.state, "error");
  assert.ok((end.errorMessage ?? "").length > 10);
  script = () => say("recovered");
  assert.equal(textOf(await chat(wire, "agent:main:fail", "again", "run-fail-2")), "recovered");
});

test("`agent` answers twice on one id: accepted, then the result", async () => {
  script = () => say("agent reply");
  const seen = wire.frames.length;
  const first = await wire.request("agent", { message: "hi", agentId: "main", idempotencyKey: "run-agent" }, "agent-1");
  assert.equal(first.payload?.status, "accepted");
  await chatEnd(wire, "run-agent");
  const answers = await until(
    () => wire.frames.slice(seen).filter((frame: Frame) => frame.id === "agent-1"),
    (found) => found.length >= 2,
  );
  const second = answers[1]?.payload as { status: string; result: { payloads: { text: string }[] } };
  assert.deepEqual(
    { status: second.status, payloads: second.result.payloads },
    { status: "ok", payloads: [{ text: "agent reply", mediaUrl: null }] },
  );
  const waited = await wire.call("agent.wait", { runId: "run-agent", timeoutMs: 1000 });
  assert.equal(waited.status, "ok");
});

test("counts usage by day and by session", async () => {
  const cost = await wire.call("usage.cost", { days: 1 });
  assert.ok(cost.totals.totalTokens > 0 && cost.totals.totalCost > 0, JSON.stringify(cost.totals));
  const usage = await wire.call("sessions.usage", { key: "main" });
  assert.deepEqual(
    usage.sessions.map(({ key }) => key),
    ["agent:main:main"],
  );
  assert.ok((usage.sessions[0]?.usage.totalTokens ?? 0) > 0);
});

test("chat commands answer without a model; /tool runs a tool under the same policy", async () => {
  const bare = await startGateway();
  const client = await operator(bare);
  const status = await chat(client, "main", "/status", "cmd-1");
  assert.equal(status.state, "final");
  assert.match(textOf(status), /OpenClaw/);
  const tool = await chat(client, "main", "/tool agents_list {}", "cmd-2");
  assert.match(textOf(tool), /main/);
  const refused = await chat(client, "main", "hello?", "cmd-3");
  assert.equal(refused.state, "error");
  assert.match(refused.errorMessage ?? "", /model/i);
  client.end();
  await dispose(bare);
});

test("the history shows chat commands with their answers, and the model does not read them", async () => {
  const sessionKey = "agent:main:commands";
  const answer = textOf(await chat(wire, sessionKey, "/status", "shown-1"));
  const refused = await chat(wire, sessionKey, "/tool no_such_tool {}", "shown-2");
  script = () => say("noted");
  await chat(wire, sessionKey, "hello", "shown-3");
  const { messages } = await wire.call("chat.history", { sessionKey });
  const brief = messages.map((message) => [
    message.role,
    message.runId,
    message.content.map((block) => (block.type === "text" ? block.text : block.type)).join(),
  ]);
  assert.deepEqual(brief, [
    ["user", "shown-1", "/status"],
    ["assistant", "shown-1", answer],
    ["user", "shown-2", "/tool no_such_tool {}"],
    ["assistant", "shown-2", ""],
    ["user", undefined, "hello"],
    ["assistant", undefined, "noted"],
  ]);
  const failed = messages[3];
  assert.ok(failed?.role === "assistant" && refused.errorMessage !== undefined);
  assert.ok(failed.errorMessage?.startsWith(refused.errorMessage));
  assert.doesNotMatch(JSON.stringify(lastRequest().messages), /\/status|no_such_tool/);
  const last = await wire.call("chat.history", { sessionKey, limit: 5 });
  assert.deepEqual(last.messages, messages.slice(1));
  const preview = await wire.call("sessions.preview", { keys: [sessionKey] });
  assert.doesNotMatch(JSON.stringify(preview), /\/status/);
});

test("a conversation survives a kill: the history is there and the next turn sees it", async () => {
  const own = await startFakeOpenAI(() => say("noted"));
  const first = await startWithModel(own);
  const client = await operator(first);
  await chat(client, "main", "my number is seven", "before-kill");
  await first.stop("SIGKILL");
  const next = await startGateway({ home: first.home });
  const again = await operator(next);
  await chat(again, "main", "what was it?", "after-kill");
  const messages = own.requests.at(-1)?.body;
  assert.match(JSON.stringify(messages), /my number is seven/);
  again.end();
  await dispose(next);
  await own.close();
});

test("a gateway killed during a turn records it as interrupted and continues", async () => {
  let hanging = true;
  const own = await startFakeOpenAI(() => (hanging ? hang("after") : say("back")));
  const first = await startWithModel(own);
  const client = await operator(first);
  await client.request("chat.send", { sessionKey: "main", message: "slow one", idempotencyKey: "mid" });
  await sleep(300);
  await first.stop("SIGKILL");
  hanging = false;
  const next = await startGateway({ home: first.home });
  const again = await operator(next);
  const outcome = await again.call("agent.wait", { runId: "mid", timeoutMs: 60_000 });
  assert.notEqual(outcome.status, "timeout");
  assert.equal(textOf(await chat(again, "main", "hello again", "after-mid")), "back");
  again.end();
  await dispose(next);
  await own.close();
});
