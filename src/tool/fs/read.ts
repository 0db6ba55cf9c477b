// The read tool: returns a window of a text file, or an image.
import { extname } from "node:path";

import { OpenClawError, ToolError } from "../../core/error.ts";
import { Type, type Static } from "../../core/schema.ts";
import { visible } from "../../core/visible.ts";
import { failed } from "../../base/rooted-error.ts";
import type { OpenFile } from "../../base/rooted-fs.ts";
import { fitImage } from "../../media/fit-image.ts";
import { sniff, type ImageType } from "../../media/sniff.ts";
import { defineTool, nonBlank, type Tool, type ToolCall, type ToolResult } from "../tool.ts";
import { intendedPaths, withPath, type Access, type FileToolDeps } from "./access.ts";
import { foldArguments } from "../fold-arguments.ts";
import { takeLines, type EndOfLine, type Lines } from "./lines.ts";

const READ_MAX_LINES = 2000;
const READ_MAX_BYTES = 50 * 1024;
const IMAGE_MAX_BYTES = 5_000_000;
const BINARY_MAX_BYTES = 64_000_000;
const COUNT_BYTES = 32_000_000;
const CHUNK_BYTES = 1 << 16;

const params = Type.Object(
  {
    path: nonBlank("File to read, absolute or relative to the workspace."),
    offset: Type.Optional(Type.Number({ description: "Line to start from, counted from 1 (default 1)." })),
    limit: Type.Optional(Type.Number({ description: `Maximum number of lines (default ${READ_MAX_LINES}).` })),
  },
  { additionalProperties: false },
);

export type ReadDetails = TextDetails | { readonly path: string; readonly bytes: number; readonly type: string };

export interface TextDetails {
  /** Absolute, links resolved. */
  readonly path: string;
  readonly lines: { readonly from: number; readonly to: number; readonly total?: number };
  /** Bytes of the file that are in the text. */
  readonly bytes: number;
  /** The file has more than the text shows. */
  readonly truncated: boolean;
  readonly nextOffset?: number;
  /** The file starts with a byte-order mark, which the text omits. */
  readonly bom: boolean;
  readonly eol: EndOfLine;
}

export function createReadTool(deps: FileToolDeps): Tool<typeof params, ReadDetails> {
  return defineTool({
    name: "read",
    summary: "Read a text file or an image",
    description: `Read a text file or an image (png, jpg, gif, webp). Returns at most ${READ_MAX_LINES} lines or ${READ_MAX_BYTES / 1024} KB per call; continue with offset.`,
    params,
    verbatim: true,
    prepare: (raw) => foldArguments(raw, { file_path: "path" }),
    intent: ({ path }, call) => ({ does: "read", paths: intendedPaths(deps, call, path) }),
    run(args, call) {
      const range = rangeOf(args);
      return withPath(deps, call, args.path, "read", (access) => readAt(access, range, call));
    },
  });
}

interface Range {
  readonly from: number;
  readonly limit: number | undefined;
}

function rangeOf({ offset = 1, limit }: Static<typeof params>): Range {
  const bad = offset < 0 || (limit !== undefined && limit < 1);
  if (bad)
    throw new ToolError("tool.bad-arguments", "read: offset and limit count lines from 1", {
      hint: "leave them out to read from the start",
    });
  return { from: Math.max(1, Math.floor(offset)), limit: limit === undefined ? undefined : Math.floor(limit) };
}

async function readAt({ root, path }: Access, range: Range, call: ToolCall): Promise<ToolResult<ReadDetails>> {
  const file = await root.open(path).catch(async (error: unknown) => {
    if (error instanceof OpenClawError && error.code === "fs.is-directory")
      throw await withEntries(error, { root, path });
    throw error;
  });
  try {
    const buffer = Buffer.allocUnsafe(CHUNK_BYTES);
    const { bytesRead } = await file.handle.read(buffer, 0, buffer.length, 0);
    const sniffed = sniff(buffer.subarray(0, bytesRead));
    if (sniffed.kind === "image") return await image(file, sniffed.mimeType, call.signal);
    if (sniffed.kind === "binary") return binary(file, sniffed.type);
    return await textWindow(file, range, chunksOf(file, buffer, bytesRead, call.signal));
  } finally {
    await file.handle.close();
  }
}

/** A folder cannot be read, but listing its entries saves a call. */
async function withEntries(
  error: OpenClawError,
  { root, path }: Pick<Access, "root" | "path">,
): Promise<OpenClawError> {
  const { entries, more } = await root.list(path, 20);
  const names = entries.map(({ name, kind }) => visible(name, 80) + (kind === "directory" ? "/" : "")).toSorted();
  const entriesText = names.length === 0 ? "it is empty" : `it contains ${names.join(", ")}${more ? ", …" : ""}`;
  return new ToolError(error.code, `${error.message}; ${entriesText}`, { hint: "name a file inside it", cause: error });
}

async function image(
  { handle, real, size }: OpenFile,
  mimeType: ImageType,
  signal: AbortSignal,
): Promise<ToolResult<ReadDetails>> {
  if (size > BINARY_MAX_BYTES) {
    throw failed(
      "fs.too-large",
      real,
      `is an image of ${size} bytes; the limit is ${BINARY_MAX_BYTES}`,
      "make a smaller copy of it and read that",
    );
  }
  const buffer = Buffer.alloc(size);
  const { bytesRead } = await handle.read(buffer, 0, size, 0);
  const bytes = buffer.subarray(0, bytesRead);
  const shown = bytesRead <= IMAGE_MAX_BYTES ? { bytes, mimeType } : await fitImage(bytes, IMAGE_MAX_BYTES, signal);
  const scaled = shown.bytes === bytes ? "" : `, scaled down to ${shown.bytes.length} bytes`;
  return {
    content: [
      { type: "text", text: `[image ${visible(real)}: ${mimeType}, ${bytesRead} bytes${scaled}]` },
      { type: "image", data: shown.bytes.toString("base64"), mimeType: shown.mimeType },
    ],
    details: { path: real, bytes: bytesRead, type: mimeType },
  };
}

function binary({ real, size }: OpenFile, type: string): ToolResult<ReadDetails> {
  const named =
    type === "unknown" ? `binary file${extname(real) === "" ? "" : ` (${visible(extname(real), 20)})`}` : type;
  if (size > BINARY_MAX_BYTES) {
    throw failed(
      "fs.too-large",
      real,
      `is not a text file (${named}) and has ${size} bytes`,
      "show a part of it with a program for this type, through exec",
    );
  }
  const words = `[${visible(real)}: ${named}, ${size} bytes; its content is not shown. Use a program for this type, through exec.]`;
  return { content: [{ type: "text", text: words }], details: { path: real, bytes: size, type: named } };
}

async function textWindow(
  file: OpenFile,
  { from, limit }: Range,
  chunks: AsyncIterable<Buffer>,
): Promise<ToolResult<TextDetails>> {
  const lines = await takeLines(chunks, {
    from,
    maxLines: Math.min(limit ?? READ_MAX_LINES, READ_MAX_LINES),
    maxBytes: READ_MAX_BYTES,
    countBytes: COUNT_BYTES,
  });
  const { to, total, more, bytes, bom, eol } = lines;
  if (to < from && from > 1) {
    throw new ToolError(
      "fs.past-end",
      `${visible(file.real)}: there is no line ${from}; the file has ${total ?? 0} lines`,
      {
        hint: `use an offset from 1 to ${Math.max(1, total ?? 1)}`,
      },
    );
  }
  return {
    content: [{ type: "text", text: withNotice(lines, from) }],
    details: {
      path: file.real,
      lines: { from: Math.min(from, to), to, ...(total === undefined ? {} : { total }) },
      bytes,
      truncated: more || lines.cut,
      ...(more ? { nextOffset: to + 1 } : {}),
      bom,
      eol,
    },
  };
}

/** The first chunk was read to detect the type. The buffer is reused for each chunk. */
async function* chunksOf(
  { handle, size }: OpenFile,
  buffer: Buffer,
  first: number,
  signal: AbortSignal,
): AsyncGenerator<Buffer> {
  for (let [at, bytesRead] = [first, first]; bytesRead > 0; at += bytesRead) {
    signal.throwIfAborted();
    yield buffer.subarray(0, bytesRead);
    // The size at opening is the limit; pseudo files report size 0 and are read to their end.
    if (at >= size && size > 0) return;
    ({ bytesRead } = await handle.read(buffer, 0, buffer.length, at));
  }
}

function withNotice({ text, to, total, more, cut }: Lines, from: number): string {
  if (to < from) return "[the file is empty]";
  const gap = text.endsWith("\n") ? "\n" : "\n\n";
  const of = total === undefined ? "" : ` of ${total}`;
  const next = more ? `; continue with offset ${to + 1}` : "";
  if (cut) return `${text}${gap}[line ${from}${of} is longer than ${READ_MAX_BYTES / 1024} KB and truncated${next}]`;
  return more ? `${text}${gap}[lines ${from} to ${to}${of}${next}]` : text;
}
