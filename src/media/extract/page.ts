// Turns the bytes of a web page into readable text: HTML, feeds, JSON and plain text, each by its own way.
import { Readability } from "@mozilla/readability";

import { OpenClawError } from "../../core/error.ts";
import { decodeText } from "./charset.ts";
import { depthOf, parseDocument, type Document, type Element } from "./dom.ts";
import { readFeed } from "./feed.ts";
import { removeHidden, removeInvisible } from "./hidden.ts";
import type { Extracted, Extractor, PageJob, Rows, RowsJob } from "./job.ts";
import { toMarkdown, toText } from "./markdown.ts";

/** Deeper pages are attacks on parsers; real ones stay below a hundred. */
const MAX_DEPTH = 512;
const MAX_HTML_CHARS = 3_000_000;
/** Less text than this, or less than this share of the page, means that Readability lost the content. */
const MIN_ARTICLE_CHARS = 140;
const MIN_ARTICLE_SHARE = 0.25;

interface Read {
  readonly text: string;
  readonly title?: string | undefined;
  readonly extractor: Extractor;
}

/** Throws `extract.*` for a page without readable text. */
export function readPage(job: PageJob): Extracted {
  const source = decodeText(job.bytes, job.contentType);
  const { text, title, extractor } = readByKind(source, job);
  const clean = removeInvisible(text);
  const isCut = clean.length > job.maxChars;
  return {
    text: isCut ? clean.slice(0, job.maxChars).toWellFormed() : clean,
    ...(title === undefined || title === "" ? {} : { title: removeInvisible(title).slice(0, 300) }),
    extractor,
    length: clean.length,
    isCut,
  };
}

function readByKind(source: string, job: PageJob): Read {
  const type = job.contentType.split(";")[0]?.trim().toLowerCase() ?? "";
  const head = source.slice(0, 1000).trimStart();
  if (/[/+]json$/.test(type)) return { text: pretty(source), extractor: "json" };
  if (/<(?:rss|feed|rdf:RDF)[\s>]/i.test(head)) {
    const feed = readFeed(source, job.url);
    if (feed !== undefined) return { ...feed, extractor: "feed" };
  }
  const looksLikeHtml = /^(?:<!doctype html|<html[\s>]|<head[\s>]|<body[\s>])/i.test(head);
  if (/html/.test(type) || (looksLikeHtml && type !== "text/plain")) return readHtml(source, job);
  return { text: source.trim(), extractor: "raw" };
}

function pretty(source: string): string {
  try {
    return JSON.stringify(JSON.parse(source), null, 2);
  } catch {
    // Said to be JSON, but is not: shown as it is.
    return source.trim();
  }
}

function readHtml(source: string, job: PageJob): Read {
  const document = openDocument(source.slice(0, MAX_HTML_CHARS), job.url);
  const title = titleOf(document);
  const convert = job.mode === "text" ? toText : toMarkdown;
  if (!job.readability) return { text: nonEmpty(toText(document.body)), title, extractor: "basic" };
  const pageChars = visibleChars(document.body);
  const article = readArticle(document);
  const articleChars = article === undefined ? 0 : visibleChars(article);
  if (article !== undefined && articleChars >= Math.max(MIN_ARTICLE_CHARS, pageChars * MIN_ARTICLE_SHARE))
    return { text: convert(article), title, extractor: "readability" };
  // Parsed again, because Readability took the document apart; a copy beforehand would cost every page that much.
  const whole = openDocument(source.slice(0, MAX_HTML_CHARS), job.url);
  return { text: nonEmpty(convert(whole.body)), title, extractor: "page" };
}

/** Hidden parts are gone and links are absolute. */
function openDocument(source: string, url: string): Document {
  if (isDeeplyNested(source)) throw tooDeep();
  const document = parseDocument(source);
  if (depthOf(document, MAX_DEPTH) > MAX_DEPTH) throw tooDeep();
  removeHidden(document);
  const base = URL.parse(document.querySelector("base[href]")?.getAttribute("href") ?? "", url)?.href ?? url;
  for (const [selector, name] of [
    ["a[href]", "href"],
    ["img[src]", "src"],
  ] as const)
    for (const element of document.querySelectorAll(selector)) {
      const absolute = URL.parse(element.getAttribute(name) ?? "", base);
      if (absolute !== null && /^(?:https?|mailto):$/.test(absolute.protocol))
        element.setAttribute(name, absolute.href);
      else element.removeAttribute(name);
    }
  return document;
}

/** Before parsing, which takes quadratic time on such a page. As in the parser, an end tag counts only for an open element. */
function isDeeplyNested(source: string): boolean {
  const stack: string[] = [];
  const open = new Map<string, number>();
  for (const [, slash, written = ""] of source.matchAll(/<(\/?)([a-z][a-z0-9-]*)/gi)) {
    const name = written.toLowerCase();
    if (selfClosing.test(name)) continue;
    const count = open.get(name) ?? 0;
    if (slash !== "/") {
      open.set(name, count + 1);
      if (stack.push(name) > MAX_DEPTH * 4) return true;
    } else if (count > 0) {
      for (let last = stack.pop(); last !== undefined; last = stack.pop()) {
        open.set(last, (open.get(last) ?? 1) - 1);
        if (last === name) break;
      }
    }
  }
  return false;
}

const selfClosing =
  /^(?:area|base|br|col|embed|hr|img|input|link|meta|param|source|track|wbr|p|li|td|th|tr|tbody|thead|tfoot|dt|dd|option|optgroup|colgroup|rp|rt|path|use|circle|rect|line|polygon)$/i;

function tooDeep(): OpenClawError {
  return new OpenClawError("extract.too-deep", `the page nests elements deeper than ${MAX_DEPTH} levels`);
}

function titleOf(document: Document): string {
  const meta = document.querySelector('meta[property="og:title"]')?.getAttribute("content") ?? "";
  const title = document.querySelector("head title, title")?.textContent ?? "";
  return (title.trim() || meta.trim()).replaceAll(/\s+/g, " ");
}

/** Changes the document. Undefined when it has no main content. */
function readArticle(document: Document): Element | undefined {
  // As a node: written out and parsed again it would cost as much as all the rest.
  const found = new Readability<unknown>(document as never, { serializer: (node) => node, keepClasses: true }).parse();
  return (found?.content as Element | null | undefined) ?? undefined;
}

function visibleChars(element: Element): number {
  return (element.textContent ?? "").replaceAll(/\s+/g, " ").trim().length;
}

function nonEmpty(text: string): string {
  if (text !== "") return text;
  throw new OpenClawError("extract.empty", "the page has no readable text; it may need JavaScript");
}

export function readRows({ bytes, contentType, url, row, fields, maxRows }: RowsJob): Rows {
  const document = parseDocument(decodeText(bytes, contentType));
  return [...document.querySelectorAll(row)].slice(0, maxRows).map((element) =>
    Object.fromEntries(
      Object.entries(fields).map(([name, path]) => {
        const [selector = "", attribute] = path.split("@");
        const found = selector === "" ? element : element.querySelector(selector);
        const raw = attribute === undefined ? found?.textContent : found?.getAttribute(attribute);
        const text = removeInvisible((raw ?? "").replaceAll(/\s+/g, " ").trim());
        return [name, attribute === "href" ? (URL.parse(text, url)?.href ?? "") : text];
      }),
    ),
  );
}
