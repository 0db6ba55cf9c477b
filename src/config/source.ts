// One file of the config: its text, its tree of offsets, its value, and its includes.
import { closeSync, constants, fstatSync, openSync, readFileSync } from "node:fs";

import JSON5 from "json5";

import { errnoOf, OpenClawError } from "../core/error.ts";
import type { ConfigIssue } from "./issue.ts";
import { rootPath } from "./issue.ts";
import { lineAndColumn, parseText, pathAt, placeOf, type SyntaxDetails, type TextNode } from "./json5-text.ts";
import { formatPath, type ConfigPath } from "./path.ts";

export interface Source {
  readonly file: string;
  readonly text: string;
  readonly tree: TextNode | undefined;
  readonly value: unknown;
  /** Filled while includes are resolved. */
  readonly mounts: Mount[];
}

/** Files included at a path of another file. */
export interface Mount {
  readonly at: ConfigPath;
  readonly parts: readonly MountedPart[];
}

export interface MountedPart {
  readonly source: Source;
  /** Index of its first item in a joined list. */
  readonly offset: number;
}

export interface FilePlace {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

const maxBytes = 4 * 1024 * 1024;

/**
 * The bytes of a regular file, through one handle. Throws OpenClawError `config.unreadable`, ENOENT as
 * `config.missing`.
 */
export function readBytes(file: string, options: { readonly follow: boolean; readonly single: boolean }): Buffer {
  const fd = openFor(file, options.follow);
  try {
    const { size, nlink } = fstatRegular(fd, file);
    if (size > maxBytes) throw unreadable(`${file} is larger than ${maxBytes} bytes`);
    if (options.single && nlink > 1) {
      throw unreadable(`${file} has ${nlink} hard links; an included file must have exactly one`);
    }
    return readFileSync(fd);
  } finally {
    closeSync(fd);
  }
}

/** Parses a text; on failure the issue has the location. */
export function parseSource(file: string, bytes: Uint8Array): Source | ConfigIssue {
  const text = decode(bytes);
  if (text === undefined) return { path: rootPath, file, message: "is not UTF-8 text", hint: "save it as UTF-8" };
  let tree: TextNode | undefined;
  try {
    tree = parseText(text);
    if (tree === undefined) {
      const hint = "write {} for the defaults, or restore a version from the .bak files beside it";
      return { path: rootPath, file, line: 1, column: 1, message: "has no value", hint };
    }
    return { file, text, tree, value: JSON5.parse(text), mounts: [] };
  } catch (error) {
    return syntaxIssue(file, text, tree, error);
  }
}

/** Where the entry at a path begins, in its own file; otherwise its nearest parent. */
export function placeInSource(source: Source, path: ConfigPath): FilePlace & { readonly exact: boolean } {
  const own = { file: source.file, ...placeOf(source.text, source.tree, path) };
  if (own.exact) return own;
  const mounts = source.mounts.filter(({ at }) => at.every((segment, index) => segment === path[index]));
  for (const { at, parts } of mounts.toSorted((a, b) => b.at.length - a.at.length)) {
    for (const part of parts.toReversed()) {
      const place = placeInSource(part.source, shift(path.slice(at.length), part.offset));
      if (place.exact) return place;
    }
  }
  return own;
}

function shift([first, ...rest]: ConfigPath, offset: number): ConfigPath {
  if (first === undefined) return [];
  return [typeof first === "number" ? first - offset : first, ...rest];
}

function openFor(file: string, follow: boolean): number {
  try {
    // Non-blocking, so that a named pipe in place of the file cannot block the gateway.
    return openSync(file, constants.O_RDONLY | constants.O_NONBLOCK | (follow ? 0 : constants.O_NOFOLLOW));
  } catch (cause) {
    if (errnoOf(cause) === "ENOENT" || errnoOf(cause) === "ENOTDIR") {
      throw new OpenClawError("config.missing", `${file} does not exist`, { cause });
    }
    throw unreadable(`${file} cannot be read (${errnoOf(cause) ?? "unknown error"})`, cause);
  }
}

function fstatRegular(fd: number, file: string): { readonly size: number; readonly nlink: number } {
  const stat = fstatSync(fd);
  if (!stat.isFile()) throw unreadable(`${file} is not a file`);
  return stat;
}

function unreadable(message: string, cause?: unknown): OpenClawError {
  return new OpenClawError("config.unreadable", message, { cause });
}

function decode(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (error) {
    if (error instanceof TypeError) return undefined;
    throw error;
  }
}

function syntaxIssue(file: string, text: string, tree: TextNode | undefined, error: unknown): ConfigIssue {
  if (error instanceof OpenClawError && error.code === "config.syntax") {
    const { line, column, path } = error.details as SyntaxDetails;
    return { path: formatPath(path) || rootPath, file, line, column, message: `not JSON5: ${error.message}` };
  }
  // json5 rejects a few escapes inside strings that the tree accepts.
  const { lineNumber, columnNumber } = error as { lineNumber?: number; columnNumber?: number };
  const message = `not JSON5: ${error instanceof Error ? error.message.replace(/^JSON5: /, "") : String(error)}`;
  if (lineNumber === undefined || columnNumber === undefined) return { path: rootPath, file, message };
  const path = formatPath(pathAt(tree, offsetOf(text, lineNumber, columnNumber))) || rootPath;
  return { path, file, line: lineNumber, column: columnNumber, message };
}

function offsetOf(text: string, line: number, column: number): number {
  let offset = 0;
  while (lineAndColumn(text, offset).line < line && offset < text.length) {
    const next = text.slice(offset).search(/[\n\r\u2028\u2029]/u);
    if (next < 0) break;
    offset += next + 1;
  }
  return offset + column - 1;
}
