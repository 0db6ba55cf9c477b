// Removes what a person who looks at the page would not see: hidden, zero-sized and off-screen elements, comments, alternative texts.
import { COMMENT, walk, type Document, type Element } from "./dom.ts";

const MAX_CSS_CHARS = 200_000;
const MAX_RULES = 500;

export function removeHidden(document: Document): void {
  const hidden: { remove(): void }[] = [];
  for (const node of walk(document))
    if (node.nodeType === COMMENT || ("getAttribute" in node && isHiddenElement(node as Element))) hidden.push(node);
  for (const rule of hidingRules(document)) hidden.push(...selected(document, rule));
  for (const node of hidden) node.remove();
  for (const element of document.querySelectorAll("[alt],[title],[aria-label]"))
    for (const name of ["alt", "title", "aria-label"]) element.removeAttribute(name);
}

function isHiddenElement(element: Element): boolean {
  if (droppedTags.has(element.localName)) return true;
  if (element.hasAttribute("hidden") || element.getAttribute("aria-hidden") === "true") return true;
  if (element.localName === "input" && element.getAttribute("type") === "hidden") return true;
  const style = element.getAttribute("style");
  return style !== null && style !== "" && hides(style);
}

const droppedTags: ReadonlySet<string> = new Set([
  "template",
  "object",
  "embed",
  "iframe",
  "svg",
  "canvas",
  "audio",
  "video",
]);

/** Declarations of one rule or one style attribute. */
export function hides(declarations: string): boolean {
  const css = declarations.toLowerCase().replaceAll(/\/\*[^]*?(?:\*\/|$)|\s+|!important/g, "");
  if (hidingDeclarations.test(css)) return true;
  const isClipped = /(?:^|;)overflow(?:-[xy])?:(?:hidden|clip)/.test(css);
  if (isClipped && /(?:^|;)(?:max-)?(?:width|height):[01](?:px|r?em|%)?(?:;|$)/.test(css)) return true;
  const color = /(?:^|;)color:([^;]+)/.exec(css)?.[1];
  const background = /(?:^|;)background(?:-color)?:([^;]+)/.exec(css)?.[1];
  return color !== undefined && (color === "transparent" || color === background);
}

const hidingDeclarations =
  /(?:^|;)(?:display:none|visibility:(?:hidden|collapse)|content-visibility:hidden|opacity:0(?:\.0+\d?)?%?(?:;|$)|font-size:(?:0|0?\.\d+|1)(?:px|pt|r?em|%)?(?:;|$)|(?:left|right|top|bottom|text-indent|margin-(?:left|top)):-\d{3,}|transform:(?:scale[xy3d]*\(0|translate[xy3d]*\(-\d{4,})|clip:rect\((?:0|1)|clip-path:(?:inset\((?:50|100)%|circle\(0))/;

/** Selectors of the page's own style sheets that hide; rules for print and narrow screens are left out. */
function hidingRules(document: Document): string[] {
  const css = [...document.querySelectorAll("style")]
    .map(({ textContent }) => textContent ?? "")
    .join("\n")
    .slice(0, MAX_CSS_CHARS)
    // A comment without an end lasts to the end, as in browsers; to look for each end again would take quadratic time.
    .replaceAll(/\/\*[^]*?(?:\*\/|$)/g, "");
  const rules: string[] = [];
  for (const [, selector = "", body = ""] of withoutAtRules(css).matchAll(/([^{}]+)\{([^{}]*)\}/g))
    if (hides(body)) rules.push(...selector.split(",").map((one) => one.trim()));
  return rules.filter((rule) => rule !== "" && !/[:*]|^(?:html|body)$/.test(rule)).slice(0, MAX_RULES);
}

function withoutAtRules(css: string): string {
  let kept = "";
  for (let at = 0; at < css.length;) {
    const start = css.indexOf("@", at);
    if (start === -1) return kept + css.slice(at);
    kept += css.slice(at, start);
    at = endOfAtRule(css, start);
  }
  return kept;
}

function endOfAtRule(css: string, start: number): number {
  let depth = 0;
  for (let at = start; at < css.length; at++) {
    if (css[at] === "{") depth += 1;
    else if (css[at] === "}" && --depth <= 0) return at + 1;
    else if (css[at] === ";" && depth === 0) return at + 1;
  }
  return css.length;
}

function selected(document: Document, selector: string): Element[] {
  try {
    return [...document.querySelectorAll(selector)];
  } catch {
    // A selector that the parser does not know hides nothing here; Readability still judges the text.
    return [];
  }
}

/** Characters that show nothing but can carry or reorder text. Joiners stay: several scripts need them. */
export function removeInvisible(text: string): string {
  return text.replaceAll(/[\u00ad\u200b\u2060-\u2064\ufeff\u202a-\u202e\u2066-\u2069\u{e0000}-\u{e01ef}]/gu, "");
}
