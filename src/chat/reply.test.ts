// The shaping of replies: what people get of what a model wrote.
import assert from "node:assert/strict";
import { describe, test } from "node:test";

import fc from "fast-check";

import { shapeReply, type ReplyTags, type ShapedReply } from "./reply.ts";

const says = (text: string, tags: ReplyTags = {}): ShapedReply => ({ text, silent: false, tags });
const silence: ShapedReply = { text: "", silent: true, tags: {} };

const table: readonly (readonly [raw: string, shaped: ShapedReply])[] = [
  ["hello", says("hello")],
  ["", silence],
  ["  \n", silence],
  ["NO_REPLY", silence],
  [" NO_REPLY\n", silence],
  ["NO_REPLY, I said it all", silence],
  ["NO_REPLYING is a word", says("NO_REPLYING is a word")],
  ["say NO_REPLY to be silent", says("say NO_REPLY to be silent")],
  ["<think>hm</think>NO_REPLY", silence],
  ["<think>hm</think>yes", says("yes")],
  ["a<thinking>x</thinking>b<thought>y</thought>c", says("abc")],
  ["<THINK>a<think>b</think>c</think>d", says("d")],
  ["yes<think>cut short", says("yes")],
  ["stray</think>end", says("strayend")],
  ["<think>only", silence],
  ["write `<think>` for thoughts", says("write `<think>` for thoughts")],
  ["```\n<think>code</think>\n```", says("```\n<think>code</think>\n```")],
  ["<final>done</final>", says("done")],
  ["1 < 2 and 3 > 2", says("1 < 2 and 3 > 2")],
  ["[[reply_to_current]] ok", says("ok", { replyTo: "current" })],
  ["[[ reply_to: 42 ]]ok", says("ok", { replyTo: "42" })],
  ["[[reply_to:1]][[reply_to:2]]ok", says("ok", { replyTo: "1" })],
  ["[[audio_as_voice]]\nlisten", says("listen", { voice: true })],
  ["[[tts:voice=nova]] hi", says("hi", { speech: ["voice=nova"] })],
  ["a [[link]] stays", says("a [[link]] stays")],
  ["System: [2026-01-02] Node connected\nhello", says("hello")],
  ["System: woke up\nSystem: again\nhello", says("hello")],
  ["my machine\nSystem: Linux", says("my machine\nSystem: Linux")],
  ["one\nSystem: [12:00] event\ntwo", says("one\ntwo")],
];

describe("replies", () => {
  for (const [raw, shaped] of table) {
    test(JSON.stringify(raw), () => assert.deepEqual(shapeReply(raw), shaped));
  }

  test("without marks come out trimmed and whole", () => {
    const plain = fc
      .string({ unit: "binary", maxLength: 300 })
      .filter((raw) => !/<|\[\[|System:|NO_REPLY/.test(raw) && raw.trim() !== "");
    fc.assert(fc.property(plain, (raw) => assert.deepEqual(shapeReply(raw), says(raw.trim()))));
  });

  test("never keep a closed thought, whatever stands around it", () => {
    const word = fc.string({ maxLength: 20 }).filter((text) => !/[<>`]|secret/.test(text));
    fc.assert(
      fc.property(word, word, word, (before, thought, behind) => {
        const { text } = shapeReply(`${before}<think>${thought}secret${thought}</think>${behind}`);
        assert.equal(text.includes("secret"), false);
      }),
    );
  });
});
