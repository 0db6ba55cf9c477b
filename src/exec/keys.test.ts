// The bytes of every key in the table.
import assert from "node:assert/strict";
import { test } from "node:test";

import { encodeKeys, encodePaste, stepsForPipe } from "./keys.ts";

const bytesOf = (...keys: string[]): string => encodeKeys({ keys }).bytes.toString("latin1");

test("encodes named keys, control, meta and modified cursor keys", () => {
  const table: Record<string, string> = {
    Enter: "\r",
    "Ctrl-C": "\u0003",
    "ctrl+c": "\u0003",
    "Control-d": "\u0004",
    "alt-x": "\u001bx",
    "Shift-Tab": "\u001b[Z",
    "Ctrl+Shift+Up": "\u001b[1;6A",
    return: "\r",
    CR: "\r",
    Tab: "\t",
    BTab: "\u001b[Z",
    "S-Tab": "\u001b[Z",
    Escape: "\u001b",
    esc: "\u001b",
    Space: " ",
    BSpace: "\u007f",
    Up: "\u001b[A",
    Down: "\u001b[B",
    Right: "\u001b[C",
    Left: "\u001b[D",
    Home: "\u001b[H",
    End: "\u001b[F",
    PPage: "\u001b[5~",
    PgDn: "\u001b[6~",
    Insert: "\u001b[2~",
    Del: "\u001b[3~",
    F1: "\u001bOP",
    F4: "\u001bOS",
    F5: "\u001b[15~",
    F6: "\u001b[17~",
    F12: "\u001b[24~",
    "C-c": "\u0003",
    "C-C": "\u0003",
    "^d": "\u0004",
    "C-Space": "\u0000",
    "C-@": "\u0000",
    "C-[": "\u001b",
    "C-\\": "\u001c",
    "C-]": "\u001d",
    "C-^": "\u001e",
    "C-_": "\u001f",
    "C-?": "\u007f",
    "M-x": "\u001bx",
    "M-Enter": "\u001b\r",
    "M-C-c": "\u001b\u0003",
    "S-Up": "\u001b[1;2A",
    "C-Left": "\u001b[1;5D",
    "M-Right": "\u001b[1;3C",
    "C-S-Down": "\u001b[1;6B",
    a: "a",
    Z: "Z",
    "^": "^",
  };
  for (const [key, bytes] of Object.entries(table)) assert.equal(bytesOf(key), bytes, key);
  assert.equal(bytesOf("Up", "Up", "Enter"), "\u001b[A\u001b[A\r");
});

test("sends anything else as text with a warning; a single character is itself", () => {
  assert.deepEqual(encodeKeys({ keys: [":wq", "é", "😀"] }), {
    bytes: Buffer.from(":wqé😀"),
    warnings: ['":wq" is not a key name and was sent as text'],
  });
  assert.equal(encodeKeys({ keys: ["constructor", "C-constructor", "M-toString"] }).warnings.length, 3);
});

test("types literal text first, then hex bytes, then keys", () => {
  assert.deepEqual(
    encodeKeys({ keys: ["Esc"], hex: ["1b", "0x03", "ff"], literal: "Enter" }).bytes,
    Buffer.from([...Buffer.from("Enter"), 0x1b, 0x03, 0xff, 0x1b]),
  );
  for (const bad of ["", "100", "zz", "0x", "-1"])
    assert.throws(() => encodeKeys({ hex: [bad] }), { code: "process.bad-keys" });
});

test("turns keys into lines, signals and end of input for a command without a terminal", () => {
  assert.deepEqual(stepsForPipe({ literal: "a", keys: ["b", "Enter", "C-c", "C-d", "C-\\", "Tab"] }), [
    { does: "write", bytes: Buffer.from("ab\n") },
    { does: "signal", signal: "SIGINT" },
    { does: "close" },
    { does: "signal", signal: "SIGQUIT" },
    { does: "write", bytes: Buffer.from("\t") },
  ]);
  assert.deepEqual(stepsForPipe({ keys: ["constructor"] }), [{ does: "write", bytes: Buffer.from("constructor") }]);
  for (const key of ["Up", "Escape", "C-z", "M-x", "F1", "BSpace"])
    assert.equal(stepsForPipe({ keys: [key] }), undefined, key);
});

test("brackets a paste by default, and the text cannot close its bracket", () => {
  assert.equal(encodePaste("a\nb").toString(), "\u001b[200~a\nb\u001b[201~");
  assert.equal(encodePaste("a", false).toString(), "a");
  for (const text of [
    "a\u001b[201~rm",
    "a\u001b[20\u001b[201~1~rm",
    "a\u001b\u001b[201~[201~rm",
    "a\u001b[2\u001b[201~01~\u001b\u001b\u001b[201~",
  ])
    assert.equal(encodePaste(text).toString().indexOf("\u001b[201~"), encodePaste(text).length - 6, text);
  assert.equal(encodePaste("a\u001b[201~rm").toString(), "\u001b[200~a[201~rm\u001b[201~");
});
