// Who may use commands, which messages bypass the queue, and that no message throws.
import assert from "node:assert/strict";
import { describe, test } from "node:test";

import fc from "fast-check";

import { createIsUrgent } from "./direct.ts";
import { models, openChat, turn } from "./fixture.cases.ts";

describe("unauthorized senders", () => {
  test("have no commands: their messages are plain text", async () => {
    const chat = await openChat({ running: ["one"], config: { commands: { bash: true } } });
    const messages = [
      "/stop",
      "stop",
      "/new",
      "! ls",
      "/tool read {}",
      "hey /exec host=gateway",
      "/think high",
      "/status",
    ];
    for (const message of messages) {
      assert.deepEqual(await chat.say(message, { authorised: false }), turn(message));
    }
    assert.deepEqual([await chat.entry(), chat.asked, await chat.store.journal.list({ limit: 5 })], [{}, [], []]);
  });

  test("leaves text commands to a platform's own menus with commands.text off", async () => {
    const chat = await openChat({ config: { commands: { text: false } } });
    assert.deepEqual(await chat.say("/status", { source: "telegram" }), turn("/status"));
    assert.match(await chat.answer("/status", { source: "chat" }), /^OpenClaw/);
  });
});

test("lets a message with only commands bypass the queue", () => {
  const isUrgent = createIsUrgent({ config: () => ({}) });
  const owner = { authorised: true, source: "chat" };
  const messages = [
    "/stop",
    "stop",
    "/new x",
    "/status",
    "/think high",
    "/compact",
    "! ls",
    "hi",
    "hi /status",
    "",
    "/usr/bin",
  ];
  assert.deepEqual(
    messages.filter((message) => isUrgent(message, owner)),
    ["/stop", "stop", "/new x", "/status", "/think high"],
  );
  assert.equal(isUrgent("/stop", { ...owner, authorised: false }), false);
});

test("never throws for any message", async () => {
  const chat = await openChat({ models, config: { commands: { bash: true, config: true } } });
  const commands = "/think /model /tool /queue /exec /elevated /usage /send /config /context /approve /new /compact";
  const words = fc.constantFrom(
    ...`${commands} read { } get [ a.b[0] __proto__ host= cap: drop:x 1 a/b @ high list`.split(" "),
  );
  const message = fc.array(fc.oneof(words, fc.string({ unit: "binary", maxLength: 8 })), { maxLength: 6 });
  await fc.assert(
    fc.asyncProperty(message, async (parts) => {
      const directed = await chat.say(parts.join(" "));
      assert.equal(typeof directed.text, "string");
    }),
    { numRuns: 300 },
  );
});
