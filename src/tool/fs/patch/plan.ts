// Plans a patch: applies its operations to staged copies before any file changes.
import { OpenClawError, ToolError } from "../../../core/error.ts";
import { visible } from "../../../core/visible.ts";
import type { Change } from "../../../base/batch.ts";
import { errnoError, failed } from "../../../base/rooted-error.ts";
import type { Root } from "../../../base/rooted-fs.ts";
import { applyHunks } from "./apply.ts";
import type { PatchOp } from "./parse.ts";
import { newEffort, type Effort } from "./seek.ts";

export interface PatchSummary {
  readonly added: string[];
  readonly modified: string[];
  readonly deleted: string[];
}

export interface PatchPlan {
  readonly changes: readonly Change[];
  readonly summary: PatchSummary;
}

/** An operation with its paths located: absolute, links resolved, checked against the guard. */
export interface LocatedOp {
  readonly op: PatchOp;
  readonly real: string;
  readonly target?: string;
}

const MAX_FILE_BYTES = 10_000_000;
const MAX_TOTAL_BYTES = 50_000_000;

/** Reads only. Throws the failure of the first failing operation, with its line. */
export async function planPatch(root: Root, ops: readonly LocatedOp[], signal: AbortSignal): Promise<PatchPlan> {
  const stage: Stage = { root, files: new Map(), effort: newEffort(), signal };
  for (const located of ops) {
    await play(stage, located).catch((error: unknown) => {
      throw atLine(error, located.op.line);
    });
    requireBounded(stage, located.op.line);
  }
  requireNoFileAsFolder(stage);
  const files = [...stage.files.values()];
  return { changes: files.flatMap(changeOf), summary: summaryOf(root, files) };
}

interface Staged {
  readonly real: string;
  /** The content on the disk. */
  readonly before: { readonly version: string; readonly mode: number; bytes: Buffer | undefined } | undefined;
  /** The content after the operations so far; undefined when the file does not exist. */
  now: { readonly bytes: Buffer | undefined; readonly mode?: number } | undefined;
  touched: boolean;
  /** The file whose content was moved here. */
  from?: Staged | undefined;
  movedAway: boolean;
}

interface Stage {
  readonly root: Root;
  readonly files: Map<string, Staged>;
  readonly effort: Effort;
  readonly signal: AbortSignal;
}

async function play(stage: Stage, { op, real, target }: LocatedOp): Promise<void> {
  const file = await fileAt(stage, real);
  if (op.kind === "add") {
    await loadBefore(stage, file);
    return addFile(file, op);
  }
  if (file.now === undefined) throw errnoError(op.path, "write", "ENOENT");
  if (op.kind === "delete") {
    if (file.before !== undefined) await stage.root.checkRemove(real);
    return dropFile(file);
  }
  const bytes = await contentOf(stage, file);
  const changed = op.hunks.length === 0 ? bytes : applyHunks(bytes, op.hunks, op.path, stage.effort);
  if (target === undefined || target === real) return put(file, changed);
  if (file.before !== undefined) await stage.root.checkRemove(real);
  const goal = await fileAt(stage, target);
  await loadBefore(stage, goal);
  moveFile(file, goal, changed, op.moveTo ?? op.path);
}

function addFile(file: Staged, op: PatchOp & { kind: "add" }): void {
  if (file.now !== undefined) throw taken(op.path);
  put(file, Buffer.from(op.lines.map((text) => `${text}\n`).join("")));
}

function put(file: Staged, bytes: Buffer): void {
  file.now = { ...file.now, bytes };
  file.touched = true;
}

function dropFile(file: Staged): void {
  file.now = undefined;
  file.touched = true;
  if (file.from !== undefined) file.from.movedAway = false;
  file.from = undefined;
}

function moveFile(file: Staged, target: Staged, bytes: Buffer, path: string): void {
  if (target.now !== undefined) throw taken(path);
  const mode = file.now?.mode;
  // Only a file that was on the disk can count as moved; a new one is just new under the other name.
  const origin = file.from ?? (file.before === undefined ? undefined : file);
  file.from = undefined;
  file.now = undefined;
  file.touched = true;
  if (origin !== undefined) origin.movedAway = true;
  target.now = { bytes, ...(mode === undefined ? {} : { mode }) };
  target.touched = true;
  target.from = origin;
}

async function fileAt({ root, files }: Stage, real: string): Promise<Staged> {
  const known = files.get(real);
  if (known !== undefined) return known;
  const facts = await root.stat(real);
  if (facts !== undefined && facts.kind !== "file")
    throw errnoError(real, "write", facts.kind === "directory" ? "EISDIR" : "ENODEV");
  const before = facts === undefined ? undefined : { version: facts.version, mode: facts.mode, bytes: undefined };
  const now = before === undefined ? undefined : { bytes: undefined, mode: before.mode };
  const file: Staged = { real, before, now, touched: false, movedAway: false };
  files.set(real, file);
  return file;
}

async function contentOf(stage: Stage, file: Staged): Promise<Buffer> {
  if (file.now?.bytes !== undefined) return file.now.bytes;
  await loadBefore(stage, file);
  if (file.before?.bytes === undefined) throw errnoError(file.real, "read", "ENOENT");
  return file.before.bytes;
}

/** Reads what will be replaced first, so that it can be restored, and checks that it is still the same file. */
async function loadBefore({ root, signal }: Stage, { real, before }: Staged): Promise<void> {
  if (before === undefined || before.bytes !== undefined) return;
  const { bytes, version } = await root.read(real, { maxBytes: MAX_FILE_BYTES, signal });
  if (version !== before.version) throw changedMeanwhile(real);
  before.bytes = bytes;
}

function changeOf({ real, before, now, touched }: Staged): Change[] {
  if (!touched || (before === undefined && now === undefined)) return [];
  if (now === undefined) return before === undefined ? [] : [{ kind: "remove", path: real, version: before.version }];
  if (now.bytes === undefined) return [];
  const { bytes, mode } = now;
  if (before === undefined) return [{ kind: "put", path: real, bytes, ...(mode === undefined ? {} : { mode }) }];
  if (before.bytes === undefined) throw new Error("a file would be replaced without having been read");
  return [{ kind: "put", path: real, bytes, before: { version: before.version, bytes: before.bytes } }];
}

function summaryOf({ real: root }: Root, files: readonly Staged[]): PatchSummary {
  const shown = (wanted: (file: Staged) => boolean): string[] =>
    files.filter((file) => file.touched && wanted(file)).map(({ real }) => real.slice(root.length).replace(/^\/+/, ""));
  return {
    added: shown(({ before, now, from }) => before === undefined && now !== undefined && from === undefined),
    modified: shown(({ before, now, from }) => now !== undefined && (before !== undefined || from !== undefined)),
    deleted: shown(({ before, now, movedAway }) => before !== undefined && now === undefined && !movedAway),
  };
}

function requireBounded({ files }: Stage, line: number): void {
  let total = 0;
  for (const { real, now, before } of files.values()) {
    const size = now?.bytes?.length ?? 0;
    total += size + (before?.bytes?.length ?? 0);
    if (size <= MAX_FILE_BYTES && total <= MAX_TOTAL_BYTES) continue;
    const why = size > MAX_FILE_BYTES ? `${visible(real)} would be larger than ${MAX_FILE_BYTES} bytes` : sumText;
    throw new ToolError("patch.too-large", `apply_patch, line ${line}: ${why}; nothing was changed`, {
      hint: "send several smaller patches",
      details: { line },
    });
  }
}

const sumText = `the files add up to more than ${MAX_TOTAL_BYTES} bytes`;

/** One name cannot be both a file and a folder. */
function requireNoFileAsFolder({ files }: Stage): void {
  const there = [...files.values()].filter(({ now }) => now !== undefined).map(({ real }) => real);
  const names = new Set(there);
  for (const real of there) {
    for (let at = real.lastIndexOf("/"); at > 0; at = real.lastIndexOf("/", at - 1)) {
      if (names.has(real.slice(0, at))) throw errnoError(real, "write", "ENOTDIR");
    }
  }
}

function taken(path: string): Error {
  return failed("fs.exists", path, "already exists", "use *** Update File: to change it, or another name");
}

function changedMeanwhile(path: string): Error {
  return failed(
    "fs.changed",
    path,
    "was changed by another program in the meantime",
    "read it again, then repeat the patch",
  );
}

/** Adds the line of the patch to an error. Errors that already name a line, and errors that are not ours, pass. */
export function atLine(error: unknown, line: number): unknown {
  if (!(error instanceof OpenClawError) || error.code.startsWith("patch.") || error.code.startsWith("tool."))
    return error;
  const { code, message, hint, details, cause } = error;
  return new ToolError(code, `apply_patch, line ${line}: ${message}; nothing was changed`, {
    ...(hint === undefined ? {} : { hint }),
    details: { ...(typeof details === "object" ? details : {}), line },
    cause,
  });
}
