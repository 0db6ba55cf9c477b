// Edits a JSON5 text with minimal changes: comments, order, quotes, indentation and unknown keys stay.
import { isDeepStrictEqual } from "node:util";

import { OpenClawError } from "../core/error.ts";
import { isRecord } from "../core/record.ts";
import { isMultiline, lineBlank, lineMarginAt, render, renderKey, styleOf, type Style } from "./json5-style.ts";
import {
  entryOf,
  nodeAt,
  parseText,
  valueOf,
  splice,
  type Part,
  type TextContainer,
  type TextEntry,
  type TextNode,
} from "./json5-text.ts";
import { checkStep, parsePath, type ConfigPath, type Segment } from "./path.ts";

export type Edit =
  | { readonly path: string | ConfigPath; readonly value: unknown; readonly remove?: never }
  | { readonly path: string | ConfigPath; readonly remove: true };

/**
 * Applies the edits in order. Other text stays byte for byte. Setting an object or array over another changes only the
 * entries that differ. Throws `config.syntax` for a broken text, `config.bad-path` for an impossible path.
 */
export function editText(text: string, edits: readonly Edit[]): string {
  return edits.reduce((current, edit) => {
    const path = typeof edit.path === "string" ? parsePath(edit.path) : edit.path;
    return edit.remove === true ? removeAt(current, path) : setAt(current, path, edit.value);
  }, text);
}

function setAt(text: string, path: ConfigPath, value: unknown): string {
  const root = parseText(text);
  if (root === undefined) return beginText(text, path, value);
  let node: TextNode = root;
  for (const [depth, segment] of path.entries()) {
    checkStep(standIn(text, node), path, depth);
    const entry = entryOf(node, segment);
    if (entry === undefined) {
      const wrapped = wrap(path, depth + 1, value);
      return insert(text, root, node as TextContainer, segment, wrapped);
    }
    node = entry.value;
  }
  return replace(text, root, path, node, value);
}

/** The part of a node's value that `checkStep` needs. */
function standIn(text: string, node: TextNode): unknown {
  if (node.kind === "object") return {};
  return node.kind === "array" ? Array.from(node.entries, () => null) : valueOf(text, node);
}

/** The value wrapped in the parents that are missing from `depth` on. */
function wrap(path: ConfigPath, depth: number, value: unknown): unknown {
  return path.slice(depth).reduceRight<unknown>((inner, segment, index) => {
    checkStep(undefined, path, depth + index);
    return typeof segment === "number" ? [inner] : { [segment]: inner };
  }, value);
}

function beginText(text: string, path: ConfigPath, value: unknown): string {
  const style = styleOf(text, undefined);
  const head = text === "" || /[\n\r]$/.test(text) ? text : text + style.eol;
  return `${head}${render(wrap(path, 0, value), style, "")}${style.eol}`;
}

function replace(text: string, root: TextNode, path: ConfigPath, node: TextNode, value: unknown): string {
  const before = valueOf(text, node);
  if (isDeepStrictEqual(before, value)) return text;
  if (isRecord(before) && isRecord(value)) return editText(text, entryEdits(path, before, value));
  if (Array.isArray(before) && Array.isArray(value) && before.length > 0 && value.length > 0) {
    return replaceItems(text, path, before, value);
  }
  const margin = isInline(text, root, node) ? undefined : lineMarginAt(text, node.start).margin;
  return splice(text, [{ start: node.start, end: node.end, text: render(value, styleOf(text, root), margin) }]);
}

function entryEdits(path: ConfigPath, before: Record<string, unknown>, after: Record<string, unknown>): Edit[] {
  const gone = Object.keys(before).filter((key) => after[key] === undefined);
  const kept = Object.entries(after).filter(([, value]) => value !== undefined);
  return [
    ...kept.map(([key, value]): Edit => ({ path: [...path, key], value })),
    ...gone.map((key): Edit => ({ path: [...path, key], remove: true })),
  ];
}

/** Keeps the items that both ends share, overwrites pairs in the middle, then removes or adds the rest. */
function replaceItems(text: string, path: ConfigPath, before: readonly unknown[], after: readonly unknown[]): string {
  const shorter = Math.min(before.length, after.length);
  let head = 0;
  while (head < shorter && isDeepStrictEqual(before[head], after[head])) head += 1;
  let tail = 0;
  while (tail < shorter - head && isDeepStrictEqual(before.at(-1 - tail), after.at(-1 - tail))) tail += 1;
  let current = text;
  for (let index = head; index < shorter - tail; index += 1) current = setAt(current, [...path, index], after[index]);
  for (let index = before.length - tail - 1; index >= after.length - tail && index >= head; index -= 1) {
    current = removeAt(current, [...path, index]);
  }
  for (let index = shorter - tail; index < after.length - tail; index += 1) {
    const root = parseText(current) as TextNode;
    current = insert(current, root, nodeAt(root, path) as TextContainer, index, after[index]);
  }
  return current;
}

/** Inserts a new entry after the previous one: the last one in objects, the one at `index - 1` in arrays. */
function insert(text: string, root: TextNode, node: TextContainer, key: Segment, value: unknown): string {
  const style = styleNear(text, root, node);
  const before = typeof key === "number" ? node.entries[key - 1] : node.entries.at(-1);
  const isLast = before === undefined ? node.entries.length === 0 : before === node.entries.at(-1);
  const write = (margin: string | undefined): string =>
    (typeof key === "number" ? "" : `${renderKey(key, style)}:${style.gap}`) + render(value, style, margin);
  if (node.entries.length === 0) return insertFirst(text, root, node, style, write);
  if (!isMultiline(text, node)) return insertInline(text, node, before, style, write(undefined));
  const margin = entryMargin(text, node, style);
  const needsComma = before !== undefined && before.comma === undefined;
  const anchor = before === undefined ? node.start + 1 : (before.comma ?? before.value.end - 1) + 1;
  const point = endOfLineFrom(text, anchor);
  const added = style.eol + margin + write(margin) + (isLast && needsComma ? "" : ",");
  const comma = needsComma ? [{ start: anchor, end: anchor, text: "," }] : [];
  return splice(text, [...comma, { start: point, end: point, text: added }]);
}

/** Inserts into an empty container: on separate lines, unless everything around it is on one line. */
function insertFirst(
  text: string,
  root: TextNode,
  node: TextContainer,
  style: Style,
  write: (margin: string | undefined) => string,
): string {
  const close = node.end - 1;
  const inside = text.slice(node.start + 1, close);
  const { margin } = lineMarginAt(text, node.start);
  const inner = margin + style.indent;
  const entry = (): string => inner + write(inner) + (style.trailingComma ? "," : "");
  if (/[\n\r]/.test(inside)) {
    const blank = lineBlank(text, close);
    const point = blank === undefined ? close : lineMarginAt(text, close).lineStart;
    const lead = blank === undefined ? style.eol : "";
    return splice(text, [{ start: point, end: point, text: lead + entry() + style.eol }]);
  }
  if (inside.trim() !== "" || isInline(text, root, node)) {
    const pad = node.kind === "object" ? style.gap : "";
    const start = node.start + 1 + inside.trimEnd().length;
    return splice(text, [{ start, end: close, text: (inside.trim() === "" ? pad : " ") + write(undefined) + pad }]);
  }
  return splice(text, [{ start: node.start + 1, end: close, text: style.eol + entry() + style.eol + margin }]);
}

function insertInline(
  text: string,
  node: TextContainer,
  before: TextEntry | undefined,
  style: Style,
  written: string,
): string {
  if (before === undefined) {
    const start = node.entries[0]?.start ?? node.start + 1;
    return splice(text, [{ start, end: start, text: `${written},${style.gap}` }]);
  }
  const start = before.comma === undefined ? before.value.end : before.comma + 1;
  const added = before.comma === undefined ? `,${style.gap}${written}` : `${style.gap}${written},`;
  return splice(text, [{ start, end: start, text: added }]);
}

function removeAt(text: string, path: ConfigPath): string {
  const last = path.at(-1);
  if (last === undefined) throw new OpenClawError("config.bad-path", "the whole config cannot be removed");
  const node = nodeAt(parseText(text), path.slice(0, -1));
  const entry = entryOf(node, last);
  if (node === undefined || node.kind === "scalar" || entry === undefined) return text;
  const without = splice(text, removal(text, node, entry));
  // A duplicate key would reappear with its older value.
  return node.kind === "object" ? removeAt(without, path) : without;
}

function removal(text: string, node: TextContainer, entry: TextEntry): Part[] {
  const index = node.entries.indexOf(entry);
  const commaBefore = entry.comma === undefined ? node.entries[index - 1]?.comma : undefined;
  const cut = commaBefore === undefined ? [] : [drop(commaBefore, commaBefore + 1)];
  const hasComment = entry.comma !== undefined && text.slice(entry.value.end, entry.comma).trim() !== "";
  if (hasComment) return [drop(entry.start, entry.value.end), drop(entry.comma, entry.comma + 1)];
  const end = entry.comma === undefined ? entry.value.end : entry.comma + 1;
  const { lineStart, margin } = lineMarginAt(text, entry.start);
  const startsLine = lineStart > node.start && lineStart + margin.length === entry.start;
  const lineEnd = /^[ \t]*(\r\n|\n|\r)/.exec(text.slice(end));
  if (startsLine && lineEnd !== null) return [...cut, drop(lineStart, end + lineEnd[0].length)];
  const isLast = index === node.entries.length - 1;
  const blankAfter = /^[ \t]*/.exec(text.slice(end))?.[0].length ?? 0;
  const blankBefore = /[ \t]*$/.exec(text.slice(node.start + 1, entry.start))?.[0].length ?? 0;
  const cutBefore = isLast && !startsLine ? blankBefore : 0;
  const cutAfter = !isLast || node.entries.length === 1 ? blankAfter : 0;
  return [...cut, drop(entry.start - cutBefore, end + cutAfter)];
}

const drop = (start: number, end: number): Part => ({ start, end, text: "" });

/** The document's style, with the trailing comma of the container itself. */
function styleNear(text: string, root: TextNode, node: TextContainer): Style {
  const style = styleOf(text, root);
  const first = node.kind === "object" ? node.entries[0] : undefined;
  if (first === undefined) return style;
  const mark = text[first.start];
  return { ...style, keyQuote: mark === '"' || mark === "'" ? mark : undefined };
}

function entryMargin(text: string, node: TextContainer, style: Style): string {
  for (const { start } of node.entries) {
    const margin = lineBlank(text, start);
    if (margin !== undefined) return margin;
  }
  return lineMarginAt(text, node.start).margin + style.indent;
}

/** After a comment at the end of the line, so that it stays with its entry; the offset itself when more follows. */
function endOfLineFrom(text: string, offset: number): number {
  const rest =
    /^(?:[ \t]*\/\*(?:(?!\*\/)[^\n\r])*\*\/)*[ \t]*(?:\/\/[^\n\r\u2028\u2029]*)?/u.exec(text.slice(offset))?.[0] ?? "";
  const end = offset + rest.length;
  return /[\n\r]/.test(text[end] ?? "") ? offset + rest.trimEnd().length : offset;
}

/** Whether the container of a node is written on one line. */
function isInline(text: string, root: TextNode, node: TextNode): boolean {
  const parent = parentOf(root, node);
  return parent !== undefined && !isMultiline(text, parent);
}

function parentOf(root: TextNode, node: TextNode): TextContainer | undefined {
  if (root.kind === "scalar") return undefined;
  for (const { value } of root.entries) {
    if (value === node) return root;
    if (value.start <= node.start && node.end <= value.end) return parentOf(value, node);
  }
  return undefined;
}
