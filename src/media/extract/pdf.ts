// The text of a PDF, page by page, up to a number of pages and characters.
import { getDocumentProxy } from "unpdf";

import { OpenClawError } from "../../core/error.ts";
import { removeInvisible } from "./hidden.ts";
import type { Extracted, PdfJob } from "./job.ts";

/** Throws `extract.pdf` for a file that cannot be read. */
export async function readPdf({ bytes, maxPages, maxChars }: PdfJob): Promise<Extracted> {
  const pdf = await getDocumentProxy(new Uint8Array(bytes), { verbosity: 0 }).catch((error: unknown) => {
    const why = error instanceof Error ? error.message : String(error);
    throw new OpenClawError("extract.pdf", `the PDF cannot be read: ${why.slice(0, 200)}`);
  });
  const parts: string[] = [];
  let length = 0;
  let read = 0;
  while (read < Math.min(pdf.numPages, maxPages) && length <= maxChars) {
    read += 1;
    const page = await pdf.getPage(read);
    const { items } = await page.getTextContent();
    const text = items.map((item) => ("str" in item ? item.str + (item.hasEOL ? "\n" : "") : "")).join("");
    parts.push(removeInvisible(text).trim());
    length += text.length;
    page.cleanup();
  }
  const text = parts.filter((part) => part !== "").join("\n\n");
  const { info } = (await pdf.getMetadata()) as { info?: { Title?: unknown } };
  const title = typeof info?.Title === "string" ? info.Title.trim() : "";
  return {
    text: text.slice(0, maxChars).toWellFormed(),
    ...(title === "" ? {} : { title: removeInvisible(title).slice(0, 300) }),
    extractor: "pdf",
    length: text.length,
    isCut: text.length > maxChars || read < pdf.numPages,
    pages: { count: pdf.numPages, read },
  };
}
