// The head of a Markdown file between two lines of dashes: a small part of YAML, read strictly. What is not understood is an error.
import { OpenClawError } from "../core/error.ts";
import { flowEnds, readFlow, readScalar } from "./front-matter-flow.ts";

export interface FrontMatter {
  /** Plain data; keys are own properties. */
  readonly fields: Readonly<Record<string, unknown>>;
  readonly body: string;
}

const MAX_HEAD_CHARS = 65_536;
const MAX_DEPTH = 20;

/** Throws `front-matter.bad` with the line. A file without such a head has no fields. */
export function parseFrontMatter(text: string): FrontMatter {
  const lines = text.replace(/^\uFEFF/, "").split(/\r\n|\n|\r/);
  if (lines[0]?.trimEnd() !== "---") return { fields: {}, body: text };
  const end = lines.findIndex((line, index) => index > 0 && /^(?:---|\.\.\.)\s*$/.test(line));
  if (end < 0) throw bad(1, "the head is not closed by a line of ---");
  const head = lines.slice(1, end);
  if (head.join("\n").length > MAX_HEAD_CHARS) throw bad(1, `the head is longer than ${MAX_HEAD_CHARS} characters`);
  const cursor: Cursor = { lines: head, at: 0 };
  const value = readBlock(cursor, 0, 0);
  if (cursor.at < head.length) throw bad(cursor.at + 2, "this line does not belong to what stands above it");
  if (value !== null && !isFields(value)) throw bad(2, "the head must be keys and values");
  return { fields: value ?? {}, body: lines.slice(end + 1).join("\n") };
}

interface Cursor {
  readonly lines: string[];
  /** The next line to read. */
  at: number;
}

interface Line {
  readonly indent: number;
  readonly text: string;
}

const isFields = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** The next line with something on it, not yet taken. */
function peek(cursor: Cursor): Line | undefined {
  for (; cursor.at < cursor.lines.length; cursor.at++) {
    const line = cursor.lines[cursor.at] ?? "";
    if (/^\s*(?:#.*)?$/.test(line)) continue;
    const indent = /^ */.exec(line)?.[0].length ?? 0;
    if (line[indent] === "\t") throw bad(cursor.at + 2, "indent with blanks, not tabs");
    return { indent, text: line.slice(indent) };
  }
  return undefined;
}

/** Keys, a list or one value, all of it at least `least` deep. Null when there is nothing. */
function readBlock(cursor: Cursor, least: number, depth: number): unknown {
  const first = peek(cursor);
  if (first === undefined || first.indent < least) return null;
  if (depth > MAX_DEPTH) throw bad(cursor.at + 2, "nested too deep");
  if (isItem(first.text)) return readList(cursor, first.indent, depth);
  if (keyOf(first.text) !== undefined) return readMap(cursor, first.indent, depth);
  return readValue(cursor, first.text, first.indent, depth);
}

const isItem = (text: string): boolean => text === "-" || text.startsWith("- ");

function readMap(cursor: Cursor, indent: number, depth: number): Record<string, unknown> {
  const fields = new Map<string, unknown>();
  for (let line = peek(cursor); line !== undefined && line.indent === indent; line = peek(cursor)) {
    const found = keyOf(line.text);
    const place = cursor.at + 2;
    if (found === undefined) throw bad(place, "expected a key with a colon");
    if (fields.has(found.key)) throw bad(place, `the key ${found.key} stands here twice`);
    if (found.key === "__proto__") throw bad(place, "no key may be called __proto__");
    fields.set(found.key, readAfterKey(cursor, found.rest, indent, depth));
  }
  return Object.fromEntries(fields);
}

function readAfterKey(cursor: Cursor, rest: string, indent: number, depth: number): unknown {
  if (rest !== "") return readValue(cursor, rest, indent, depth);
  cursor.at += 1;
  const next = peek(cursor);
  // A list may stand as deep as its key.
  const least = next !== undefined && next.indent === indent && isItem(next.text) ? indent : indent + 1;
  return readBlock(cursor, least, depth + 1);
}

function readList(cursor: Cursor, indent: number, depth: number): unknown[] {
  const items: unknown[] = [];
  for (let line = peek(cursor); line !== undefined && line.indent === indent && isItem(line.text); line = peek(cursor))
    items.push(readItem(cursor, line, depth));
  return items;
}

function readItem(cursor: Cursor, { indent, text }: Line, depth: number): unknown {
  const rest = text.slice(1).trimStart();
  if (rest === "" || rest.startsWith("#")) {
    cursor.at += 1;
    return readBlock(cursor, indent + 1, depth + 1);
  }
  if (isItem(rest)) throw bad(cursor.at + 2, "write a list in a list with brackets");
  if (keyOf(rest) === undefined) return readValue(cursor, rest, indent, depth);
  // `- key: value` begins a map whose other keys stand below the first.
  const inner = indent + text.length - rest.length;
  cursor.lines[cursor.at] = `${" ".repeat(inner)}${rest}`;
  return readMap(cursor, inner, depth + 1);
}

/** A value that begins on this line: text of several lines, brackets, or a plain word. */
function readValue(cursor: Cursor, text: string, indent: number, depth: number): unknown {
  const style = /^([|>])([+-]?)\s*(?:#.*)?$/.exec(text);
  if (style !== null) return readText(cursor, indent, style[1] === "|", style[2] ?? "");
  const place = cursor.at + 2;
  const opens = text.startsWith("{") || text.startsWith("[");
  let whole = text;
  cursor.at += 1;
  for (; opens && !flowEnds(whole) && cursor.at < cursor.lines.length; cursor.at++)
    whole += `\n${cursor.lines[cursor.at] ?? ""}`;
  try {
    return opens ? readFlow(whole, MAX_DEPTH - depth) : readScalar(whole);
  } catch (error) {
    throw error instanceof SyntaxError ? bad(place, error.message) : error;
  }
}

/** `|` keeps lines, `>` joins them; both end with what is not deeper than the key. */
function readText(cursor: Cursor, indent: number, keepsLines: boolean, end: string): string {
  cursor.at += 1;
  const taken: string[] = [];
  for (; cursor.at < cursor.lines.length; cursor.at++) {
    const line = cursor.lines[cursor.at] ?? "";
    if (line.trim() !== "" && (/^ */.exec(line)?.[0].length ?? 0) <= indent) break;
    taken.push(line);
  }
  const depth = Math.min(
    ...taken.filter((line) => line.trim() !== "").map((line) => /^ */.exec(line)?.[0].length ?? 0),
  );
  const text = taken
    .map((line) => line.slice(Number.isFinite(depth) ? depth : 0))
    .join("\n")
    .trimEnd();
  const shown = keepsLines ? text : text.replaceAll(/(?<!\n)\n(?!\n)/g, " ").replaceAll(/\n\n/g, "\n");
  return end === "-" || shown === "" ? shown : `${shown}\n`;
}

/** `key: rest`, the key plain or in quotes; undefined when the line is no such thing. */
function keyOf(text: string): { readonly key: string; readonly rest: string } | undefined {
  const found = /^(?:"((?:[^"\\]|\\.)*)"|'((?:[^']|'')*)'|([A-Za-z0-9_][\w.-]*))\s*:(?=\s|$)\s*/.exec(text);
  if (found === null) return undefined;
  const key = found[1] ?? found[2]?.replaceAll("''", "'") ?? found[3] ?? "";
  const rest = text.slice(found[0].length);
  return { key, rest: rest.startsWith("#") ? "" : rest };
}

function bad(line: number, why: string): OpenClawError {
  return new OpenClawError("front-matter.bad", `line ${line}: ${why}`, {
    hint: "keys and values as in YAML, without anchors, tags and the like",
  });
}
