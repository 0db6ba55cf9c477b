// Plans an undo: which files change and how, and which were changed by others since.
import { readFile } from "node:fs/promises";
import { join } from "node:path";

import { OpenClawError } from "../../core/error.ts";
import { visible } from "../../core/visible.ts";
import type { Change } from "../../base/batch.ts";
import { unifiedDiff } from "../../base/line-diff.ts";
import type { FileFacts, Root } from "../../base/rooted-fs.ts";
import { hashOf, unlessMissing, type Copy, type Turn, type TurnFile } from "./record.ts";
import type { UndoneFile } from "../../protocol/methods/undo.ts";

export type { UndoneFile };

export interface UndoPlan {
  readonly files: readonly UndoneFile[];
  /** Paths of files that another program or person changed after the turn. */
  readonly changedSince: readonly string[];
  readonly changes: readonly Change[];
  /** Folders that the turn created, outermost first; removed when they are empty. */
  readonly createdFolders: readonly string[];
}

const MAX_BYTES = 50_000_000;
const DIFF_CHARS = 4000;
const ALL_DIFF_CHARS = 40_000;

export async function planUndo(root: Root, turn: Turn): Promise<UndoPlan> {
  const planned: PlannedFile[] = [];
  let charsLeft = ALL_DIFF_CHARS;
  for (const file of turn.files.values()) {
    const one = await planFile(root, turn, file, Math.min(charsLeft, DIFF_CHARS));
    charsLeft = Math.max(0, charsLeft - (one.shown.diff?.length ?? 0));
    planned.push(one);
  }
  const createdFolders = new Set([...turn.files.values()].flatMap((file) => file.fresh));
  return {
    files: planned.map(({ shown }) => shown),
    changedSince: planned.flatMap(({ shown, foreign }) => (foreign ? [shown.path] : [])),
    changes: planned.flatMap(({ change }) => (change === undefined ? [] : [change])),
    createdFolders: [...createdFolders].toSorted((a, b) => a.length - b.length),
  };
}

interface PlannedFile {
  readonly shown: UndoneFile;
  readonly foreign: boolean;
  readonly change?: Change;
}

async function planFile(root: Root, turn: Turn, file: TurnFile, diffChars: number): Promise<PlannedFile> {
  const { path, before } = file;
  if (before !== null && "lost" in before)
    return { shown: { path, does: "not-kept", why: before.lost }, foreign: false };
  const now = await current(root, path);
  const foreign = !isOurs(file, now);
  if (before === null) return { foreign: foreign && now !== undefined, ...removal(path, now, diffChars) };
  const old = await contentOf(turn, path, before);
  if (now === undefined) {
    const change: Change = { kind: "put", path, bytes: old, exactMode: before.mode };
    return { shown: { path, does: "recreated", ...diffOf(path, undefined, old, diffChars) }, foreign, change };
  }
  if (now.hash === before.hash && now.mode === before.mode) return { shown: { path, does: "same" }, foreign: false };
  const { version, bytes, mode } = now;
  const change: Change = { kind: "put", path, bytes: old, before: { version, bytes, mode }, exactMode: before.mode };
  return { shown: { path, does: "restored", ...diffOf(path, bytes, old, diffChars) }, foreign, change };
}

function removal(path: string, now: Current | undefined, diffChars: number): Pick<PlannedFile, "shown" | "change"> {
  if (now === undefined) return { shown: { path, does: "same" } };
  return {
    shown: { path, does: "removed", ...diffOf(path, now.bytes, undefined, diffChars) },
    change: { kind: "remove", path, version: now.version },
  };
}

interface Current extends Pick<FileFacts, "version" | "mode"> {
  readonly bytes: Buffer;
  readonly hash: string;
}

async function current(root: Root, path: string): Promise<Current | undefined> {
  const facts = await root.stat(path);
  if (facts === undefined) return undefined;
  // A link or folder that has the name now is not the file that was saved.
  if (facts.kind !== "file" || facts.real !== path)
    throw new OpenClawError("undo.moved", `${visible(path)} is not the same file: its name is now a link or folder`, {
      hint: "check what has this name now, and move it away",
    });
  const { bytes, version, mode } = await root.read(path, { maxBytes: MAX_BYTES });
  return { bytes, version, mode, hash: hashOf(bytes) };
}

/** The old content counts too: then the change did not happen, or a person reverted it by hand. */
function isOurs({ after, before }: TurnFile, now: Current | undefined): boolean {
  if (now === undefined) return after.has(null) || before === null;
  return after.has(now.hash) || (before !== null && "hash" in before && before.hash === now.hash);
}

async function contentOf({ folder }: Turn, path: string, { hash, content }: Copy): Promise<Buffer> {
  const bytes =
    content === undefined
      ? await readFile(join(folder, hash)).catch(unlessMissing(undefined))
      : Buffer.from(content, "base64");
  if (bytes !== undefined && hashOf(bytes) === hash) return bytes;
  throw new OpenClawError(
    "undo.damaged",
    `the saved copy of ${visible(path)} is ${bytes ? "damaged" : "missing"}; no file was changed`,
    {
      hint: "another program changed the undo folder in the state directory; restore the file from your own backup",
      details: { path, folder },
    },
  );
}

function diffOf(path: string, now: Buffer | undefined, old: Buffer | undefined, maxChars: number): { diff?: string } {
  const name = visible(path.replace(/^\/+/, ""));
  if (isBinary(now) || isBinary(old))
    return { diff: `--- a/${name}\n+++ b/${name}\n… (${now?.length ?? 0} bytes become ${old?.length ?? 0})` };
  if (maxChars === 0) return {};
  const text = unifiedDiff(now?.toString("utf8") ?? "", old?.toString("utf8") ?? "", { name, maxChars });
  return text === "" ? {} : { diff: text };
}

function isBinary(bytes: Buffer | undefined): boolean {
  return bytes !== undefined && (bytes.length > 2_000_000 || bytes.subarray(0, 8000).includes(0));
}
