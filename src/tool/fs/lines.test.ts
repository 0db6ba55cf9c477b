import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "fast-check";

import { takeLines, type Lines, type Window } from "./lines.ts";

async function* inChunks(bytes: Buffer, size: number): AsyncGenerator<Buffer> {
  const reused = Buffer.alloc(size);
  for (let at = 0; at < bytes.length; at += size) yield reused.subarray(0, bytes.copy(reused, 0, at, at + size));
}

const window = (overrides: Partial<Window> = {}): Window => ({
  from: 1,
  maxLines: 2000,
  maxBytes: 51_200,
  countBytes: 1e9,
  ...overrides,
});
const take = (text: string, overrides: Partial<Window> = {}, size = 7): Promise<Lines> =>
  takeLines(inChunks(Buffer.from(text), size), window(overrides));

test("returns the requested lines with totals, line ends and byte-order marks", async () => {
  const all = { total: 3, more: false, cut: false, bom: false };
  assert.deepEqual(await take("a\nb\r\nc"), { ...all, text: "a\nb\r\nc", to: 3, bytes: 6, eol: "mixed" });
  assert.deepEqual(await take("a\r\nb\r\nc\r\n"), { ...all, text: "a\r\nb\r\nc\r\n", to: 3, bytes: 9, eol: "crlf" });
  assert.deepEqual(await take("\ufeffa\nb\nc\n", {}, 1), {
    ...all,
    text: "a\nb\nc\n",
    to: 3,
    bytes: 6,
    bom: true,
    eol: "lf",
  });
  assert.deepEqual(await take("a\nb\nc\n", { from: 2, maxLines: 1 }), {
    ...all,
    text: "b\n",
    to: 2,
    bytes: 2,
    more: true,
    eol: "lf",
  });
  assert.deepEqual(await take("a\nb\nc\n", { from: 9 }), { ...all, text: "", to: 8, bytes: 0, eol: "none" });
  assert.deepEqual(await take(""), { ...all, total: 0, text: "", to: 0, bytes: 0, eol: "none" });
});

test("leaves a line that is too long for the window to the next one, unless it is the first", async () => {
  const long = "x".repeat(30);
  const next = await take(`ab\n${long}\ncd\n`, { maxBytes: 20 });
  assert.deepEqual([next.text, next.to, next.more, next.cut], ["ab\n", 1, true, false]);
  const alone = await take(`ab\n${long}\ncd\n`, { from: 2, maxBytes: 20 });
  assert.deepEqual([alone.text, alone.to, alone.more, alone.cut], ["x".repeat(20), 2, true, true]);
  const split = await take("ü".repeat(30), { maxBytes: 21 }, 2);
  assert.deepEqual([split.text, split.bytes, split.more, split.cut], ["ü".repeat(10), 20, false, true]);
});

test("stops reading when it stops counting", async () => {
  let read = 0;
  async function* endless(): AsyncGenerator<Buffer> {
    for (;;) yield Buffer.from(`line ${(read += 1)}\n`);
  }
  const { to, total, more } = await takeLines(endless(), window({ maxLines: 3, countBytes: 100 }));
  assert.deepEqual({ to, total, more }, { to: 3, total: undefined, more: true });
  assert.ok(read < 20);
});

test("replaces broken UTF-8 and NUL by the replacement character", async () => {
  const bytes = Buffer.from([0x61, 0xff, 0xc3, 0x28, 0x00, 0x0a]);
  const { text } = await takeLines(inChunks(bytes, 2), window());
  assert.equal(text, "a\ufffd\ufffd(\ufffd\n");
});

test("gives the same lines for any text in any chunks as for the whole text", async () => {
  const line = fc.oneof(fc.constantFrom("", "a", "bb", "ü€😀", "x".repeat(40)), fc.string({ maxLength: 12 }));
  const source = fc.tuple(fc.array(line, { maxLength: 20 }), fc.constantFrom("\n", "\r\n"), fc.boolean());
  await fc.assert(
    fc.asyncProperty(
      source,
      fc.integer({ min: 1, max: 9 }),
      fc.integer({ min: 1, max: 8 }),
      fc.integer({ min: 1, max: 60 }),
      async ([lines, end, closed], size, maxLines, maxBytes) => {
        const text = (lines.join(end) + (closed ? end : "")).replaceAll("\0", "").replace(/^\ufeff+/, "");
        const from = 1 + (maxBytes % 5);
        const got = await take(text, { from, maxLines, maxBytes }, size);
        const pieces = text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
        assert.equal(got.total, pieces.length);
        const fits = pieces.slice(from - 1, from - 1 + maxLines);
        const kept: string[] = [];
        for (const piece of fits) {
          if (Buffer.byteLength(kept.join("") + piece) > maxBytes) break;
          kept.push(piece);
        }
        if (kept.length === 0 && fits.length > 0) {
          assert.ok(
            got.cut &&
              got.to === from &&
              (fits[0] ?? "").startsWith(got.text) &&
              Buffer.byteLength(got.text) > maxBytes - 4,
          );
        } else {
          assert.deepEqual([got.text, got.cut, got.to], [kept.join(""), false, from - 1 + kept.length]);
        }
        assert.equal(got.more, pieces.length > got.to);
      },
    ),
    { numRuns: 500 },
  );
});
