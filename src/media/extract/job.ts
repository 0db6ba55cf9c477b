// What the extraction threads are asked and what they answer.

export type Mode = "markdown" | "text";

export interface PageJob {
  readonly kind: "page";
  readonly bytes: Uint8Array;
  /** The Content-Type header. */
  readonly contentType: string;
  /** Base of relative links. */
  readonly url: string;
  readonly mode: Mode;
  /** Reduce to the main content; else the whole page without markup. */
  readonly readability: boolean;
  readonly maxChars: number;
}

/** Reads rows of a page by CSS selectors, such as the results of a search. */
export interface RowsJob {
  readonly kind: "rows";
  readonly bytes: Uint8Array;
  readonly contentType: string;
  readonly url: string;
  readonly row: string;
  /** Name to selector; `selector@attribute` reads an attribute. */
  readonly fields: Readonly<Record<string, string>>;
  readonly maxRows: number;
}

export interface PdfJob {
  readonly kind: "pdf";
  readonly bytes: Uint8Array;
  readonly maxPages: number;
  readonly maxChars: number;
}

export type Job = PageJob | RowsJob | PdfJob;

export type Extractor = "readability" | "page" | "basic" | "feed" | "json" | "raw" | "pdf";

export interface Extracted {
  readonly text: string;
  readonly title?: string | undefined;
  readonly extractor: Extractor;
  /** Characters before the cut. */
  readonly length: number;
  readonly isCut: boolean;
  /** Pages of a PDF, and how many of them were read. */
  readonly pages?: { readonly count: number; readonly read: number };
}

export type Rows = readonly Readonly<Record<string, string>>[];

export type Reply =
  | { readonly id: number; readonly value: Extracted | Rows }
  | { readonly id: number; readonly failure: { readonly code: string; readonly message: string } };
