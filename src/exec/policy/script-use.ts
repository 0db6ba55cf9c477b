// Finds the script that a program of a plan runs, and whether it can run from its bytes instead of its path.
import { extname, isAbsolute, resolve } from "node:path";

import { familyNames } from "./argument-rules/names.ts";
import type { Identity, Plan, Segment } from "./plan.ts";

export type Family = "shell" | "python" | "node";

export interface ScriptUse {
  readonly family: Family;
  readonly interpreter: Identity;
  /** The index in `argv` of the interpreter, or of the script when it is started by its own name. */
  readonly at: number;
  readonly flags: readonly string[];
  /** The script as its interpreter receives it. */
  readonly name: string;
  readonly args: readonly string[];
  readonly file: Identity;
}

interface Rules {
  /** Options before the script that do not change how it is read. */
  readonly flags: RegExp;
  readonly canHold: (use: ScriptUse, bytes: Buffer) => boolean;
}

const families: Readonly<Record<Family, Rules>> = {
  shell: { flags: /^-[aefuvx]+$/, canHold: canHoldShellScript },
  python: { flags: /^-[BbEIOPsSuq]+$/, canHold: () => true },
  node: {
    flags: /^--(?:no-warnings|enable-source-maps|trace-warnings|no-deprecation|throw-deprecation|trace-deprecation)$/,
    canHold: ({ file }) => ["", ".js", ".cjs", ".mjs"].includes(extname(file.real)),
  },
};

/** Undefined when it runs no script, or its interpreter is not known. */
export function scriptUse(segment: Segment, plan: Plan): ScriptUse | undefined {
  if (plan.form !== "pipeline") return undefined;
  const use = segment.shebang === undefined ? namedScript(segment, plan) : ownScript(segment, segment.shebang);
  if (use === undefined || !/^[0-9a-f]{64}$/.test(use.file.sha256 ?? "")) return undefined;
  return use.flags.every((flag) => families[use.family].flags.test(flag)) ? use : undefined;
}

/** True when a script with these bytes can run without its interpreter opening its path. */
export const canHold = (use: ScriptUse, bytes: Buffer): boolean => families[use.family].canHold(use, bytes);

/** `python x.py`, also after wrappers. */
function namedScript(segment: Segment, plan: Plan): ScriptUse | undefined {
  const interpreter = segment.inner?.at(-1) ?? segment.program;
  const family = familyOf(interpreter);
  const at = indexOf(segment, interpreter);
  const words = segment.argv.slice(at + 1);
  const count = words.findIndex((word) => !word.startsWith("-"));
  const name = words[count];
  if (family === undefined || at < 0 || name === undefined) return undefined;
  const file = plan.files.find(({ path }) => path === resolve(plan.cwd.path, name));
  if (file === undefined) return undefined;
  return { family, interpreter, at, flags: words.slice(0, count), name, args: words.slice(count + 1), file };
}

/** `./deploy.sh`: the kernel starts the interpreter of its first line with the script's path. */
function ownScript(segment: Segment, { interpreter, flags }: NonNullable<Segment["shebang"]>): ScriptUse | undefined {
  const file = segment.inner?.at(-1) ?? segment.program;
  const family = familyOf(interpreter);
  const at = indexOf(segment, file);
  if (family === undefined || at < 0) return undefined;
  const written = segment.argv[at] ?? "";
  const name = written.includes("/") ? written : file.path;
  return { family, interpreter, at, flags, name, args: segment.argv.slice(at + 1), file };
}

const indexOf = ({ argv, inner }: Segment, program: Identity): number =>
  inner === undefined ? 0 : argv.indexOf(program.path);

const shells: ReadonlySet<string> = new Set(["sh", "bash", "dash", "ash", "zsh", "ksh", "mksh"]);

function familyOf({ path }: Identity): Family | undefined {
  const names = familyNames(path);
  if (names.some((name) => shells.has(name))) return "shell";
  return names.includes("python") ? "python" : names.includes("node") ? "node" : undefined;
}

/** Splits a relative path into the steps up and the rest; undefined for every other kind of path. */
export function splitRelativePath(name: string): { readonly up: number; readonly down: string } | undefined {
  if (isAbsolute(name) || name.endsWith("/")) return undefined;
  const steps = name.split("/").filter((step) => step !== "" && step !== ".");
  const down = steps.findIndex((step) => step !== "..");
  const way = steps.slice(down);
  return down < 0 || way.includes("..") ? undefined : { up: down, down: way.join("/") };
}

/** A script that asks its shell for its own path must be read from a file, which works only for a relative path. */
function canHoldShellScript({ name, interpreter }: ScriptUse, bytes: Buffer): boolean {
  if (splitRelativePath(name) !== undefined) return true;
  if (!familyNames(interpreter.real).some((one) => /^(?:sh|dash|ash|bash)$/.test(one))) return false;
  return !/\0|BASH_(?:SOURCE|ARG)/.test(bytes.toString("latin1"));
}
