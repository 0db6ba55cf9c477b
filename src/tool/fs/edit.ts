// The edit tool: replaces one passage and keeps line ends, byte-order mark and permissions.
import { Type } from "../../core/schema.ts";
import { visible } from "../../core/visible.ts";
import { unifiedDiff } from "../../base/line-diff.ts";
import { defineTool, nonBlank, type Tool, type ToolCall, type ToolResult } from "../tool.ts";
import { intendedPaths, withPath, type Access, type FileToolDeps } from "./access.ts";
import { foldArguments } from "../fold-arguments.ts";
import { whenWritable } from "./availability.ts";
import { lineAt, replaceOnce, type Replaced } from "./replace.ts";
import { toBytes, WRITE_MAX_BYTES } from "./write.ts";

const params = Type.Object(
  {
    path: nonBlank("File to change, absolute or relative to the workspace."),
    oldText: Type.String({ description: "Exact text to replace." }),
    newText: Type.String({ description: "Replacement text; empty to delete oldText." }),
  },
  { additionalProperties: false },
);

const aliases = { file_path: "path", old_string: "oldText", new_string: "newText" };

export interface EditDetails {
  /** Absolute, links resolved. */
  readonly path: string;
  /** Unified, bounded. */
  readonly diff: string;
  readonly firstChangedLine: number;
}

export function createEditTool(deps: FileToolDeps): Tool<typeof params, EditDetails> {
  return defineTool({
    name: "edit",
    summary: "Replace a passage of a file",
    description:
      "Replace one passage of a file. oldText must match exactly, including whitespace, and occur only once; add neighboring lines to make it unique.",
    params,
    available: whenWritable,
    prepare: (raw) => foldArguments(raw, aliases),
    intent: ({ path }, call) => ({ does: "write", paths: intendedPaths(deps, call, path) }),
    run({ path, oldText, newText }, call) {
      toBytes(path, newText);
      return withPath(deps, call, path, "write", async (access) => {
        const lane = await access.claim();
        return deps.lanes.run(lane, () => editAt(access, oldText, newText, call), call.signal);
      });
    },
  });
}

async function editAt(
  { root, path, remarks }: Access,
  oldText: string,
  newText: string,
  { signal }: ToolCall,
): Promise<ToolResult<EditDetails>> {
  const { bytes: before, version } = await root.read(path, { maxBytes: WRITE_MAX_BYTES, signal });
  const replaced = replaceOnce(before, oldText, newText);
  const { real } = await root.write(path, replaced.bytes, { signal, version });
  const { firstChangedLine } = replaced;
  return {
    content: [{ type: "text", text: `Edited ${visible(real)} from line ${firstChangedLine}` }, ...remarks()],
    details: { path: real, diff: diffOf(before, replaced, real.slice(root.real.length)), firstChangedLine },
  };
}

const DIFF_MAX_BYTES = 200_000;
const CONTEXT_LINES = 3;

/** Compares only the lines around the change, so that a large file costs no more than a small one. */
function diffOf(before: Buffer, { bytes, start, oldEnd, newEnd }: Replaced, path: string): string {
  const name = visible(path.replace(/^\/+/, ""));
  if (oldEnd - start > DIFF_MAX_BYTES || newEnd - start > DIFF_MAX_BYTES) {
    return `--- a/${name}\n+++ b/${name}\n… (${oldEnd - start} bytes became ${newEnd - start}, too many to show)`;
  }
  const from = linesBack(before, start);
  const tail = linesOn(before, oldEnd) - oldEnd;
  return unifiedDiff(before.toString("utf8", from, oldEnd + tail), bytes.toString("utf8", from, newEnd + tail), {
    name,
    context: CONTEXT_LINES,
    firstLine: lineAt(before, from),
  });
}

function linesBack(bytes: Buffer, at: number): number {
  let from = at;
  for (let count = 0; count <= CONTEXT_LINES && from > 0; count += 1) from = bytes.lastIndexOf("\n", from - 1);
  return from <= 0 ? 0 : from + 1;
}

function linesOn(bytes: Buffer, at: number): number {
  let to = at;
  for (let count = 0; count <= CONTEXT_LINES && to < bytes.length; count += 1) {
    const newline = bytes.indexOf("\n", to);
    to = newline === -1 ? bytes.length : newline + 1;
  }
  return to;
}
