import assert from "node:assert/strict";
import { test } from "node:test";

import { sniff } from "./sniff.ts";

test("detects the type by the first bytes, not by the name", () => {
  const cases: readonly [Buffer, unknown][] = [
    [Buffer.from("iVBORw0KGgoAAAANSUhEUg==", "base64"), { kind: "image", mimeType: "image/png" }],
    [Buffer.from([0xff, 0xd8, 0xff, 0xe0]), { kind: "image", mimeType: "image/jpeg" }],
    [Buffer.from("GIF89a..."), { kind: "image", mimeType: "image/gif" }],
    [Buffer.from("RIFF\x10\0\0\0WEBPVP8 "), { kind: "image", mimeType: "image/webp" }],
    [Buffer.from("RIFF\x10\0\0\0WAVEfmt "), { kind: "binary", type: "RIFF audio or video" }],
    [Buffer.from("%PDF-1.7\n"), { kind: "binary", type: "PDF document" }],
    [Buffer.from("\x7fELF"), { kind: "binary", type: "ELF program" }],
    [Buffer.from("hi\0there"), { kind: "binary", type: "unknown" }],
    [Buffer.from("\u{feff}text with a mark"), { kind: "text" }],
    [Buffer.from("<html>in a .png</html>"), { kind: "text" }],
    [Buffer.from("ID3 tags, explained"), { kind: "text" }],
    [Buffer.alloc(0), { kind: "text" }],
  ];
  for (const [bytes, expected] of cases) assert.deepEqual(sniff(bytes), expected, bytes.toString("latin1"));
});
