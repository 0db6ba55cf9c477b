// Turns that cannot begin: each has an end that says why, its session goes on, and what was written stays visible.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, renameSync, symlinkSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import { after, test } from "node:test";

import { hang, say, startFakeOpenAI } from "../../fakes/openai.ts";
import { dispose, invoke, operator, root, tempHome, type Wire } from "../../harness/gateway.ts";
import { chat, chatEnd, messagesOf, openScripted, startWithModel, textOf } from "../../harness/model.ts";
import { textOf as contentText } from "../../../src/core/message.ts";

const noLimits = canLimit() ? false : "needs prlimit to start a gateway with few descriptors";

test(
  "a turn without file descriptors ends with the limit and how to raise it, and the session continues afterwards",
  { skip: noLimits, timeout: 300_000 },
  async () => {
    const server = await startFakeOpenAI(() => say("fine"));
    const gateway = await startWithModel(server, { under: ["prlimit", "--nofile=128:128"] });
    after(() => server.close());
    const wire = await operator(gateway);
    const sockets = await takeDescriptors(gateway.port);
    const end = await chat(wire, "agent:main:x", "one", "one");
    assert.equal(end.state, "error");
    assert.match(end.errorMessage ?? "", /no file descriptors left \(EMFILE, its limit is 128\)/);
    const called = await wire.request("tools.invoke", { tool: "exec", args: { command: "true" } });
    assert.match(JSON.stringify(called), /no file descriptors left[^"]*EMFILE[\s\S]*ulimit -n/);
    for (const socket of sockets) socket.destroy();
    assert.equal(textOf(await untilOk(wire, "agent:main:x")), "fine");
    assert.deepEqual(await wordsOf(wire, "agent:main:x"), [
      "user: one (no answer: run.no-descriptors)",
      "user: again",
      "assistant: fine",
    ]);
    assert.equal((await invoke(gateway, "exec", { command: "echo hi" })).status, 200);
    wire.end();
    await dispose(gateway);
  },
);

test(
  "a turn whose code is missing for a moment ends with the reason, and all sessions continue afterwards",
  {
    skip: existsSync(join(root, "dist", "built")) ? false : "needs the bundle: node scripts/setup.mjs",
    timeout: 300_000,
  },
  async () => {
    const project = join(tempHome(), "package");
    mkdirSync(project);
    for (const name of ["dist", "openclaw.mjs", "package.json"])
      cpSync(join(root, name), join(project, name), { recursive: true });
    symlinkSync(join(root, "node_modules"), join(project, "node_modules"));
    const server = await startFakeOpenAI(() => say("fine"));
    after(() => server.close());
    const gateway = await startWithModel(server, { project });
    renameSync(join(project, "dist"), join(project, "dist-away"));
    const wire = await operator(gateway);
    const end = await chat(wire, "agent:main:x", "one", "one");
    assert.equal(end.state, "error");
    assert.match(end.errorMessage ?? "", /a file of the installed gateway is missing/);
    assert.equal((await wire.request("chat.abort", { sessionKey: "agent:main:x" })).ok, true);
    renameSync(join(project, "dist-away"), join(project, "dist"));
    for (const session of ["agent:main:x", "agent:main:y"])
      assert.equal(textOf(await chat(wire, session, "again", `again-${session}`)), "fine");
    assert.deepEqual(await wordsOf(wire, "agent:main:x"), [
      "user: one (no answer: run.not-loaded)",
      "user: again",
      "assistant: fine",
    ]);
    wire.end();
    await dispose(gateway);
  },
);

test("messages that never started stay in the history with the reason, in order, and are not sent to a model", async () => {
  const runtime = await openScripted({ agents: { defaults: { model: { primary: "fake/fake-1" }, maxConcurrent: 1 } } });
  after(() => runtime.close());
  const { wire, server } = runtime;
  runtime.script = (last) => (JSON.stringify(last.content).includes("hold") ? hang() : say("answer"));
  const begun = async (words: string): Promise<void> => {
    while (!server.requests.some(({ body }) => JSON.stringify(body).includes(words)))
      await new Promise((resolve) => setTimeout(resolve, 5));
  };
  const send = async (sessionKey: string, message: string, runId = message): Promise<void> => {
    assert.equal((await wire.request("chat.send", { sessionKey, message, idempotencyKey: runId })).ok, true);
  };

  const interrupted = "agent:main:interrupted";
  await chat(wire, interrupted, "/queue interrupt debounce:1s", "q1");
  await send(interrupted, "hold one");
  await begun("hold one");
  await send(interrupted, "two");
  await send(interrupted, "three");
  await chatEnd(wire, "three");
  const shown = await wordsOf(wire, interrupted);
  assert.deepEqual(
    shown.filter((line) => line.startsWith("user") && !line.includes("/queue")),
    ["user: hold one", "user: two (no answer: run.aborted)", "user: three"],
  );

  const dropped = "agent:main:dropped";
  await chat(wire, dropped, "/queue followup debounce:0s cap:1 drop:old", "q2");
  await send(dropped, "hold four");
  await begun("hold four");
  await send(dropped, "five");
  await send(dropped, "six");
  await chatEnd(wire, "five");
  // One that waits for a place among other sessions has not begun either.
  await send("agent:main:placed", "seven");
  assert.equal((await wire.request("chat.abort", { sessionKey: "agent:main:placed" })).ok, true);
  await chatEnd(wire, "seven");
  assert.deepEqual(await wordsOf(wire, "agent:main:placed"), ["user: seven (no answer: run.aborted)"]);
  assert.equal((await wire.request("chat.abort", { sessionKey: dropped })).ok, true);
  await chatEnd(wire, "six");
  assert.deepEqual(
    (await wordsOf(wire, dropped)).filter((line) => line.startsWith("user") && !line.includes("/queue")),
    ["user: hold four", "user: five (no answer: queue.dropped)", "user: six (no answer: run.aborted)"],
  );

  await send(dropped, "eight");
  await chatEnd(wire, "eight");
  const read = messagesOf(server.requests.at(-1) ?? assert.fail()).map(({ content }) => JSON.stringify(content));
  assert.ok(read.some((words) => words.includes("eight")));
  assert.ok(!read.some((words) => words.includes("five") || words.includes("six")), "not sent to the model");
  // Sent again under the same id, it is known and does not run.
  await send(dropped, "five");
  assert.equal((await wordsOf(wire, dropped)).filter((line) => line.includes("five")).length, 1);
});

async function wordsOf(wire: Wire, sessionKey: string): Promise<string[]> {
  const payload = await wire.call("chat.history", { sessionKey, limit: 100 });
  return payload.messages.map(
    ({ role, content, unanswered }) =>
      `${role}: ${contentText(content)}${unanswered === undefined ? "" : ` (no answer: ${unanswered.code})`}`,
  );
}

/** So many connections that nothing more can be opened. */
async function takeDescriptors(port: number): Promise<Socket[]> {
  const sockets = Array.from({ length: 300 }, () => connect(port, "127.0.0.1").on("error", () => {}));
  await new Promise((resolve) => setTimeout(resolve, 1000));
  return sockets;
}

/** The descriptors come back when the gateway has seen that the sockets are gone. */
async function untilOk(wire: Wire, sessionKey: string): Promise<Awaited<ReturnType<typeof chat>>> {
  for (let tries = 0; ; tries++) {
    const payload = await wire.call("tools.invoke", { tool: "exec", args: { command: "true" } });
    if (payload?.ok === true || tries > 100) break;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  return chat(wire, sessionKey, "again", "again");
}

function canLimit(): boolean {
  try {
    execFileSync("prlimit", ["--nofile=128:128", "true"], { stdio: "pipe" });
    return true;
  } catch (error) {
    return error === undefined;
  }
}
