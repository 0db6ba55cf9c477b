// The apply_patch tool: changes several files with one patch, completely or not at all.
import { Type } from "../../core/schema.ts";
import { visible } from "../../core/visible.ts";
import { defineTool, nonBlank, type Tool, type ToolCall, type ToolResult } from "../tool.ts";
import { inLanes, intendedPaths, laneOf, withWorkspace, type FileToolDeps, type WorkspaceAccess } from "./access.ts";
import { foldArguments } from "../fold-arguments.ts";
import { whenPatchable } from "./availability.ts";
import { parsePatch, type PatchOp } from "./patch/parse.ts";
import { atLine, planPatch, type LocatedOp, type PatchSummary } from "./patch/plan.ts";

const params = Type.Object(
  { input: nonBlank("Complete patch, from *** Begin Patch to *** End Patch.") },
  { additionalProperties: false },
);

export interface PatchDetails {
  /** Relative to the workspace; a moved file counts as modified under its new name. */
  readonly summary: PatchSummary;
}

const description = `Change several files with one patch, which is applied completely or not at all. Paths are relative to the workspace.

*** Begin Patch
*** Add File: notes/new.md
+each line of the new file
*** Update File: src/app.ts
*** Move to: src/main.ts
@@ function start() {
 an unchanged line
-a line to remove
+a line to add
*** Delete File: old.txt
*** End Patch

Move to is optional and renames the file. The text after @@ is a line above the change, such as a function or class header; use several @@ lines to narrow it down. Include about three unchanged lines around each change and list the changes of a file from top to bottom. End a change with *** End of File if it must match the end of the file.`;

export function createApplyPatchTool(deps: FileToolDeps): Tool<typeof params, PatchDetails> {
  return defineTool({
    name: "apply_patch",
    summary: "Change several files with one patch",
    description,
    params,
    available: whenPatchable,
    prepare: (raw) => foldArguments(raw, {}),
    intent: ({ input }, call) => ({
      does: "write",
      paths: namedPaths(input).flatMap((path) => intendedPaths(deps, call, path)),
    }),
    run(args, call) {
      const ops = parsePatch(args.input);
      return withWorkspace(deps, call, async (ground) => {
        const located = await locateAll(ground, ops);
        const lanes = located.flatMap(({ real, target }) => [real, target ?? real]).map(laneOf);
        return inLanes(deps.lanes, lanes, call.signal, () => patch(deps, ground, located, call));
      });
    },
  });
}

const MAX_NAMED = 500;

/** For the journal and approvals: the paths in the headers, as far as they are known before the patch is parsed. */
function namedPaths(input: string): string[] {
  const headers = /^\*\*\* (?:(?:Add|Update|Delete) File|Move to):[ \t]*(.*?)[ \t\r]*$/gm;
  const found = new Set<string>();
  for (const [, path = ""] of input.matchAll(headers)) {
    found.add(path);
    if (found.size >= MAX_NAMED) break;
  }
  return [...found];
}

/** Every path is checked before the first file is read. */
async function locateAll(ground: WorkspaceAccess, ops: readonly PatchOp[]): Promise<LocatedOp[]> {
  const located: LocatedOp[] = [];
  for (const op of ops) {
    try {
      const real = await realOf(ground, op.path, op.kind !== "delete");
      const moveTo = op.kind === "update" ? op.moveTo : undefined;
      located.push(moveTo === undefined ? { op, real } : { op, real, target: await realOf(ground, moveTo, true) });
    } catch (error) {
      throw atLine(error, op.line);
    }
  }
  return located;
}

/** Follows a link to its file, except for a removal, which removes the link itself. */
async function realOf({ root, locate }: WorkspaceAccess, path: string, follows: boolean): Promise<string> {
  const place = await locate(path);
  if (follows || (await root.stat(place)) === undefined) return root.checkWrite(place);
  return (await root.checkRemove(place)).real;
}

async function patch(
  deps: FileToolDeps,
  { root, batches, remarks }: WorkspaceAccess,
  located: readonly LocatedOp[],
  { signal }: ToolCall,
): Promise<ToolResult<PatchDetails>> {
  const { changes, summary } = await planPatch(root, located, signal);
  if (changes.length > 0)
    await batches.commit(root, changes, { signal, ...(deps.step === undefined ? {} : { step: deps.step }) });
  const lines = [
    ...summary.added.map((path) => `A ${visible(path)}`),
    ...summary.modified.map((path) => `M ${visible(path)}`),
    ...summary.deleted.map((path) => `D ${visible(path)}`),
  ];
  const count = lines.length === 1 ? "1 file" : `${lines.length} files`;
  const text = [`Patched ${count}:`, ...lines].join("\n");
  return { content: [{ type: "text", text }, ...remarks()], details: { summary } };
}
