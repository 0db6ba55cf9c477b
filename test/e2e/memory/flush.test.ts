// The memory flush: before compaction the agent saves lasting notes in a turn that chats do not show.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { call, say, startFakeOpenAI, type FakeRequest } from "../../fakes/openai.ts";
import { dispose, operator, startGateway } from "../../harness/gateway.ts";
import { chat, modelConfig, textOf } from "../../harness/model.ts";

interface Message {
  readonly role: string;
  readonly content: unknown;
}

test("writes memory/<day>.md in one silent turn before compaction", async (t) => {
  let notes = 0;
  let summaries = 0;
  const server = await startFakeOpenAI(({ body }: FakeRequest) => {
    const { messages } = body as { messages: Message[] };
    const asked = JSON.stringify(messages.findLast(({ role }) => role === "user")?.content ?? "");
    if (JSON.stringify(messages[0]?.content).includes("You summarize a conversation")) {
      summaries += 1;
      return say("They talked at length.");
    }
    const path = /memory\/\d{4}-\d\d-\d\d\.md/.exec(asked)?.[0];
    if (path === undefined) return say("Understood.");
    if (messages.at(-1)?.role === "tool") return say("NO_REPLY");
    notes += 1;
    return call("write", { path, content: "- The person likes tea.\n" });
  });
  const config = modelConfig(server) as { models: { providers: { fake: { models: { contextWindow: number }[] } } } };
  for (const model of config.models.providers.fake.models) model.contextWindow = 32_000;
  const gateway = await startGateway({ config });
  const wire = await operator(gateway);
  t.after(async () => {
    wire.end();
    await dispose(gateway);
    await server.close();
  });
  for (let at = 0; at < 7; at++) {
    const end = await chat(wire, "main", `part ${at} ${"many words ".repeat(900)}`, `flush-${at}`);
    assert.equal(textOf(end), "Understood.");
    assert.ok(notes >= summaries, "a summary came before its notes");
  }
  // Once before each summary, and perhaps before the one that is coming.
  assert.ok(summaries >= 1 && notes <= summaries + 1, `${notes} notes, ${summaries} summaries`);
  const day = new Date().toLocaleDateString("sv-SE");
  assert.equal(readFileSync(join(gateway.workspace, "memory", `${day}.md`), "utf8"), "- The person likes tea.\n");
  const shown = JSON.stringify((await wire.request("chat.history", { sessionKey: "main", limit: 100 })).payload);
  assert.doesNotMatch(shown, /likes tea|\[memory\]|NO_REPLY/);
  assert.doesNotMatch(JSON.stringify(wire.frames), /likes tea/);
});
