// Parses JSON5 into a tree of offsets, for edits and line numbers. Values come from json5 itself.
import JSON5 from "json5";

import { OpenClawError } from "../core/error.ts";
import type { ConfigPath, Segment } from "./path.ts";

export type TextNode = TextContainer | TextScalar;

export interface TextContainer {
  readonly kind: "object" | "array";
  /** Offset of the opening bracket; `end` is after the closing one. */
  readonly start: number;
  readonly end: number;
  readonly entries: readonly TextEntry[];
}

export interface TextScalar {
  readonly kind: "scalar";
  readonly start: number;
  readonly end: number;
}

export interface TextEntry {
  readonly key: Segment;
  /** Where the key begins, in arrays the value. */
  readonly start: number;
  readonly value: TextNode;
  /** Offset of the comma after the entry. */
  readonly comma: number | undefined;
}

/** Deeper than any real config, and far from a stack overflow in every recursion. */
export const maxDepth = 100;

/** Where a text is not JSON5: the `details` of `config.syntax`. */
export interface SyntaxDetails extends Place {
  readonly offset: number;
  /** The entry being read. */
  readonly path: ConfigPath;
}

/** Undefined for a text without a value. Throws `config.syntax` with `SyntaxDetails`. */
export function parseText(text: string): TextNode | undefined {
  const reader = createReader(text);
  reader.skip();
  if (reader.ended()) return undefined;
  const root = reader.value(0);
  reader.skip();
  if (!reader.ended()) throw reader.fail("unexpected text after the value");
  return root;
}

/** The node at a path; for duplicate keys the last one, as in json5. */
export function nodeAt(root: TextNode | undefined, path: ConfigPath): TextNode | undefined {
  return path.reduce<TextNode | undefined>((node, segment) => entryOf(node, segment)?.value, root);
}

export function entryOf(node: TextNode | undefined, segment: Segment): TextEntry | undefined {
  if (node === undefined || node.kind === "scalar") return undefined;
  if (node.kind === "array") return typeof segment === "number" ? node.entries[segment] : undefined;
  return node.entries.findLast((entry) => entry.key === segment);
}

export interface Place {
  readonly line: number;
  readonly column: number;
}

/** Where the entry at a path begins; for a missing entry its nearest parent. `exact` tells which. */
export function placeOf(text: string, root: TextNode | undefined, path: ConfigPath): Place & { exact: boolean } {
  let node = root;
  let start = root?.start ?? 0;
  for (const segment of path) {
    const entry = entryOf(node, segment);
    if (entry === undefined) return { ...lineAndColumn(text, start), exact: false };
    start = entry.start;
    node = entry.value;
  }
  return { ...lineAndColumn(text, start), exact: true };
}

/** The path of the innermost entry that contains an offset. */
export function pathAt(root: TextNode | undefined, offset: number): Segment[] {
  if (root === undefined || root.kind === "scalar") return [];
  const entry = root.entries.find(({ start, value }) => start <= offset && offset < value.end);
  return entry === undefined ? [] : [entry.key, ...pathAt(entry.value, offset)];
}

/** Both count from 1; a column counts UTF-16 units, as editors do. */
export function lineAndColumn(text: string, offset: number): Place {
  const before = text.slice(0, offset);
  const lines = before.split(/\r\n|[\n\r\u2028\u2029]/u);
  return { line: lines.length, column: (lines.at(-1)?.length ?? 0) + 1 };
}

/** A range of text and its replacement. */
export interface Part {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** All comments of a JSON5 text, in order. */
export function commentsIn(text: string): Part[] {
  const found = text.matchAll(/"(?:[^"\\]|\\[^])*"|'(?:[^'\\]|\\[^])*'|(\/\/[^\n\r\u2028\u2029]*|\/\*[^]*?\*\/)/gu);
  return [...found].flatMap(({ index, 1: comment }) =>
    comment === undefined ? [] : [{ start: index, end: index + comment.length, text: comment }],
  );
}

/** Replaces parts of a text. The parts must not overlap. */
export function splice(text: string, parts: readonly Part[]): string {
  let at = 0;
  let result = "";
  for (const part of parts.toSorted((a, b) => a.start - b.start)) {
    result += text.slice(at, part.start) + part.text;
    at = part.end;
  }
  return result + text.slice(at);
}

/** The value of a node. */
export function valueOf(text: string, node: TextNode): unknown {
  return JSON5.parse(text.slice(node.start, node.end));
}

const blanks = /(?:\s+|\/\/[^\n\r\u2028\u2029]*|\/\*[^]*?\*\/)*/uy;
const identifier =
  /(?:[$_\p{L}\p{Nl}]|\\u[0-9a-fA-F]{4})(?:[$_\p{L}\p{Nl}\p{Mn}\p{Mc}\p{Nd}\p{Pc}\u200c\u200d]|\\u[0-9a-fA-F]{4})*/uy;
const literal =
  /(?:true|false|null|[+-]?(?:Infinity|NaN|0[xX][0-9a-fA-F]+|(?:(?:0|[1-9]\d*)(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?))(?![\w$.])/uy;

interface Reader {
  skip(): void;
  ended(): boolean;
  value(depth: number): TextNode;
  fail(why: string): OpenClawError;
}

function createReader(text: string): Reader {
  let at = 0;
  const trail: Segment[] = [];

  const take = (pattern: RegExp): string | undefined => {
    pattern.lastIndex = at;
    const found = pattern.exec(text)?.[0];
    at += found?.length ?? 0;
    return found;
  };
  const skip = (): void => void take(blanks);
  const fail = (why: string): OpenClawError => {
    const { line, column } = lineAndColumn(text, at);
    const details: SyntaxDetails = { offset: at, line, column, path: [...trail] };
    return new OpenClawError("config.syntax", `${why} at ${line}:${column}`, { details });
  };

  /** Without a regular expression: a long or unterminated string must cost no more than its length. */
  const quoted = (): string | undefined => {
    const quote = text[at];
    if (quote !== '"' && quote !== "'") return undefined;
    for (let end = at + 1; end < text.length; end += 1) {
      const char = text[end];
      if (char === "\\") end += text[end + 1] === "\r" && text[end + 2] === "\n" ? 2 : 1;
      else if (char === "\n" || char === "\r") break;
      else if (char === quote) {
        const word = text.slice(at, end + 1);
        at = end + 1;
        return word;
      }
    }
    throw fail("a string is not terminated");
  };

  const unquote = (word: string): string => {
    try {
      return String(JSON5.parse(word));
    } catch (error) {
      if (error instanceof SyntaxError) throw fail("the key before this is not valid");
      throw error;
    }
  };

  const key = (): string => {
    const word = quoted();
    if (word !== undefined) return unquote(word);
    const name = take(identifier);
    if (name === undefined) throw fail("a key is missing");
    return name.replaceAll(/\\u([0-9a-fA-F]{4})/gu, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  };

  const colon = (): void => {
    skip();
    if (text[at] !== ":") throw fail("a colon is missing");
    at += 1;
    skip();
  };

  const comma = (): number | undefined => {
    skip();
    if (text[at] !== ",") return undefined;
    at += 1;
    return at - 1;
  };

  const container = (kind: "object" | "array", close: string, depth: number): TextContainer => {
    if (depth >= maxDepth) throw fail(`nested deeper than ${maxDepth} levels`);
    const start = at;
    at += 1;
    const entries: TextEntry[] = [];
    for (;;) {
      skip();
      if (text[at] === close) break;
      const last = entries.at(-1);
      if (last !== undefined && last.comma === undefined) throw fail("a comma is missing");
      const entryStart = at;
      const name = kind === "object" ? key() : entries.length;
      trail.push(name);
      if (kind === "object") colon();
      const node = value(depth + 1);
      trail.pop();
      entries.push({ key: name, start: entryStart, value: node, comma: comma() });
    }
    at += 1;
    return { kind, start, end: at, entries };
  };

  const value = (depth: number): TextNode => {
    if (text[at] === "{") return container("object", "}", depth);
    if (text[at] === "[") return container("array", "]", depth);
    const start = at;
    if (quoted() === undefined && take(literal) === undefined) throw fail("a value is missing");
    return { kind: "scalar", start, end: at };
  };

  return { skip, ended: () => at >= text.length, value, fail };
}
