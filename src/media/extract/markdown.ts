// Turns a part of a page into Markdown or plain text.
import TurndownService from "turndown";

import { ELEMENT, TEXT, type Element, type Node } from "./dom.ts";

let service: TurndownService | undefined;

export function toMarkdown(root: Element): string {
  return tidy((service ??= createService()).turndown(root as never));
}

function createService(): TurndownService {
  const made = new TurndownService({
    headingStyle: "atx",
    codeBlockStyle: "fenced",
    bulletListMarker: "-",
    hr: "---",
    emDelimiter: "*",
  });
  made.remove(["script", "style", "noscript", "button", "input", "select", "textarea", "form"] as never);
  // Forms often hold the whole page, so only their controls go.
  made.addRule("form", { filter: "form" as never, replacement: (content) => `\n\n${content}\n\n` });
  made.addRule("strikethrough", { filter: ["del", "s"] as never, replacement: (content) => `~~${content}~~` });
  made.addRule("table", {
    filter: "table",
    replacement: (content, node) => tableOf(node as Element, content),
  });
  made.addRule("pre", { filter: "pre", replacement: (_content, node) => fenced(node as Element) });
  made.addRule("link", {
    filter: (node) => node.nodeName === "A" && node.getAttribute("href") !== null,
    replacement(content, node) {
      const label = content.trim();
      const href = (node as Element).getAttribute("href") ?? "";
      if (label === "" || !/^https?:|^mailto:/i.test(href)) return label;
      return label === href
        ? `<${href}>`
        : `[${label.replaceAll(/\s*\n\s*/g, " ")}](${href.replaceAll(/[()\s]/g, encodeURIComponent)})`;
    },
  });
  made.addRule("image", {
    filter: "img",
    replacement(_content, node) {
      const source = (node as Element).getAttribute("src") ?? "";
      return /^https?:/i.test(source) ? `![](${source.replaceAll(/[()\s]/g, encodeURIComponent)})` : "";
    },
  });
  return made;
}

function fenced(pre: Element): string {
  const code = (pre.textContent ?? "").replace(/\n+$/, "").replace(/^\n+/, "");
  const names = `${pre.getAttribute("class") ?? ""} ${pre.querySelector("code")?.getAttribute("class") ?? ""}`;
  const language = /(?:language|lang|highlight-source|brush)[-:]\s*([\w+#-]+)/.exec(names)?.[1] ?? "";
  const longest = Math.max(2, ...[...code.matchAll(/^`{3,}/gm)].map(([ticks]) => ticks.length));
  const fence = "`".repeat(longest + 1);
  return `\n\n${fence}${language}\n${code}\n${fence}\n\n`;
}

/** A table of data as a Markdown table; one that lays out a page as its content. */
function tableOf(table: Element, content: string): string {
  const rows = rowsOf(table);
  const width = Math.max(0, ...rows.map((row) => row.length));
  const holdsBlocks = table.querySelector("table,pre,ul,ol,h1,h2,h3,blockquote") !== null;
  if (rows.length < 2 || width < 2 || holdsBlocks) return `\n\n${content}\n\n`;
  const lines = rows.map((row) => `| ${Array.from({ length: width }, (_, at) => row[at] ?? "").join(" | ")} |`);
  const caption = table.querySelector("caption")?.textContent?.trim();
  const rule = `|${" --- |".repeat(width)}`;
  return `\n\n${caption === undefined || caption === "" ? "" : `${caption}\n\n`}${[lines[0], rule, ...lines.slice(1)].join("\n")}\n\n`;
}

function rowsOf(table: Element): string[][] {
  return [...table.querySelectorAll("tr")]
    .map((row) =>
      [...row.children]
        .filter(({ localName }) => localName === "td" || localName === "th")
        .flatMap((cell) => {
          const text = inCell(cell);
          const span = Math.min(Number(cell.getAttribute("colspan") ?? 1) || 1, 20);
          return [text, ...Array.from({ length: span - 1 }, () => "")];
        }),
    )
    .filter((row) => row.length > 0);
}

function inCell(cell: Element): string {
  const inner = cell.querySelector("a,code,strong,b,em,i,br") === null ? (cell.textContent ?? "") : toMarkdown(cell);
  return inner
    .replaceAll(/\s*\n\s*/g, " ")
    .replaceAll(/\s+/g, " ")
    .trim()
    .replaceAll("|", "\\|");
}

/** Lines as a person reads them: blocks on lines of their own, cells apart, no markup. */
export function toText(root: Element): string {
  const out: string[] = [];
  const visit = (node: Node, isPre: boolean): void => {
    if (node.nodeType === TEXT) {
      out.push(isPre ? (node.textContent ?? "") : (node.textContent ?? "").replaceAll(/\s+/g, " "));
      return;
    }
    if (node.nodeType !== ELEMENT) return;
    const { localName } = node as Element;
    if (silent.has(localName)) return;
    if (localName === "br") return void out.push("\n");
    if (localName === "li") out.push("\n- ");
    else if (localName === "td" || localName === "th") out.push("\t");
    else if (lines.has(localName)) out.push("\n");
    else if (blocks.has(localName)) out.push("\n\n");
    for (const child of node.childNodes) visit(child, isPre || localName === "pre");
    if (blocks.has(localName)) out.push("\n\n");
    else if (lines.has(localName)) out.push("\n");
  };
  visit(root, false);
  return tidy(
    out
      .join("")
      .replaceAll(/\n\t/g, "\n")
      .replaceAll(/[ \t]*\t[ \t]*/g, "\t"),
  );
}

const silent: ReadonlySet<string> = new Set("script style noscript button input select textarea head img".split(" "));
const lines: ReadonlySet<string> = new Set("div tr dt dd figcaption caption option address".split(" "));
const blocks: ReadonlySet<string> = new Set(
  "p h1 h2 h3 h4 h5 h6 blockquote pre ul ol dl table article section header footer main aside nav figure hr form".split(
    " ",
  ),
);

export function tidy(text: string): string {
  return text
    .replaceAll(/[ \t]+$/gm, "")
    .replaceAll(/^[ ](?=\S)/gm, "")
    .replaceAll(/\n{3,}/g, "\n\n")
    .trim();
}
