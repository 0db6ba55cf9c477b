// Runs a script from the very bytes that were allowed, under its own name and in its own folder.
import { mkdirSync, writeFileSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";

import { newSecret } from "../../base/ids.ts";
import { contentWith } from "./content.ts";
import { changedSince } from "./freeze.ts";
import { nodeCopies, nodeStart } from "./hold-node.ts";
import { pythonStart } from "./hold-python.ts";
import { identifyProgram, trustedFolders } from "./programs.ts";
import { canHold, relativeWay, scriptUse, type ScriptUse } from "./script-use.ts";
import type { Identity, Plan, Segment } from "./plan.ts";

export interface HeldScript {
  readonly use: ScriptUse;
  /** What follows the interpreter. */
  readonly words: readonly string[];
  readonly cwd: string;
}

/**
 * An interpreter opens its script by path, a moment after any check, and a shell goes on reading it. So it gets a private copy:
 * a mount over the path would not do, since the kernel takes it away when the name is given to another file from outside.
 * `folder` is one that only the gateway can write, `cwd` a path that leads to the working folder whatever has its name by now.
 * Undefined when there is no script, or none that can be held. Throws `approval.changed`.
 */
export function holdScript(segment: Segment, plan: Plan, folder: string, cwd: string): HeldScript | undefined {
  const use = scriptUse(segment, plan);
  if (use === undefined) return undefined;
  const bytes = contentWith(use.file.sha256 ?? "", use.file.path);
  if (bytes === undefined) throw changedSince(`the file ${use.file.path}`);
  return canHold(use, bytes) ? { use, ...startOf(use, bytes, folder, cwd) } : undefined;
}

/** Of the files of a plan, those whose bytes run as they were allowed; the others are compared right before the start. */
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

/** By a name from the working folder it is opened in a private one first; its first command is to go where it belongs. */
function shellStart(use: ScriptUse, bytes: Buffer, folder: string, cwd: string): Omit<HeldScript, "use"> {
  const { flags, name, args } = use;
  const way = relativeWay(name);
  if (way === undefined) return evaluated(use, bytes, folder, cwd);
  // Names that no way down from there can meet.
  const from = join(folder, ...Array.from({ length: way.up + 1 }, () => newSecret(8)));
  mkdirSync(from, { recursive: true, mode: 0o700 });
  // On the first line, in front of `#!`: no line gets another number.
  keep(resolve(from, name), Buffer.concat([Buffer.from(`cd -P -- ${cwd} && unset OLDPWD || exit 126; `), bytes]));
  return { words: [...flags, name, ...args], cwd: from };
}

/** By its whole path it is given as text with that path as its name. */
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
