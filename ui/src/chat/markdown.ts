// Parses Markdown into a tree of a few safe node kinds; raw HTML becomes plain text.
import { lexer, type Token, type Tokens } from "marked";

export type Inline =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "code"; readonly text: string }
  | { readonly kind: "strong" | "em" | "del"; readonly inner: readonly Inline[] }
  | { readonly kind: "link"; readonly href: string; readonly inner: readonly Inline[] }
  | { readonly kind: "image"; readonly src: string; readonly alt: string }
  | { readonly kind: "break" }
  | { readonly kind: "tick"; readonly isDone: boolean };

export type Align = "left" | "center" | "right" | undefined;

export type BlockNode =
  | { readonly kind: "paragraph"; readonly inner: readonly Inline[] }
  | { readonly kind: "heading"; readonly depth: number; readonly inner: readonly Inline[] }
  | { readonly kind: "code"; readonly language: string; readonly text: string }
  | { readonly kind: "quote"; readonly blocks: readonly BlockNode[] }
  | { readonly kind: "list"; readonly start: number | undefined; readonly items: readonly (readonly BlockNode[])[] }
  | {
      readonly kind: "table";
      readonly aligns: readonly Align[];
      readonly head: readonly (readonly Inline[])[];
      readonly rows: readonly (readonly (readonly Inline[])[])[];
    }
  | { readonly kind: "rule" };

/** Longer texts are shown without formatting, so that the page does not stall. */
const mostChars = 200_000;
const deepest = 30;

export function parseMarkdown(text: string): readonly BlockNode[] {
  if (text.length > mostChars) return [plain(text)];
  try {
    return toBlocks(lexer(text, { gfm: true, breaks: true }), 0);
  } catch {
    return [plain(text)]; // nested too deeply for the parser
  }
}

function plain(text: string): BlockNode {
  return { kind: "paragraph", inner: [{ kind: "text", text }] };
}

function toBlocks(tokens: readonly Token[], depth: number): BlockNode[] {
  if (depth > deepest) return [plain(tokens.map(({ raw }) => raw).join(""))];
  return withTicks(tokens).flatMap((token) => toBlock(token, depth));
}

/** The parser separates the checkbox of a task from its text. */
function withTicks(tokens: readonly Token[]): readonly Token[] {
  const [checkbox, content, ...rest] = tokens;
  if (checkbox?.type !== "checkbox" || content === undefined) return tokens;
  const inner = [checkbox, ...((content as Tokens.Generic).tokens ?? [content])];
  return [{ ...content, tokens: inner } as Token, ...rest];
}

function toBlock(token: Token, depth: number): BlockNode[] {
  switch (token.type) {
    case "space":
    case "def":
      return [];
    case "hr":
      return [{ kind: "rule" }];
    case "heading":
      return [{ kind: "heading", depth: (token as Tokens.Heading).depth, inner: innerOf(token) }];
    case "code": {
      const { lang = "", text } = token as Tokens.Code;
      return [{ kind: "code", language: lang.trim().split(/\s/)[0] ?? "", text }];
    }
    case "blockquote":
      return [{ kind: "quote", blocks: toBlocks((token as Tokens.Blockquote).tokens, depth + 1) }];
    case "list":
      return [toList(token as Tokens.List, depth)];
    case "table":
      return [toTable(token as Tokens.Table)];
    case "html":
      return [plain(token.raw.trimEnd())];
    case "checkbox":
      return [{ kind: "paragraph", inner: toInline([token]) }];
    default:
      return [{ kind: "paragraph", inner: innerOf(token) }];
  }
}

function toList({ ordered, start, items }: Tokens.List, depth: number): BlockNode {
  return {
    kind: "list",
    start: ordered ? Number(start === "" ? 1 : start) : undefined,
    items: items.map(({ tokens }) => toBlocks(tokens, depth + 1)),
  };
}

function toTable({ align, header, rows }: Tokens.Table): BlockNode {
  return {
    kind: "table",
    aligns: align.map((entry) => entry ?? undefined),
    head: header.map(({ tokens }) => toInline(tokens)),
    rows: rows.map((row) => row.map(({ tokens }) => toInline(tokens))),
  };
}

function innerOf(token: Token): Inline[] {
  const { tokens, text } = token as Tokens.Generic;
  if (tokens !== undefined) return toInline(tokens);
  return [{ kind: "text", text: decode(typeof text === "string" ? text : token.raw) }];
}

function toInline(tokens: readonly Token[], depth = 0): Inline[] {
  if (depth > deepest) return [{ kind: "text", text: tokens.map(({ raw }) => raw).join("") }];
  return tokens.flatMap((token) => toInlineOne(token, depth + 1));
}

function toInlineOne(token: Token, depth: number): Inline[] {
  const { tokens = [], text = "" } = token as Tokens.Generic as { tokens?: Token[]; text?: string };
  switch (token.type) {
    case "strong":
    case "em":
    case "del":
      return [{ kind: token.type, inner: toInline(tokens, depth) }];
    case "codespan":
      return [{ kind: "code", text }];
    case "br":
      return [{ kind: "break" }];
    case "checkbox":
      return [{ kind: "tick", isDone: (token as Tokens.Checkbox).checked }];
    case "link":
      return toLink(token as Tokens.Link, depth);
    case "image":
      return toImage(token as Tokens.Image);
    case "html":
      return /^<br\s*\/?>$/i.test(token.raw.trim()) ? [{ kind: "break" }] : [{ kind: "text", text: token.raw }];
    case "text":
      return tokens.length > 0 ? toInline(tokens, depth) : [{ kind: "text", text: decode(text) }];
    default:
      return [{ kind: "text", text: text === "" ? token.raw : text }];
  }
}

/** An unsafe link is shown as text, with its target visible. */
function toLink({ href, tokens, raw }: Tokens.Link, depth: number): Inline[] {
  const inner = toInline(tokens, depth).filter(({ kind }) => kind !== "link");
  const safe = toSafeLink(decode(href));
  return safe === undefined ? [{ kind: "text", text: raw }] : [{ kind: "link", href: safe, inner }];
}

/** A remote image would reveal the reader to its host, so it is shown as a link. */
function toImage({ href, text, raw }: Tokens.Image): Inline[] {
  const src = decode(href);
  if (isOwnPicture(src)) return [{ kind: "image", src, alt: decode(text) }];
  const link = toSafeLink(src);
  if (link === undefined) return [{ kind: "text", text: raw }];
  return [
    { kind: "link", href: link, inner: [{ kind: "text", text: `picture: ${text === "" ? link : decode(text)}` }] },
  ];
}

/** Only absolute web and mail addresses. */
export function toSafeLink(href: string): string | undefined {
  if (!URL.canParse(href)) return undefined;
  const { protocol } = new URL(href);
  return ["http:", "https:", "mailto:"].includes(protocol) ? new URL(href).href : undefined;
}

/** Only embedded images: a URL of this gateway could trigger an action, so no image is fetched. */
export function isOwnPicture(src: string): boolean {
  return /^data:image\/(?:png|jpeg|gif|webp|avif|bmp);base64,[A-Za-z0-9+/=\s]+$/.test(src);
}

const named: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'", nbsp: "\u00A0" };

/** Decodes entities; the result goes into text nodes only. */
function decode(text: string): string {
  return text.replace(
    /&(?:#(\d{1,7})|#x([\da-f]{1,6})|(amp|lt|gt|quot|apos|nbsp));/gi,
    (whole, dec?: string, hex?: string, name?: string) => {
      if (name !== undefined) return named[name.toLowerCase()] ?? whole;
      const code = dec === undefined ? Number.parseInt(hex ?? "", 16) : Number(dec);
      return code > 0 && code <= 0x10_ff_ff ? String.fromCodePoint(code).toWellFormed() : "\uFFFD";
    },
  );
}
