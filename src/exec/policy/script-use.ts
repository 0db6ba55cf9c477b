// Which script a program of a plan runs, and whether its bytes can be handed over instead of its path.
import { extname, isAbsolute, resolve } from "node:path";

import { familyNames } from "./argument-rules/names.ts";
import type { Identity, Plan, Segment } from "./plan.ts";

export type Family = "shell" | "python" | "node";

export interface ScriptUse {
  readonly family: Family;
  readonly interpreter: Identity;
  /** Where in the words of the segment the interpreter, or the script started by its own name, stands. */
  readonly at: number;
  readonly flags: readonly string[];
  /** The script as its interpreter is told of it. */
  readonly name: string;
  readonly args: readonly string[];
  readonly file: Identity;
}

interface Rules {
  /** What may stand in front of the script without changing how it is read. */
  readonly flags: RegExp;
  readonly holds: (use: ScriptUse, bytes: Buffer) => boolean;
}

const families: Readonly<Record<Family, Rules>> = {
  shell: { flags: /^-[aefuvx]+$/, holds: shellHolds },
  python: { flags: /^-[BbEIOPsSuq]+$/, holds: () => true },
  node: {
    flags: /^--(?:no-warnings|enable-source-maps|trace-warnings|no-deprecation|throw-deprecation|trace-deprecation)$/,
    holds: ({ file }) => ["", ".js", ".cjs", ".mjs"].includes(extname(file.real)),
  },
};

/** Undefined when no script, or none whose interpreter is known, is run by it. */
export function scriptUse(segment: Segment, plan: Plan): ScriptUse | undefined {
  if (plan.form !== "pipeline") return undefined;
  const use = segment.shebang === undefined ? namedScript(segment, plan) : ownScript(segment, segment.shebang);
  if (use === undefined || !/^[0-9a-f]{64}$/.test(use.file.sha256 ?? "")) return undefined;
  return use.flags.every((flag) => families[use.family].flags.test(flag)) ? use : undefined;
}

/** Whether a script of these bytes can be run without its interpreter opening its path. */
export const canHold = (use: ScriptUse, bytes: Buffer): boolean => families[use.family].holds(use, bytes);

/** `python x.py`, also behind wrappers. */
function namedScript(segment: Segment, plan: Plan): ScriptUse | undefined {
  const interpreter = segment.inner?.at(-1) ?? segment.program;
  const family = familyOf(interpreter);
  const at = placeOf(segment, interpreter);
  const words = segment.argv.slice(at + 1);
  const count = words.findIndex((word) => !word.startsWith("-"));
  const name = words[count];
  if (family === undefined || at < 0 || name === undefined) return undefined;
  const file = plan.files.find(({ path }) => path === resolve(plan.cwd.path, name));
  if (file === undefined) return undefined;
  return { family, interpreter, at, flags: words.slice(0, count), name, args: words.slice(count + 1), file };
}

/** `./deploy.sh`: the kernel starts what its first line names and adds the path it was started by. */
function ownScript(segment: Segment, { interpreter, flags }: NonNullable<Segment["shebang"]>): ScriptUse | undefined {
  const file = segment.inner?.at(-1) ?? segment.program;
  const family = familyOf(interpreter);
  const at = placeOf(segment, file);
  if (family === undefined || at < 0) return undefined;
  const written = segment.argv[at] ?? "";
  const name = written.includes("/") ? written : file.path;
  return { family, interpreter, at, flags, name, args: segment.argv.slice(at + 1), file };
}

const placeOf = ({ argv, inner }: Segment, program: Identity): number =>
  inner === undefined ? 0 : argv.indexOf(program.path);

const shells: ReadonlySet<string> = new Set(["sh", "bash", "dash", "ash", "zsh", "ksh", "mksh"]);

function familyOf({ path }: Identity): Family | undefined {
  const names = familyNames(path);
  if (names.some((name) => shells.has(name))) return "shell";
  return names.includes("python") ? "python" : names.includes("node") ? "node" : undefined;
}

/** How a name leads down from the working folder, after so many steps up; undefined for every other kind of path. */
export function relativeWay(name: string): { readonly up: number; readonly down: string } | undefined {
  if (isAbsolute(name) || name.endsWith("/")) return undefined;
  const steps = name.split("/").filter((step) => step !== "" && step !== ".");
  const down = steps.findIndex((step) => step !== "..");
  const way = steps.slice(down);
  return down < 0 || way.includes("..") ? undefined : { up: down, down: way.join("/") };
}

/** A script that asks its shell for its own path must be read from a file, and under a whole path only its own can be. */
function shellHolds({ name, interpreter }: ScriptUse, bytes: Buffer): boolean {
  if (relativeWay(name) !== undefined) return true;
  if (!familyNames(interpreter.real).some((one) => /^(?:sh|dash|ash|bash)$/.test(one))) return false;
  return !/\0|BASH_(?:SOURCE|ARG)/.test(bytes.toString("latin1"));
}
