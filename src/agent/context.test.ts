// The history is read from its end as far as it is sent; the next time only new entries are read.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import fc from "fast-check";

import { textOf, type Message } from "../core/message.ts";
import { openStore } from "../store/builtin.ts";
import type { TranscriptEntry, TranscriptTable } from "../store/store.ts";
import { createHistories, messagesOf } from "./context.ts";
import { dropOldImages, repairMessages } from "./valid-messages.ts";

async function transcript(t: TestContext): Promise<{ table: TranscriptTable; read: () => number }> {
  const folder = mkdtempSync(join(tmpdir(), "openclaw-context-"));
  const store = await openStore({ file: join(folder, "store.db"), onDamage: () => {} });
  t.after(async () => {
    await store.close();
    rmSync(folder, { recursive: true, force: true });
  });
  let read = 0;
  const table: TranscriptTable = {
    append: (id, entries) => store.transcript.append(id, entries),
    count: (id) => store.transcript.count(id),
    async tail(id, limit, before) {
      const page = await store.transcript.tail(id, limit, before);
      read += page.length;
      return page;
    },
  };
  return { table, read: () => read };
}

const line = (index: number, type = "message"): TranscriptEntry => ({
  id: `e${index}`,
  type,
  at: index,
  body: {
    role: index % 2 === 0 ? "user" : "assistant",
    content: [{ type: "text", text: `line ${index}` }],
    timestamp: index,
  },
});
const summary = (first: string | null): TranscriptEntry => ({
  id: "sum",
  type: "compaction",
  at: 0,
  body: { summary: "SO FAR", firstKeptEntryId: first, tokensBefore: 9 },
});

test("reads little more than the 50 entries that are sent out of 20,000, and then only new ones", async (t) => {
  const { table, read } = await transcript(t);
  for (let start = 0; start < 20_000; start += 2000)
    await table.append(
      "s",
      Array.from({ length: 2000 }, (_, index) => line(start + index)),
    );
  await table.append("s", [summary("e19950")]);
  const histories = createHistories(table);
  const messages = messagesOf(await histories.load("s", 200_000));
  assert.equal(messages.length, 51);
  assert.ok(read() <= 100, `${read()} entries read`);
  const before = read();
  await table.append("s", [line(20_000), line(20_001)]);
  const more = messagesOf(await histories.load("s", 200_000));
  assert.deepEqual([more.length, textOf(more.at(-1)?.content ?? [])], [53, "line 20001"]);
  assert.equal(read() - before, 2);
  await histories.load("s", 200_000);
  assert.equal(read() - before, 2);
});

test("caches the same history that a new read finds, whatever was appended", async (t) => {
  const { table } = await transcript(t);
  let session = 0;
  const kinds = fc.array(
    fc.constantFrom("message", "message", "message", "compaction", "prune", "custom", "custom_message"),
    { maxLength: 30 },
  );
  await fc.assert(
    fc.asyncProperty(kinds, fc.integer({ min: 1, max: 8 }), async (types, step) => {
      const id = `s${session++}`;
      let lastCompaction = -1;
      const entries = types.map((type, index): TranscriptEntry => {
        if (type === "compaction") {
          // A summary never brings back what an earlier one has left out.
          const keeps = index - 2 > lastCompaction && index > 3;
          lastCompaction = index;
          return { ...summary(keeps ? `e${index - 2}` : null), id: `e${index}` };
        }
        if (type === "custom_message") return { id: `e${index}`, type, at: index, body: { content: "note" } };
        return line(index, type);
      });
      const kept = createHistories(table);
      for (let at = 0; at < entries.length; at += step) {
        await table.append(id, entries.slice(at, at + step));
        const fresh = await createHistories(table).load(id, 1_000_000);
        assert.deepEqual(messagesOf(await kept.load(id, 1_000_000)), messagesOf(fresh));
      }
    }),
    { numRuns: 200 },
  );
});

test("puts the stored stamp before a message, and shortens results of a cleared history", async (t) => {
  const { table } = await transcript(t);
  const result: Message = {
    role: "toolResult",
    toolCallId: "c",
    toolName: "read",
    content: [{ type: "text", text: "x".repeat(5000) }],
    isError: false,
    timestamp: 0,
  };
  await table.append("s", [
    {
      id: "1",
      type: "message",
      at: 0,
      body: { role: "user", content: [{ type: "text", text: "hi" }], timestamp: 0, stamp: "[now] " },
    },
    { id: "2", type: "message", at: 0, body: result },
    { id: "3", type: "prune", at: 0, body: {} },
  ]);
  const [first, second] = messagesOf(await createHistories(table).load("s", 1000));
  assert.equal(textOf(first?.content ?? []), "[now] hi");
  assert.ok(textOf(second?.content ?? []).length < 600);
});

test("repairs calls without results and leaves complete pairs unchanged", () => {
  const user = (words: string): Message => ({ role: "user", content: [{ type: "text", text: words }], timestamp: 0 });
  const asks = (...ids: string[]): Message => ({
    role: "assistant",
    content: ids.map((id) => ({ type: "toolCall", id, name: "read", arguments: {} })),
    timestamp: 0,
  });
  const result = (id: string): Message => ({
    role: "toolResult",
    toolCallId: id,
    toolName: "read",
    content: [],
    isError: false,
    timestamp: 0,
  });
  const shape = (messages: readonly Message[]): string[] =>
    messages.map((message) =>
      message.role === "toolResult" ? `result ${message.toolCallId}${message.isError ? "!" : ""}` : message.role,
    );
  const whole = [user("a"), asks("1", "2"), result("1"), result("2"), user("b")];
  assert.deepEqual(repairMessages(whole), whole);
  assert.deepEqual(
    shape(
      repairMessages([
        result("0"),
        asks("9"),
        user("a"),
        asks("1", "2"),
        result("2"),
        result("7"),
        user("b"),
        user("c"),
      ]),
    ),
    ["user", "assistant", "result 1!", "result 2", "user"],
  );
});

test("drops images four at a time, oldest first", () => {
  const pictures = (count: number): Message[] =>
    Array.from({ length: count }, () => ({
      role: "user",
      content: [{ type: "image", data: "", mimeType: "image/png" }],
      timestamp: 0,
    }));
  const left = (count: number): number =>
    dropOldImages(pictures(count)).filter(({ content }) => content[0]?.type === "image").length;
  assert.deepEqual([7, 8, 9, 12, 13, 16].map(left), [7, 8, 5, 8, 5, 8]);
});
