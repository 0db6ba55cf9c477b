// RSS, Atom and RDF feeds as a list of entries.
import { parseDocument, parseXml, type Element } from "./dom.ts";
import { tidy, toText } from "./markdown.ts";

const MAX_SUMMARY_CHARS = 500;

export interface Feed {
  readonly title: string;
  readonly text: string;
}

/** Undefined for XML that is not a feed. */
export function readFeed(xml: string, base: string): Feed | undefined {
  const document = parseXml(xml);
  const root = [...document.children].find(({ localName }) => /^(?:rss|feed|(?:rdf:)?rdf)$/i.test(localName));
  if (root === undefined) return undefined;
  const channel = root.querySelector("channel") ?? root;
  const entries = [...root.querySelectorAll("item, entry")];
  const title = childText(channel, "title");
  const about = plain(childText(channel, "description", "subtitle", "tagline"));
  const head = [`# ${title === "" ? "Feed" : title}`, about].filter((line) => line !== "");
  return { title, text: tidy([...head, ...entries.map((entry) => entryText(entry, base))].join("\n\n")) };
}

function entryText(entry: Element, base: string): string {
  const title = plain(childText(entry, "title")) || "(untitled)";
  const link = linkOf(entry, base);
  const date = childText(entry, "pubDate", "published", "updated", "dc:date");
  const author = plain(childText(entry, "dc:creator", "author"));
  const summary = plain(childText(entry, "description", "summary", "content:encoded", "content"));
  const cut = summary.length > MAX_SUMMARY_CHARS ? `${summary.slice(0, MAX_SUMMARY_CHARS).toWellFormed()}…` : summary;
  return [
    `## ${link === undefined ? title : `[${title}](${link})`}`,
    [date, author].filter((fact) => fact !== "").join(" · "),
    cut,
  ]
    .filter((line) => line !== "")
    .join("\n");
}

function linkOf(entry: Element, base: string): string | undefined {
  const links = children(entry, "link");
  const chosen =
    links.find((link) => ["alternate", null, ""].includes(link.getAttribute("rel")) && link.hasAttribute("href")) ??
    links.find((link) => (link.textContent ?? "").trim() !== "");
  const written = chosen?.getAttribute("href") ?? chosen?.textContent?.trim() ?? "";
  const url = written === "" ? null : URL.parse(written, base);
  return url !== null && /^https?:$/.test(url.protocol) ? url.href : undefined;
}

function children(parent: Element, name: string): Element[] {
  const wanted = name.toLowerCase();
  return [...parent.children].filter(({ localName, tagName }) =>
    [localName, tagName].some((own) => own.toLowerCase() === wanted),
  );
}

/** Of the first child that has text, in the order of the names. */
function childText(parent: Element, ...names: readonly string[]): string {
  for (const name of names)
    for (const child of children(parent, name)) {
      const text = (child.textContent ?? "").trim();
      if (text !== "") return text;
    }
  return "";
}

/** Summaries often hold HTML, escaped or not. */
function plain(text: string): string {
  const bare = /[<&]/.test(text) ? toText(parseDocument(text).body) : text;
  return bare.replaceAll(/\s+/g, " ").trim();
}
