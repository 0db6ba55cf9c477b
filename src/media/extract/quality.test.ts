// Extraction compared with the bare libraries over pages of many kinds: never worse, and the table in the docs is true.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { Readability } from "@mozilla/readability";
import { parseHTML } from "linkedom";
import TurndownService from "turndown";

import { webPages, type WebPage } from "../../../test/fixtures/web-pages.ts";
import { readPage } from "./page.ts";
import { readPdf } from "./pdf.ts";

const url = "https://site.example/";
const bytesOf = ({ body }: WebPage): Buffer => Buffer.from(body);

/** Share of the wanted parts that are there, less the share of unwanted ones; 1 is perfect. */
function score({ wanted, unwanted }: WebPage, text: string): number {
  const found = wanted.filter((part) => text.includes(part)).length / wanted.length;
  const leaked = unwanted.length === 0 ? 0 : unwanted.filter((part) => text.includes(part)).length / unwanted.length;
  return Math.round((found - leaked) * 100) / 100;
}

async function ours(page: WebPage): Promise<string> {
  const bytes = bytesOf(page);
  if (page.kind === "pdf") return (await readPdf({ kind: "pdf", bytes, maxPages: 10, maxChars: 50_000 })).text;
  const job = { kind: "page", bytes, contentType: page.type, url, mode: "markdown", readability: true } as const;
  return readPage({ ...job, maxChars: 50_000 }).text;
}

/** In the same style as ours, so that only the content is compared. */
const turndown = (html: string): string =>
  new TurndownService({
    headingStyle: "atx",
    codeBlockStyle: "fenced",
    bulletListMarker: "-",
    emDelimiter: "*",
  }).turndown(html);

/** Readability, then Turndown: what most programs of this kind do. */
function bareReadability(page: WebPage): string {
  const found = new Readability(parseHTML(bytesOf(page).toString("utf8")).document as never).parse();
  return turndown(found?.content ?? "");
}

const bareTurndown = (page: WebPage): string => turndown(bytesOf(page).toString("utf8"));

/** A bare library that cannot read a page at all scores nothing. */
function attempt(read: () => string): string {
  try {
    return read();
  } catch {
    return "";
  }
}

const rows: string[] = [];
const totals = [0, 0, 0];
for (const page of webPages)
  test(`extraction is at least as good as the bare libraries: ${page.name}`, async () => {
    const text = await ours(page);
    const scores = [
      score(page, text),
      score(
        page,
        attempt(() => bareReadability(page)),
      ),
      score(
        page,
        attempt(() => bareTurndown(page)),
      ),
    ] as const;
    for (const [at, value] of scores.entries()) totals[at] = (totals[at] ?? 0) + value;
    rows.push(`| ${page.name} | ${page.kind} | ${scores.map((value) => value.toFixed(2)).join(" | ")} |`);
    assert.ok(scores[0] >= Math.max(scores[1], scores[2]), `${scores.join(" ")}\n${text}`);
    assert.equal(scores[0], 1, text);
  });

test("docs/conformance-web.md shows these figures", () => {
  const mean = totals.map((total) => (total / webPages.length).toFixed(2)).join(" | ");
  const table = [...rows, `| mean of ${webPages.length} | | ${mean} |`].join("\n");
  const docs = readFileSync(join(import.meta.dirname, "../../../docs/conformance-web.md"), "utf8").replaceAll(
    / +\|/g,
    " |",
  );
  assert.ok(docs.includes(table), `put this into docs/conformance-web.md:\n${table}`);
});
