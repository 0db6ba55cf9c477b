// What is left of the exec document: the PATH of a bare service, /exec from who may not set it, and what ended long ago.
import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import { test } from "node:test";

import { exec, proc, until } from "../exec-kit.ts";
import { say, startFakeOpenAI } from "../fakes/openai.ts";
import { dispose, operator, startGateway } from "../kit.ts";
import { chat, startWithModel, textOf } from "../model-kit.ts";

test("started as a service without a PATH of its own, commands still find the usual folders, in their order", async (t) => {
  const gateway = await startGateway({
    config: { tools: { exec: { host: "gateway", security: "full", ask: "off" } } },
    env: { PATH: "", SHELL: "/bin/sh" },
  });
  t.after(() => dispose(gateway));
  const { text } = await exec(gateway, { command: 'printf %s "$PATH"' });
  const usual = text
    .trim()
    .split(":")
    .filter((folder) => ["/usr/local/bin", "/usr/bin", "/bin"].includes(folder));
  assert.deepEqual(usual, ["/usr/local/bin", "/usr/bin", "/bin"]);
  assert.equal(text.split(":").includes(""), false);
});

test("/exec from a client that may only speak changes nothing, whatever it asks for", async (t) => {
  const server = await startFakeOpenAI(() => say("nothing to do"));
  const gateway = await startWithModel(server, {});
  t.after(async () => {
    await dispose(gateway);
    await server.close();
  });
  const speaker = await operator(gateway, { scopes: ["operator.read", "operator.write"] });
  const owner = await operator(gateway);
  const session = "agent:main:spoken";
  const before = textOf(await chat(owner, session, "/exec", "look-1"));
  for (const [index, words] of ["/exec host=gateway security=full ask=off", "/exec security=full do it"].entries()) {
    const end = await chat(speaker, session, words, `speak-${index}`);
    assert.match(textOf(end) || (end.errorMessage ?? ""), /operator\.approvals|may not|approv/i, words);
  }
  assert.equal(textOf(await chat(owner, session, "/exec", "look-2")), before);
  speaker.end();
  owner.end();
});

test("a finished background command is gone after tools.exec.cleanupMs", async (t) => {
  const gateway = await startGateway({ config: { tools: { exec: { cleanupMs: 60_000 } } } });
  t.after(() => dispose(gateway));
  const { details } = await exec(gateway, { command: "echo over", background: true });
  const sessionId = String(details["sessionId"]);
  await sleep(30_000);
  assert.match((await proc(gateway, { action: "log", sessionId })).text, /over/);
  await until(
    () => proc(gateway, { action: "log", sessionId }),
    ({ error }) => error !== undefined,
    180_000,
  );
});
