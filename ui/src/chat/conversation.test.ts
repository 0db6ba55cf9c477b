import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "fast-check";

import * as transitions from "./conversation.ts";
import { isOver } from "./run.ts";
import { createRows, type Row } from "./rows.ts";
import type { ChatMessage, RunChange } from "./parse-events.ts";

const say = (
  role: "user" | "assistant",
  text: string,
  timestamp: number,
  more: Partial<ChatMessage> = {},
): ChatMessage => ({
  role,
  content: [{ type: "text", text }],
  timestamp,
  ...more,
});
const event = (runId: string, seq: number, change: RunChange) => ({ runId, sessionKey: "s", seq, change });
const overIn = (conversation: transitions.Conversation): string[] =>
  conversation.runs.filter(isOver).map(({ runId }) => runId);
const rowsOf = (conversation: transitions.Conversation): readonly Row[] => createRows()(conversation);
const briefly = (conversation: transitions.Conversation): string[] =>
  rowsOf(conversation).map((row) => {
    if (row.kind === "tool") return `tool ${row.name} ${row.state}`;
    if (row.kind === "user") return `user ${row.text}${row.phase === undefined ? "" : ` (${row.phase})`}`;
    return `${row.kind} ${row.text}`;
  });

test("a sent message shows immediately and only once after the transcript contains it", () => {
  const sent = transitions.withSent(transitions.emptyConversation, "r", "hi");
  assert.deepEqual(briefly(sent), ["user hi (sending)"]);
  const streaming = transitions.withEvent(
    transitions.withAccepted(sent, "r"),
    event("r", 1, { kind: "text", source: "agent", text: "Hel" }),
  );
  assert.deepEqual(briefly(streaming), ["user hi (running)", "reply Hel"]);
  const reread = transitions.withHistory(streaming, [say("user", "hi", 10)], []);
  assert.deepEqual(briefly(reread), ["user hi", "reply Hel"]);
  const final = transitions.withEvent(reread, event("r", 2, { kind: "final", message: say("assistant", "Hello", 12) }));
  assert.deepEqual(briefly(final), ["user hi", "reply Hello"]);
  const settled = transitions.withHistory(final, [say("user", "hi", 10), say("assistant", "Hello", 11)], ["r"]);
  assert.deepEqual([briefly(settled), settled.runs, settled.done], [["user hi", "reply Hello"], [], ["r"]]);
  assert.equal(
    transitions.withEvent(settled, event("r", 2, { kind: "final", message: say("assistant", "Hello", 12) })),
    settled,
  );
});

test("a message sent during a run is queued", () => {
  const first = transitions.withEvent(
    transitions.withSent(transitions.emptyConversation, "a", "one"),
    event("a", 1, { kind: "start" }),
  );
  const both = transitions.withAccepted(transitions.withSent(first, "b", "two"), "b");
  assert.deepEqual(briefly(both), ["user one (running)", "user two (queued)"]);
  assert.deepEqual(briefly(transitions.withEvent(both, event("b", 1, { kind: "start" }))).at(-1), "user two (running)");
});

test("an answer that the transcript does not contain stays in place", () => {
  const asked = transitions.withSent(
    transitions.withHistory(transitions.emptyConversation, [say("user", "old", 5)], []),
    "c",
    "/status",
  );
  const answered = transitions.withEvent(
    asked,
    event("c", 1, { kind: "final", message: say("assistant", "all well", 20) }),
  );
  const covered = transitions.withHistory(answered, [say("user", "old", 5)], overIn(answered));
  assert.deepEqual(briefly(covered), ["user old", "user /status (final)", "reply all well"]);
  const later = transitions.withHistory(covered, [say("user", "old", 5), say("user", "next", 30)], []);
  assert.deepEqual(briefly(later), ["user old", "user /status (final)", "reply all well", "user next"]);
});

test("a chat command and its answer are shown once, although the transcript shortens a long answer", () => {
  const long = "x".repeat(20_000);
  const answered = transitions.withEvent(
    transitions.withSent(transitions.emptyConversation, "c", "!cat big"),
    event("c", 1, { kind: "final", message: say("assistant", long, 20) }),
  );
  const held = [say("user", "!cat big", 20, { runId: "c" }), say("assistant", "xxx…", 20, { runId: "c" })];
  assert.deepEqual(briefly(transitions.withHistory(answered, held, ["c"])), ["user !cat big", "reply xxx…"]);
});

test("a failure is shown once, from the transcript or from the run", () => {
  const failed = transitions.withEvent(
    transitions.withSent(transitions.emptyConversation, "r", "hi"),
    event("r", 1, { kind: "error", message: "no key", hint: "openclaw models" }),
  );
  const bare = transitions.withHistory(failed, [say("user", "hi", 10)], ["r"]);
  assert.deepEqual(briefly(bare), ["user hi", "notice no key"]);
  const held = [say("user", "hi", 10), { ...say("assistant", "", 11), errorMessage: "no key", stopReason: "error" }];
  assert.deepEqual(briefly(transitions.withHistory(failed, held, ["r"])), ["user hi", "notice no key"]);
});

test("a stopped run shows that once, with or without output", () => {
  const stopped = transitions.withEvent(
    transitions.withSent(transitions.emptyConversation, "r", "hi"),
    event("r", 1, { kind: "aborted" }),
  );
  assert.deepEqual(briefly(transitions.withHistory(stopped, [say("user", "hi", 10)], ["r"])), [
    "user hi",
    "notice Stopped.",
  ]);
  const held = [say("user", "hi", 10), say("assistant", "Hel", 11, { stopReason: "aborted" })];
  assert.deepEqual(briefly(transitions.withHistory(stopped, held, ["r"])), ["user hi", "reply Hel", "notice Stopped."]);
});

test("the same text sent twice is two messages", () => {
  const before = transitions.withHistory(
    transitions.emptyConversation,
    [say("user", "go on", 10), say("assistant", "ok", 11)],
    [],
  );
  const again = transitions.withSent(before, "r", "go on");
  assert.deepEqual(briefly(again), ["user go on", "reply ok", "user go on (sending)"]);
  const once = transitions.withHistory(again, [...before.messages, say("user", "go on", 20)], []);
  assert.deepEqual(briefly(once), ["user go on", "reply ok", "user go on"]);
});

test("a call without a result in the transcript shows the state of its run", () => {
  const call = { type: "toolCall", id: "t", name: "exec", arguments: { command: "make" } } as const;
  const transcript: ChatMessage[] = [say("user", "build", 10), { role: "assistant", content: [call], timestamp: 11 }];
  const alone = transitions.withHistory(transitions.emptyConversation, transcript, []);
  assert.deepEqual(briefly(alone), ["user build", "tool exec open"]);
  const live = transitions.withEvent(
    alone,
    event("r", 4, { kind: "tool-update", id: "t", name: "exec", partial: { content: [] } }),
  );
  assert.deepEqual(briefly(live), ["user build", "tool exec running"]);
});

test("a result without its call is a row of its own, and unknown blocks are left out", () => {
  const result: ChatMessage = {
    role: "toolResult",
    content: [{ type: "text", text: "x" }],
    timestamp: 1,
    toolCallId: "t",
    toolName: "read",
    isError: true,
  };
  const stopped = say("assistant", "half", 2, { stopReason: "aborted", errorMessage: "stopped" });
  const odd: ChatMessage = { role: "assistant", content: [{ type: "other" }], timestamp: 3 };
  assert.deepEqual(briefly(transitions.withHistory(transitions.emptyConversation, [result, stopped, odd], [])), [
    "tool read failed",
    "reply half",
    "notice Stopped.",
  ]);
});

test("after a reconnect only the runs of this page stay until new events arrive", () => {
  const mine = transitions.withSent(transitions.emptyConversation, "mine", "hi");
  const both = transitions.withEvent(mine, event("other", 1, { kind: "text", source: "agent", text: "x" }));
  assert.deepEqual(
    transitions.withoutOtherClients(both).runs.map(({ runId }) => runId),
    ["mine"],
  );
});

test("a rejected message shows the reason and can be discarded", () => {
  const refused = transitions.withUnsent(
    transitions.withSent(transitions.emptyConversation, "r", "hi"),
    "r",
    "denied",
    "session.sendPolicy",
  );
  assert.deepEqual(refused.runs[0]?.failure, { message: "denied", hint: "session.sendPolicy" });
  assert.deepEqual(briefly(transitions.withHistory(refused, [], ["r"])), ["user hi (unsent)"]);
  assert.deepEqual(transitions.withoutRun(refused, "r").runs, []);
});

test("unchanged messages keep their identity", () => {
  const first = transitions.withHistory(transitions.emptyConversation, [say("user", "a", 1)], []);
  const second = transitions.withHistory(first, [say("user", "a", 1), say("assistant", "b", 2)], []);
  assert.equal(second.messages[0], first.messages[0]);
});

test("rows keep their keys while older messages leave the window", () => {
  const same = Array.from({ length: 5 }, (_, index) => say("user", `m${index}`, 1));
  const keysOf = (messages: readonly ChatMessage[]): Map<string, string> =>
    new Map(
      rowsOf({ ...transitions.emptyConversation, messages }).map((row) => [
        row.kind === "user" ? row.text : "",
        row.key,
      ]),
    );
  const [all, fewer] = [keysOf(same), keysOf(same.slice(2))];
  for (const [text, key] of fewer) assert.equal(all.get(text), key);
  assert.equal(new Set(all.values()).size, 5);
});

/** Simulates a gateway: the transcript grows, events are sent, and the page reads at any moment. */
interface Step {
  readonly kind: "call" | "text";
  readonly readAfter: boolean;
  readonly isEarlyWritten: boolean;
}

const anyRun = fc.record({
  steps: fc.array(
    fc.record({ kind: fc.constantFrom("call", "text"), readAfter: fc.boolean(), isEarlyWritten: fc.boolean() }),
    { maxLength: 5 },
  ),
  text: fc.constantFrom("hi", "hi", "more"),
  readsBeforeEnd: fc.boolean(),
  isDoubled: fc.boolean(),
});

test("property: whenever the transcript is read, every message and call is drawn exactly once and in order", () => {
  fc.assert(
    fc.property(fc.array(anyRun, { maxLength: 4 }), (runs) => {
      let [page, clock, seq]: [transitions.Conversation, number, number] = [transitions.emptyConversation, 100, 0];
      const transcript: ChatMessage[] = [];
      const expected: string[] = [];
      const read = (): void => {
        page = transitions.withHistory(page, structuredClone(transcript), overIn(page));
      };
      const write = (message: ChatMessage): void => void transcript.push({ ...message, timestamp: (clock += 5) });
      const onChange = (runId: string, change: RunChange, isDoubled: boolean): void => {
        seq += 1;
        for (let times = isDoubled ? 2 : 1; times > 0; times -= 1)
          page = transitions.withEvent(page, event(runId, seq, change));
      };
      const check = (): void => {
        const drawn = rowsOf(page).map((row) => (row.kind === "tool" ? row.id : row.kind === "notice" ? "" : row.text));
        assert.deepEqual(drawn, expected);
        assert.equal(new Set(rowsOf(page).map(({ key }) => key)).size, drawn.length);
      };
      runs.forEach(({ steps, text, readsBeforeEnd, isDoubled }, nth) => {
        const runId = `run${nth}`;
        page = transitions.withAccepted(transitions.withSent(page, runId, text), runId);
        expected.push(text);
        check();
        write(say("user", text, 0));
        steps.forEach((step: Step, index) => {
          const id = `${runId}.${index}`;
          expected.push(id);
          if (step.kind === "call") {
            const block = { type: "toolCall", id, name: "read", arguments: {} } as const;
            if (step.isEarlyWritten) write({ role: "assistant", content: [block], timestamp: 0 });
            onChange(runId, { kind: "tool-start", id, name: "read", args: {} }, isDoubled);
            if (step.isEarlyWritten && step.readAfter) read();
            check();
            onChange(
              runId,
              { kind: "tool-result", id, name: "read", isError: false, result: { content: [] } },
              isDoubled,
            );
            if (!step.isEarlyWritten) write({ role: "assistant", content: [block], timestamp: 0 });
            write({ role: "toolResult", content: [], timestamp: 0, toolCallId: id, toolName: "read" });
          } else {
            const block = { type: "toolCall", id: `${id}+`, name: "read", arguments: {} } as const;
            onChange(runId, { kind: "text", source: "agent", text: id.slice(0, -1) }, isDoubled);
            onChange(runId, { kind: "text", source: "agent", text: id }, isDoubled);
            expected.push(`${id}+`);
            onChange(runId, { kind: "tool-start", id: `${id}+`, name: "read", args: {} }, isDoubled);
            write({ role: "assistant", content: [{ type: "text", text: id }, block], timestamp: 0 });
          }
          if (step.readAfter) read();
          check();
        });
        const answer = `answer ${nth}`;
        write(say("assistant", answer, 0));
        if (readsBeforeEnd) {
          onChange(runId, { kind: "text", source: "agent", text: answer }, isDoubled);
          read();
        }
        onChange(runId, { kind: "final", message: say("assistant", answer, clock + 1) }, isDoubled);
        expected.push(answer);
        check();
        read();
        check();
        assert.deepEqual(page.runs, []);
      });
    }),
  );
});
