// What runs a script: what its `#!` line names, as the kernel and `env` would find it, or /bin/sh where there is none.
import { basename, isAbsolute } from "node:path";

import { firstBytes } from "./content.ts";
import type { Identity } from "./plan.ts";
import { identifyProgram } from "./programs.ts";

/** As much of a first line as the kernel looks at. */
const LINE_BYTES = 256;

interface Ground {
  readonly cwd: string;
  readonly path: readonly string[];
}

/** What is no program of the machine itself: a first line that names another, or text, which everybody hands to /bin/sh. */
export function isScript(path: string): boolean {
  const start = firstBytes(path, LINE_BYTES);
  return hasLine(start) || isText(start);
}

const hasLine = (start: Buffer): boolean => start.toString("latin1", 0, 2) === "#!";

/** Every format that a kernel loads has a zero byte near its beginning. */
const isText = (start: Buffer): boolean => start.length > 0 && !start.includes(0);

/** Undefined for what is no script, and for a line that is more than a program, `env`, and one word. */
export function shebangOf(
  path: string,
  ground: Ground,
): { readonly interpreter: Identity; readonly flags: readonly string[] } | undefined {
  const start = firstBytes(path, LINE_BYTES);
  if (!hasLine(start)) {
    const shell = isText(start) ? identifyProgram("/bin/sh", ground) : undefined;
    return shell === undefined ? undefined : { interpreter: shell, flags: [] };
  }
  const line = /^#![ \t]*([^\n]+)\n/.exec(start.toString("latin1"))?.[1]?.trim();
  const [, program = "", word = ""] = /^(\S+)(?:[ \t]+(.*))?$/.exec(line ?? "") ?? [];
  if (!isAbsolute(program)) return undefined;
  const isEnv = basename(program) === "env";
  // The kernel hands all the rest over as one word.
  if (isEnv ? !/^[\w.+][\w.+-]*$/.test(word) : /\s/.test(word)) return undefined;
  const interpreter = identifyProgram(isEnv ? word : program, ground);
  return interpreter === undefined ? undefined : { interpreter, flags: isEnv || word === "" ? [] : [word] };
}
