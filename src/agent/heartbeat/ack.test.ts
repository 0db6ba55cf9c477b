import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";

import { ACK, splitAck } from "./ack.ts";
import { createReplyText, judgeReply } from "../reply.ts";

const cases: readonly (readonly [text: string, rest: string | undefined])[] = [
  ["HEARTBEAT_OK", ""],
  ["  HEARTBEAT_OK\n", ""],
  ["**HEARTBEAT_OK**", ""],
  ["`HEARTBEAT_OK`", ""],
  ["_HEARTBEAT_OK_", ""],
  ["<b>HEARTBEAT_OK</b>", ""],
  ["**`HEARTBEAT_OK`**.", ""],
  ["HEARTBEAT_OK.", ""],
  ["HEARTBEAT_OK HEARTBEAT_OK", ""],
  ["HEARTBEAT_OK all quiet", "all quiet"],
  ["HEARTBEAT_OK\n\nAll quiet.", "All quiet."],
  ["All quiet. HEARTBEAT_OK", "All quiet."],
  ["All quiet.\n\n**HEARTBEAT_OK**", "All quiet."],
  ["HEARTBEAT_OK: nothing to do", ": nothing to do"],
  ["I would say HEARTBEAT_OK but the disk is full", undefined],
  ["HEARTBEAT_OKAY", undefined],
  ["HEARTBEAT_OK_NOT", undefined],
  ["MYHEARTBEAT_OK", undefined],
  ["heartbeat_ok", undefined],
  ["The disk is full.", undefined],
  ["", undefined],
];
for (const [text, rest] of cases)
  test(`${JSON.stringify(text)} ${rest === undefined ? "is no all-clear" : `leaves ${JSON.stringify(rest)}`}`, () => {
    assert.deepEqual(splitAck(text), { acked: rest !== undefined, rest: rest ?? text });
  });

test("drops a heartbeat reply of up to ackMaxChars, and delivers a longer one without the token", () => {
  const long = "x".repeat(301);
  assert.deepEqual(judgeReply(`HEARTBEAT_OK ${"x".repeat(300)}`, { ackMaxChars: 300 }), { text: "", silent: true });
  assert.deepEqual(judgeReply(`${long} HEARTBEAT_OK`, { ackMaxChars: 300 }), { text: long, silent: false });
  assert.deepEqual(judgeReply("HEARTBEAT_OK y", { ackMaxChars: 0 }), { text: "y", silent: false });
  assert.deepEqual(judgeReply("The disk is full.", { ackMaxChars: 300 }), { text: "The disk is full.", silent: false });
});

test("shows a repeated alert once, and a different one again", () => {
  const told = { ackMaxChars: 300, told: "The disk is full." };
  assert.deepEqual(judgeReply(" The disk is full.\n", told), { text: "", silent: true });
  assert.deepEqual(judgeReply("The disk is fuller.", told), { text: "The disk is fuller.", silent: false });
});

test("removes a stray token from ordinary replies, and treats a lone token as silence", () => {
  assert.deepEqual(judgeReply("Here you are. HEARTBEAT_OK"), { text: "Here you are.", silent: false, stray: true });
  assert.deepEqual(judgeReply("HEARTBEAT_OK"), { text: "", silent: true, stray: true });
  assert.deepEqual(judgeReply("say HEARTBEAT_OK twice"), { text: "say HEARTBEAT_OK twice", silent: false });
});

test("never shows a part of the token, however the reply is split, and loses no other text", () => {
  const words = fc.array(fc.constantFrom("All", " quiet", " H", " HEART", ".", " **", "EAT", "\n", "OK", " _x_"), {
    maxLength: 8,
  });
  const token = fc.constantFrom("", ACK, `**${ACK}**`, `\`${ACK}\`.`, `<b>${ACK}</b>`);
  fc.assert(
    fc.property(token, words, token, fc.infiniteStream(fc.integer({ min: 1, max: 5 })), (head, body, tail, sizes) => {
      const whole = `${head}${head === "" ? "" : " "}${body.join("")}${tail === "" ? "" : " "}${tail}`;
      const reply = createReplyText();
      let shown = "";
      for (let at = 0; at < whole.length;) {
        const size = sizes.next().value ?? 1;
        shown += reply.push(whole.slice(at, at + size));
        assert.ok(!shown.startsWith(ACK) && !shown.endsWith(ACK), `shown ${JSON.stringify(shown)} of ${whole}`);
        at += size;
      }
      shown += reply.end();
      assert.equal(reply.text, whole);
      const { rest } = splitAck(whole);
      // Marks that came alone in front of a token may have been shown before it was known.
      assert.equal(shown.trim().replace(/[\s*`<b>]*$/, ""), rest.trim().replace(/[\s*`<b>]*$/, ""));
    }),
    { numRuns: 500 },
  );
});
