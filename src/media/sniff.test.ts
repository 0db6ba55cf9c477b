import assert from "node:assert/strict";
import { test } from "node:test";

import { sniff } from "./sniff.ts";

test("detects the type by the first bytes, not by the name", () => {
  const cases: readonly [Buffer, unknown][] = [
    [Buffer.from("iVBORw0KGgoAAAANSUhEUg==", "base64"), { kind: "image", mimeType: "image/png" }],
    [Buffer.from([0xff, 0xd8, 0xff, 0xe0]), { kind: "image", mimeType: "image/jpeg" }],
    [Buffer.from("GIF89a..."), { kind: "image", mimeType: "image/gif" }],
    [Buffer.from("RIFF\x10\0\0\0WEBPVP8 "), { kind: "image", mimeType: "image/webp" }],
    [Buffer.from("%PDF-1.7\n"), { kind: "binary", type: "PDF document", mimeType: "application/pdf" }],
    [Buffer.from("\x7fELF"), { kind: "binary", type: "ELF program" }],
    [Buffer.from("hi\0there"), { kind: "binary", type: "unknown" }],
    [Buffer.from("\u{feff}text with a mark"), { kind: "text" }],
    [Buffer.from("<html>in a .png</html>"), { kind: "text" }],
    [Buffer.from("ID3 tags, explained"), { kind: "text" }],
    [Buffer.alloc(0), { kind: "text" }],
  ];
  for (const [bytes, expected] of cases) assert.deepEqual(sniff(bytes), expected, bytes.toString("latin1"));
});

test("tells sound from film by the tracks, also where the container can hold both", () => {
  const bytes = (text: string): Buffer => Buffer.from(text, "latin1");
  const cases: readonly [Buffer, string][] = [
    [bytes("RIFF\x10\0\0\0WAVEfmt "), "audio/wav"],
    [bytes("RIFF\x10\0\0\0AVI LIST"), "video/x-msvideo"],
    [bytes("ID3\x04\0\0\0\0\0\0"), "audio/mpeg"],
    [bytes("\xff\xfb\x90\x64rest"), "audio/mpeg"],
    [bytes("\xff\xf1\x50\x80"), "audio/aac"],
    [bytes("fLaC\0\0\0\x22"), "audio/flac"],
    [bytes("OggS\0\x02..........................OpusHead"), "audio/ogg"],
    [bytes("OggS\0\x02..........................\x80theora"), "video/ogg"],
    [bytes("\0\0\0\x20ftypM4A \0\0\0\0"), "audio/mp4"],
    [bytes("\0\0\0\x20ftypisom\0\0\0\0....moov....hdlr....soun"), "audio/mp4"],
    [bytes("\0\0\0\x20ftypisom\0\0\0\0....moov....soun....vide"), "video/mp4"],
    [bytes("\0\0\0\x14ftypqt  \0\0\0\0"), "video/quicktime"],
    [bytes("\x1a\x45\xdf\xa3\x9f\x42\x82\x84webm....A_OPUS"), "audio/webm"],
    [bytes("\x1a\x45\xdf\xa3\x9f\x42\x82\x84webm....V_VP9....A_OPUS"), "video/webm"],
    [bytes("\x1a\x45\xdf\xa3\x9f\x42\x82\x88matroska"), "video/x-matroska"],
  ];
  for (const [head, mimeType] of cases) {
    const found = sniff(head);
    assert.equal(found.kind === "binary" ? found.mimeType : found.kind, mimeType, head.toString("latin1"));
  }
  assert.deepEqual(sniff(bytes("\0\0\0\x1cftypheic\0\0\0\0")), { kind: "binary", type: "heic image" });
  assert.equal(sniff(bytes("OggS is a container")).kind, "text");
});
