// Runs a script from the bytes that were approved, under its own name and in its own folder.
import { mkdirSync, writeFileSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";

import { newSecret } from "../../base/ids.ts";
import { contentWith } from "./content.ts";
import { changedSince } from "./freeze.ts";
import { nodeCopies, nodeStart } from "./hold-node.ts";
import { pythonStart } from "./hold-python.ts";
import { identifyProgram, trustedFolders } from "./programs.ts";
import { canHold, splitRelativePath, scriptUse, type ScriptUse } from "./script-use.ts";
import type { Identity, Plan, Segment } from "./plan.ts";

export interface HeldScript {
  readonly use: ScriptUse;
  /** The arguments after the interpreter. */
  readonly words: readonly string[];
  readonly cwd: string;
}

/**
 * An interpreter opens its script by path after every check, and a shell reads it while it runs. So it gets a private copy; a
 * mount over the path would not help, because the kernel drops it when another file is renamed to that name from outside.
 * Only the gateway can write to `folder`; `cwd` is a path to the working folder that survives a rename.
 * Undefined when there is no script or it cannot be held. Throws `approval.changed`.
 */
export function holdScript(segment: Segment, plan: Plan, folder: string, cwd: string): HeldScript | undefined {
  const use = scriptUse(segment, plan);
  if (use === undefined) return undefined;
  const bytes = contentWith(use.file.sha256 ?? "", use.file.path);
  if (bytes === undefined) throw changedSince(`the file ${use.file.path}`);
  return canHold(use, bytes) ? { use, ...startOf(use, bytes, folder, cwd) } : undefined;
}

/** The files of a plan that run from their approved bytes; the others are compared right before the start. */
export function heldFiles(plan: Plan): ReadonlySet<Identity> {
  if (process.platform !== "linux") return new Set();
  const uses = plan.segments.flatMap((segment) => scriptUse(segment, plan) ?? []);
  const isHeld = (use: ScriptUse): boolean => {
    const bytes = contentWith(use.file.sha256 ?? "", use.file.path);
    return bytes !== undefined && canHold(use, bytes);
  };
  return new Set(uses.filter(isHeld).map(({ file }) => file));
}

function startOf(use: ScriptUse, bytes: Buffer, folder: string, cwd: string): Omit<HeldScript, "use"> {
  mkdirSync(folder, { mode: 0o700 });
  if (use.family === "shell") return shellStart(use, bytes, folder, cwd);
  const { flags, name, args } = use;
  if (use.family === "python") {
    const copy = join(folder, "held.py");
    keep(copy, bytes);
    return { words: [...flags, "-c", pythonStart(copy, use), name, ...args], cwd };
  }
  const start = join(folder, "start.cjs");
  keep(start, nodeStart(folder, use));
  for (const copy of Object.values(nodeCopies(folder))) keep(copy, bytes);
  return { words: [...flags, start, name, ...args], cwd };
}

/** A relative script is opened in a private folder first; its first command changes to the working folder. */
function shellStart(use: ScriptUse, bytes: Buffer, folder: string, cwd: string): Omit<HeldScript, "use"> {
  const { flags, name, args } = use;
  const way = splitRelativePath(name);
  if (way === undefined) return evaluated(use, bytes, folder, cwd);
  // Random names, so that no relative path leads to one of them.
  const from = join(folder, ...Array.from({ length: way.up + 1 }, () => newSecret(8)));
  mkdirSync(from, { recursive: true, mode: 0o700 });
  // Added to the first line before `#!`, so that line numbers do not change.
  keep(resolve(from, name), Buffer.concat([Buffer.from(`cd -P -- ${cwd} && unset OLDPWD || exit 126; `), bytes]));
  return { words: [...flags, name, ...args], cwd: from };
}

/** A script given by its absolute path is evaluated as text under that name. */
function evaluated(
  { flags, name, args }: ScriptUse,
  bytes: Buffer,
  folder: string,
  cwd: string,
): Omit<HeldScript, "use"> {
  const copy = join(folder, basename(name));
  keep(copy, bytes);
  const cat = identifyProgram("cat", { cwd: "/", path: trustedFolders })?.path ?? "cat";
  const text = `eval "$(${cat} '${copy.replaceAll("'", "'\\''")}' || echo exit 126)"`;
  return { words: [...flags, "-c", text, name, ...args], cwd };
}

function keep(path: string, bytes: string | Buffer): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  writeFileSync(path, bytes, { flag: "wx", mode: 0o400 });
}
