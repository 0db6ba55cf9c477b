// Extraction runs in threads that are bounded in time and memory, and the next page works after a bad one.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { deflateSync } from "node:zlib";
import fc from "fast-check";

import { decodeText } from "./charset.ts";
import { createExtraction } from "./extract.ts";
import { hides, removeInvisible } from "./hidden.ts";
import { readPage } from "./page.ts";

const extraction = createExtraction();
after(() => extraction.close());

const job = (html: string | Buffer, contentType = "text/html") =>
  ({
    bytes: Buffer.from(html),
    contentType,
    url: "https://site.example/",
    mode: "markdown",
    readability: true,
    maxChars: 100_000,
  }) as const;
const article = `<html><body><article><p>${"A sentence with commas, and more words. ".repeat(20)}</p></article></body></html>`;
/** Quadratic for every DOM library: thousands of siblings, each with a selector to match. */
const slow = `<html><head><style>${Array.from({ length: 500 }, (_, at) => `.a${at} .b${at} .c{display:none}`).join("")}</style></head><body>${"<div class=c><p>word, word</p></div>".repeat(40_000)}</body></html>`;

test("ends a page that takes too long and reads the next one", async () => {
  await assert.rejects(extraction.page(job(slow), { timeoutMs: 500 }), { code: "extract.timeout" });
  assert.equal((await extraction.page(job(article))).extractor, "readability");
});

test("stops for a caller that left, and others behind it in the queue get their pages", async () => {
  const control = new AbortController();
  const left = extraction.page(job(slow), { signal: control.signal });
  const next = extraction.page(job(article));
  setTimeout(() => control.abort(new Error("the caller left")), 100);
  await assert.rejects(left, { message: "the caller left" });
  assert.equal((await next).extractor, "readability");
});

test("ends a PDF that unpacks to more memory than it may use and reads the next one", async () => {
  const pdf = (unpacked: Buffer) => ({ bytes: packedPdf(unpacked), maxPages: 10, maxChars: 1000 });
  const text = Buffer.from("BT /F1 12 Tf (hello) Tj ET\n");
  const bomb = Buffer.concat([text, Buffer.alloc(150_000_000, " ")]);
  await assert.rejects(extraction.pdf(pdf(bomb), { maxBufferBytes: 60_000_000 }), {
    code: "extract.failed",
    message: "the content needs too much memory",
  });
  assert.equal((await extraction.pdf(pdf(text))).text, "hello");
});

/** One page whose content is compressed. */
function packedPdf(content: Buffer): Buffer {
  const packed = deflateSync(content, { level: 1 });
  const head = `%PDF-1.4
1 0 obj <</Type/Catalog/Pages 2 0 R>> endobj
2 0 obj <</Type/Pages/Kids[3 0 R]/Count 1>> endobj
3 0 obj <</Type/Page/Parent 2 0 R/MediaBox[0 0 99 99]/Resources<</Font<</F1 5 0 R>>>>/Contents 4 0 R>> endobj
5 0 obj <</Type/Font/Subtype/Type1/BaseFont/Helvetica>> endobj
4 0 obj <</Length ${packed.length}/Filter/FlateDecode>>\nstream\n`;
  return Buffer.concat([Buffer.from(head), packed, Buffer.from("\nendstream endobj\ntrailer <</Root 1 0 R>>\n%%EOF")]);
}

test("the event loop goes on while a page is read", async () => {
  let turns = 0;
  const timer = setInterval(() => turns++, 1);
  const paragraph = "<p>A long paragraph with commas, and with <b>many</b> words in it.</p>";
  await extraction.page(job(`<html><body><article>${paragraph.repeat(4000)}</article></body></html>`));
  clearInterval(timer);
  assert.ok(turns > 20, `${turns} turns`);
});

test("reports a page without text and one that nests too deep", async () => {
  await assert.rejects(extraction.page(job("<html><body><div id=root></div></body></html>")), {
    code: "extract.empty",
  });
  // End tags of elements that are not open do not make a page less deep.
  for (const level of ["<div>", "<div></b>", "<g>"])
    await assert.rejects(extraction.page(job(`<html><body>${level.repeat(100_000)}x`)), { code: "extract.too-deep" });
});

test("reads rows by selectors", async () => {
  const {
    mode: _mode,
    readability: _readability,
    maxChars: _maxChars,
    ...page
  } = job("<ul><li><a href='/a'>One</a><i>1</i></li><li><a href='/b'>Two</a></li></ul>");
  const rows = await extraction.rows({
    ...page,
    row: "li",
    fields: { name: "a", link: "a@href", more: "i" },
    maxRows: 5,
  });
  assert.deepEqual(rows, [
    { name: "One", link: "https://site.example/a", more: "1" },
    { name: "Two", link: "https://site.example/b", more: "" },
  ]);
});

test("a closed extraction starts no thread", async () => {
  const closed = createExtraction();
  await closed.close();
  await assert.rejects(closed.page(job(article)), { code: "extract.closed" });
});

test("finds the charset in the order of the HTML standard", () => {
  const cases: readonly [bytes: Buffer, contentType: string, text: string][] = [
    [Buffer.from([0xef, 0xbb, 0xbf, 0xc3, 0xbc]), "text/html; charset=iso-8859-1", "ü"],
    [Buffer.from([0xfc]), "text/html; charset=ISO-8859-1", "ü"],
    [Buffer.from([0xfc]), "text/html", "ü"],
    [Buffer.from("ü"), "text/html", "ü"],
    [Buffer.from("ü"), "text/html; charset=none-such", "ü"],
    [
      Buffer.from('<?xml version="1.0" encoding="iso-8859-2"?>\xb1', "latin1"),
      "text/xml",
      '<?xml version="1.0" encoding="iso-8859-2"?>ą',
    ],
    [Buffer.from("<meta charset=utf-16>ü"), "text/html", "<meta charset=utf-16>ü"],
  ];
  for (const [bytes, contentType, text] of cases) assert.equal(decodeText(bytes, contentType), text, contentType);
});

test("knows declarations that hide from those that do not", () => {
  for (const style of [
    "display : none",
    "DISPLAY:NONE!important",
    "visibility:hidden",
    "opacity: 0",
    "opacity:0.0;",
    "font-size:0px",
    "font-size:1px;",
    "left:-9999px",
    "text-indent:-1000px",
    "color:#fff;background-color:#fff",
    "overflow:hidden;height:0",
    "clip:rect(0,0,0,0)",
    "transform:scale(0)",
    "color:transparent",
    "display:none;/* a comment without an end",
  ])
    assert.ok(hides(style), style);
  for (const style of [
    "display:block",
    "opacity:0.9",
    "opacity:1",
    "font-size:10px",
    "font-size:1.2em",
    "left:-10px",
    "color:#fff;background:#000",
    "height:0",
    "overflow:hidden;height:100px",
    "",
  ])
    assert.ok(!hides(style), style);
});

test("removes characters that show nothing, and keeps joiners", () => {
  assert.equal(removeInvisible("a\u200bb\u{e0041}c\u202ed می‌خواهم 👨‍👩‍👧"), "abcd می‌خواهم 👨‍👩‍👧");
});

test("no bytes make the reader fail in another way than it says", () => {
  const text = fc.oneof(
    fc.string({ maxLength: 200 }),
    fc
      .array(
        fc.constantFrom(
          "<p>",
          "</p>",
          "<table>",
          "<tr>",
          "<td>",
          "<style>",
          "{display:none}",
          "</style>",
          "<!--",
          "-->",
          "<a href=",
          "'",
          '"',
          ">",
          "&#x",
          "<pre>",
          "<li>",
          "text, ",
          "<svg>",
          "]]>",
          "<?xml",
        ),
        { maxLength: 60 },
      )
      .map((parts) => parts.join("")),
  );
  fc.assert(
    fc.property(text, fc.constantFrom("text/html", "text/xml", "application/json", "text/plain", ""), (html, type) => {
      try {
        const { text: read, length } = readPage({ ...job(html, type), kind: "page" });
        assert.ok(read.length <= length && read.isWellFormed());
      } catch (error) {
        assert.match(
          String((error as { code?: unknown }).code),
          /^extract\./,
          `${JSON.stringify(html)}: ${String(error)}`,
        );
      }
    }),
    { numRuns: Number(process.env["OPENCLAW_EXTRACT_RUNS"] ?? 300) },
  );
});
