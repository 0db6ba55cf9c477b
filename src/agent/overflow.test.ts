// F15: a conversation that is too long for its model ends in a usable session with a notice.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { newId } from "../base/ids.ts";
import { textOf, type Message } from "../core/message.ts";
import type { ModelRequest } from "../model/model.ts";
import { newSession } from "../session/session.ts";
import {
  calls,
  failing,
  MAIN,
  openTestAgents,
  scriptedBook,
  text,
  usage,
  type TestAgents,
  type Say,
} from "../../test/harness/agent.ts";
import { tokensIn } from "./estimate.ts";
import { repairMessages } from "./valid-messages.ts";

const WINDOW = 8000;
const isSummary = ({ system }: ModelRequest): boolean => system.startsWith("You summarize a conversation");
const tooLong = (request: ModelRequest): boolean => tokensIn(request.messages) > WINDOW - 2000;

/** A model that counts, and answers summaries as the case says. */
function counting(
  summary: (request: ModelRequest) => Say,
  answer: (request: ModelRequest) => Say = () => text("fine"),
) {
  return scriptedBook(
    (request) => {
      if (tooLong(request)) return failing("context", "prompt is too long");
      return isSummary(request) ? summary(request) : answer(request);
    },
    { contextWindow: WINDOW },
  );
}

async function fill(opened: TestAgents, messages: readonly Message[]): Promise<void> {
  const record = newSession(MAIN, Date.now());
  await opened.store.sessions.put(record);
  await opened.store.transcript.append(
    record.sessionId,
    messages.map((body) => ({ id: newId(), type: "message", at: body.timestamp, body })),
  );
}

const long = (count: number, chars: number): Message[] =>
  Array.from({ length: count }, (_, index): Message[] => [
    { role: "user", content: [{ type: "text", text: `question ${index} ${"q".repeat(chars)}` }], timestamp: index },
    { role: "assistant", content: [{ type: "text", text: `answer ${index} ${"a".repeat(chars)}` }], timestamp: index },
  ]).flat();

const withResults = (count: number, chars: number): Message[] =>
  Array.from({ length: count }, (_, index): Message[] => [
    { role: "user", content: [{ type: "text", text: `do ${index}` }], timestamp: index },
    {
      role: "assistant",
      content: [{ type: "toolCall", id: `c${index}`, name: "read", arguments: {} }],
      timestamp: index,
    },
    {
      role: "toolResult",
      toolCallId: `c${index}`,
      toolName: "read",
      content: [{ type: "text", text: "r".repeat(chars) }],
      isError: false,
      timestamp: index,
    },
    { role: "assistant", content: [{ type: "text", text: `done ${index}` }], timestamp: index },
  ]).flat();

const summaries: Record<string, (request: ModelRequest) => Say> = {
  "sums up": () => text("They asked many questions."),
  refuses: () => [
    { type: "text", delta: "I will not." },
    { type: "end", stop: "refusal", usage: usage() },
  ],
  "says nothing": () => [{ type: "end", stop: "stop", usage: usage() }],
  fails: () => failing("invalid", "bad request"),
  "overflows itself": () => failing("context", "prompt is too long"),
};
const histories: Record<string, Message[]> = {
  "a long talk": long(60, 1000),
  "long tool results": withResults(20, 6000),
  "one enormous message": long(1, 200_000),
};

/** OPENCLAW_OVERFLOW_ROUNDS=20 for the full rounds. */
const rounds = Array.from({ length: Number(process.env["OPENCLAW_OVERFLOW_ROUNDS"] ?? 1) }, (_, round) => round + 1);

for (const [what, history] of rounds.flatMap(() => Object.entries(histories))) {
  for (const [how, summary] of Object.entries(summaries)) {
    test(`${what}, and the model ${how}: shows a notice, answers, and stays usable`, async () => {
      const models = counting(summary);
      const opened = await openTestAgents({ models });
      await fill(opened, history);
      const outcome = await opened.ask("and now?");
      assert.deepEqual([outcome.status, outcome.text], ["ok", "fine"]);
      const notices = opened.events.flatMap(({ body }) => (body.stream === "notice" ? [body.text] : []));
      assert.ok(notices.length > 0, "no notice was sent");
      assert.deepEqual((await opened.ask("still there?")).text, "fine");
      const last = models.requests.at(-1)?.messages ?? [];
      assert.deepEqual(repairMessages(last), last);
      const record = await opened.store.sessions.get(MAIN);
      const entries = await opened.store.transcript.tail(record?.sessionId ?? "", 1000);
      assert.ok(
        entries.some(({ type }) => type === "compaction" || type === "prune" || type === "custom_message"),
        "the transcript does not say what happened",
      );
      await opened.close();
    });
  }
}

test("shortens the context inside a tool loop and continues", async () => {
  let asked = 0;
  const models = counting(
    () => text("Read big.txt, found nothing."),
    () => (asked++ < 4 ? calls(["read", { path: "big.txt", offset: asked }]) : text("finished")),
  );
  const opened = await openTestAgents({ models });
  writeFileSync(
    join(opened.workspace, "big.txt"),
    Array.from({ length: 400 }, (_, line) => `line ${line} of text`).join("\n"),
  );
  const outcome = await opened.ask("read it all");
  assert.deepEqual([outcome.status, outcome.text], ["ok", "finished"]);
  await opened.close();
});

test("/compact: summarizes the old part once, and the next request begins with the summary", async () => {
  const models = scriptedBook((request) => (isSummary(request) ? text("SUMMARY") : text("fine")));
  const opened = await openTestAgents({ models });
  await fill(opened, long(30, 1000));
  const made = await opened.agents.compact(MAIN, "keep the numbers");
  assert.equal(made.compacted, true);
  assert.match(textOf(models.requests[0]?.messages[0]?.content ?? []), /keep the numbers/);
  await opened.ask("go on");
  const [first] = models.requests.at(-1)?.messages ?? [];
  assert.match(textOf(first?.content ?? []), /SUMMARY/);
  assert.ok((models.requests.at(-1)?.messages.length ?? 99) < 20);
  assert.equal((await opened.store.sessions.get(MAIN))?.entry["compactionCount"], 1);
  await opened.close();
});

test("calls the hook before a session is summarized", async () => {
  const compacted: string[] = [];
  const models = scriptedBook((request) => (isSummary(request) ? text("SUMMARY") : text("fine")));
  const opened = await openTestAgents({
    models,
    more: { beforeCompaction: async ({ sessionKey }) => void compacted.push(sessionKey) },
  });
  await fill(opened, long(30, 1000));
  await opened.agents.compact(MAIN);
  assert.deepEqual(compacted, [MAIN]);
  await opened.close();
});
