// Output as text: safe, complete, paged from memory and from the file, with limits on both.
import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";

import fc from "fast-check";

import { until } from "./engine.cases.ts";
import { createOutput, type CapturedOutput, type OutputOptions } from "./output.ts";
import { safeText } from "./safe-text.ts";

const folder = mkdtempSync(join(tmpdir(), "openclaw-output-"));
after(() => rmSync(folder, { recursive: true }));
let files = 0;

function open(options: Partial<OutputOptions> = {}): CapturedOutput {
  return createOutput({ filePath: async () => join(folder, `${(files += 1)}`), ...options });
}

async function allLines(output: CapturedOutput): Promise<readonly string[]> {
  const lines: string[] = [];
  for (;;) {
    const page = await output.lines(lines.length, Infinity);
    if (page.length === 0) return lines;
    lines.push(...page);
  }
}

/** Waits for onDrain when append returns false, as a reader does. */
async function put(output: CapturedOutput, bytes: Uint8Array): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  output.onDrain = resolve;
  if (!output.append(bytes)) await promise;
}

test("removes terminal sequences, shows control characters and replaces invalid bytes", () => {
  const cases: Record<string, string> = {
    "\u001b[1;31mred\u001b[0m\n": "red\n",
    "\u001b]0;title\u0007x": "x",
    "\u001b]8;;http://a\u001b\\link\u001b]8;;\u001b\\": "link",
    "\u001bP1$r0m\u001b\\y": "y",
    "\u001b(Bz\u001b7": "z",
    "a\r\nb\r\r\nc\rd": "a\nb\nc\nd",
    "a\tb\u0000\u0008\u007f\u0007c": "a\tb␀␈␡c",
    "\u009b31m": "�31m",
    "\u001b[": "",
    "\u001b": "␛",
    "\ufeffbom": "\ufeffbom",
  };
  for (const [raw, text] of Object.entries(cases)) assert.equal(safeText(Buffer.from(raw)), text, JSON.stringify(raw));
  assert.equal(safeText(Buffer.from([0x61, 0xff, 0xc3, 0x62, 0xe2, 0x82])), "a��b�");
});

test("drains new text once, never half a character or half a sequence", () => {
  const output = open();
  const drained: string[] = [];
  for (const byte of Buffer.from("ä\u001b[31m€\r\n😀")) {
    output.append(Uint8Array.of(byte));
    drained.push(output.drain().text);
  }
  output.finish();
  drained.push(output.drain().text);
  assert.equal(drained.join(""), "ä€\n😀");
  assert.deepEqual(
    drained.filter((text) => text !== ""),
    ["ä", "€", "\n", "😀"],
  );
  assert.deepEqual(output.drain(), { text: "", dropped: 0 });
});

test("drops the beginning of too much new text and counts it", () => {
  const output = open({ pendingChars: 10 });
  output.append(Buffer.from("0123456789".repeat(100)));
  assert.deepEqual(output.drain(), { text: "0123456789", dropped: 990 });
});

test("gives the same text and lines for any bytes in any pieces", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.uint8Array({ maxLength: 300 }), { maxLength: 20 }), async (pieces) => {
      const output = open();
      let drained = "";
      for (const piece of pieces) {
        output.append(piece);
        drained += output.drain().text;
      }
      output.finish();
      drained += output.drain().text;
      const all = Buffer.concat(pieces);
      const rawLines = all.toString("latin1").split("\n");
      const expected = (rawLines.at(-1) === "" ? rawLines.slice(0, -1) : rawLines).map((line) =>
        safeText(Buffer.from(line, "latin1")).replace(/\n$/, ""),
      );
      assert.equal(output.totalLines, expected.length);
      assert.deepEqual(await output.lines(0, Infinity), expected);
      assert.equal(output.tail(1_000_000), safeText(all));
      assert.equal(output.totalChars, safeText(all).length);
      assert.equal(stripped(drained), stripped(safeText(all)));
    }),
    { numRuns: 300, seed: 7 },
  );
});

/** A poll may cut a sequence visibly; the letters and digits do not change. */
const stripped = (text: string): string => text.replaceAll(/[^\p{L}\p{N}]/gu, "");

test("pages a large output from the file as from memory, without gaps", async () => {
  const output = open();
  const count = 200_000;
  for (let from = 0; from < count; from += 1000) {
    const lines = Array.from({ length: 1000 }, (_, at) => `line ${from + at} ü\n`).join("");
    await put(output, Buffer.from(lines));
  }
  assert.equal(output.totalLines, count);
  assert.equal(
    output.totalChars,
    Array.from({ length: count }, (_, at) => `line ${at} ü\n`.length).reduce((a, b) => a + b),
  );
  for (const from of [0, 1, 9999, 65_535, 123_456, count - 3]) {
    assert.deepEqual(await output.lines(from, 3), [`line ${from} ü`, `line ${from + 1} ü`, `line ${from + 2} ü`]);
  }
  assert.deepEqual(await output.lines(count, 5), []);
  assert.equal((await allLines(output)).length, count);
  assert.ok(output.tail(400_000).endsWith(`line ${count - 1} ü\n`));
  assert.equal(output.tail(400_000).length, 400_000);
  await output.discard();
  assert.deepEqual(await output.lines(0, 5), []);
});

test("creates a private file only when needed and removes it with the output", async () => {
  const before = readdirSync(folder).length;
  const output = open();
  await put(output, Buffer.alloc(100_000, 97));
  assert.equal(readdirSync(folder).length, before);
  for (let at = 0; at < 10; at += 1) await put(output, Buffer.alloc(65_536, 97));
  await until(() => existsSync(join(folder, `${files}`)));
  assert.equal(statSync(join(folder, `${files}`)).mode & 0o777, 0o600);
  await output.discard();
  assert.equal(readdirSync(folder).length, before);
});

test("pages output without newlines", async () => {
  const output = open();
  for (let at = 0; at < 64; at += 1) await put(output, Buffer.alloc(50_000, 65 + (at % 26)));
  const size = 64 * 50_000;
  assert.equal(output.totalLines, Math.ceil(size / 65_536));
  const pages = await allLines(output);
  assert.equal(pages.join("").length, size);
  assert.equal(pages.length, output.totalLines);
});

test("keeps the end beyond the file limit and reports the gap", async () => {
  const output = open({ maxFileBytes: 500_000 });
  for (let at = 0; at < 400_000; at += 1000) {
    await put(output, Buffer.from(Array.from({ length: 1000 }, (_, n) => `${at + n}\n`).join("")));
  }
  assert.equal(output.totalLines, 400_000);
  assert.deepEqual(await output.lines(0, 2), ["0", "1"]);
  assert.deepEqual(await output.lines(399_998, 2), ["399998", "399999"]);
  const all = await output.lines(0, Infinity);
  assert.equal(all.filter((line) => line.includes("were dropped: the file reached its limit")).length, 1);
  assert.ok(output.tail(20).endsWith("399999\n"));
});

test("keeps the end in memory when the disk is full, without blocking the program", async () => {
  const output = createOutput({
    filePath: async () => {
      throw Object.assign(new Error("full"), { code: "ENOSPC" });
    },
  });
  for (let at = 0; at < 100; at += 1) await put(output, Buffer.alloc(65_536, 97));
  await put(output, Buffer.from("\nlast\n"));
  assert.equal((await output.lines(output.totalLines - 1, 1))[0], "last");
  assert.match((await output.lines(0, 1))[0] ?? "", /were dropped: the file could not be written \(ENOSPC\)/);
});
