// Detects the style of a JSON5 text (quotes, indentation, commas) and formats values in that style.
import { OpenClawError } from "../core/error.ts";
import { isRecord } from "../core/record.ts";
import type { TextContainer, TextNode } from "./json5-text.ts";
import { forbiddenKeys } from "./path.ts";

type Quote = '"' | "'";

export interface Style {
  readonly eol: string;
  readonly indent: string;
  /** Undefined: no quotes where the key allows it. */
  readonly keyQuote: Quote | undefined;
  readonly stringQuote: Quote;
  /** Text after a colon, and after a comma on one line. */
  readonly gap: string;
  readonly trailingComma: boolean;
}

/** The most frequent style of the text; strict JSON where it shows none. */
export function styleOf(text: string, root: TextNode | undefined): Style {
  const containers = root === undefined ? [] : containersOf(root);
  const keys = containers.flatMap((node) =>
    node.kind === "object" ? node.entries.map(({ start }) => text[start]) : [],
  );
  const values = containers.flatMap((node) => node.entries.map(({ value }) => text[value.start]));
  const quotedKeys = keys.filter((char) => char === '"' || char === "'");
  const keyQuote = quotedKeys.length < keys.length / 2 ? undefined : majorityQuote(quotedKeys);
  const firstKey = containers.find((node) => node.kind === "object")?.entries[0];
  return {
    eol: text.includes("\r\n") ? "\r\n" : "\n",
    indent: indentOf(text, containers),
    keyQuote,
    stringQuote: majorityQuote(values),
    gap:
      firstKey === undefined ? " " : (/:([ \t]*)$/.exec(text.slice(firstKey.start, firstKey.value.start))?.[1] ?? " "),
    trailingComma: containers.some((node) => isMultiline(text, node) && node.entries.at(-1)?.comma !== undefined),
  };
}

/** `margin` is the indentation of the line the value starts on; undefined puts everything on one line. */
export function render(value: unknown, style: Style, margin: string | undefined): string {
  if (Array.isArray(value)) return renderArray(value, style, margin);
  if (isRecord(value)) return renderObject(value, style, margin);
  if (typeof value === "string") return quote(value, style.stringQuote);
  if (typeof value === "number") return Object.is(value, -0) ? "-0" : String(value);
  if (typeof value === "boolean" || value === null) return String(value);
  throw new OpenClawError("config.bad-value", `a config cannot contain a ${typeof value}`);
}

export function renderKey(key: string, style: Style): string {
  if (style.keyQuote === undefined && /^[$_\p{L}][$_\p{L}\p{Nd}]*$/u.test(key)) return key;
  return quote(key, style.keyQuote ?? style.stringQuote);
}

/** Whether the entries of a container are on separate lines. */
export function isMultiline(text: string, node: TextContainer): boolean {
  const first = node.entries[0];
  const head = text.slice(node.start, first?.start ?? node.end);
  return /[\n\r]/.test(head) || node.entries.slice(1).some((entry) => lineBlank(text, entry.start) !== undefined);
}

/** The leading whitespace of the line, when only whitespace precedes the offset. */
export function lineBlank(text: string, offset: number): string | undefined {
  const line = lineMarginAt(text, offset);
  return line.lineStart + line.margin.length === offset && line.lineStart > 0 ? line.margin : undefined;
}

/** The indentation of the line of an offset. */
export function lineMarginAt(text: string, offset: number): { readonly lineStart: number; readonly margin: string } {
  const lineStart = Math.max(text.lastIndexOf("\n", offset - 1), text.lastIndexOf("\r", offset - 1)) + 1;
  const margin = /^[ \t]*/.exec(text.slice(lineStart, offset))?.[0] ?? "";
  return { lineStart, margin };
}

function renderArray(items: readonly unknown[], style: Style, margin: string | undefined): string {
  const line = `[${items.map((item) => render(item, style, undefined)).join(`,${style.gap}`)}]`;
  const simple = items.every((item) => typeof item !== "object" || item === null);
  if (margin === undefined || items.length === 0 || (simple && line.length <= 80)) return line;
  return renderLines(items, "[]", style, margin, (item, inner) => render(item, style, inner));
}

function renderObject(value: Record<string, unknown>, style: Style, margin: string | undefined): string {
  const entries = Object.entries(value).filter(([, child]) => child !== undefined);
  const bad = entries.find(([key]) => forbiddenKeys.has(key));
  if (bad !== undefined) throw new OpenClawError("config.bad-value", `${bad[0]} is not a config key`);
  const pair = ([key, child]: [string, unknown], inner: string | undefined): string =>
    `${renderKey(key, style)}:${style.gap}${render(child, style, inner)}`;
  if (entries.length === 0) return "{}";
  if (margin !== undefined) return renderLines(entries, "{}", style, margin, pair);
  return `{${style.gap}${entries.map((entry) => pair(entry, undefined)).join(`,${style.gap}`)}${style.gap}}`;
}

function renderLines<Item>(
  items: readonly Item[],
  brackets: "[]" | "{}",
  style: Style,
  margin: string,
  one: (item: Item, margin: string) => string,
): string {
  const inner = margin + style.indent;
  const lines = items.map((item) => inner + one(item, inner)).join(`,${style.eol}`);
  return `${brackets[0]}${style.eol}${lines}${style.trailingComma ? "," : ""}${style.eol}${margin}${brackets[1]}`;
}

function quote(word: string, mark: Quote): string {
  const escaped = JSON.stringify(word).replaceAll("\u2028", "\\u2028").replaceAll("\u2029", "\\u2029");
  if (mark === '"') return escaped;
  return `'${escaped.slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`;
}

function containersOf(node: TextNode): TextContainer[] {
  if (node.kind === "scalar") return [];
  return [node, ...node.entries.flatMap(({ value }) => containersOf(value))];
}

function majorityQuote(chars: readonly (string | undefined)[]): Quote {
  const single = chars.filter((char) => char === "'").length;
  return single > chars.filter((char) => char === '"').length ? "'" : '"';
}

function indentOf(text: string, containers: readonly TextContainer[]): string {
  for (const node of containers) {
    const { margin } = lineMarginAt(text, node.start);
    for (const { start } of node.entries) {
      const inner = lineBlank(text, start);
      if (inner !== undefined && inner.length > margin.length && inner.startsWith(margin))
        return inner.slice(margin.length);
    }
  }
  return "  ";
}
