// What the `#!` line of a script names, as the kernel and `env` would find it.
import { basename, isAbsolute } from "node:path";

import { firstBytes } from "./content.ts";
import type { Identity } from "./plan.ts";
import { findProgram } from "./programs.ts";

/** As much of a first line as the kernel looks at. */
const LINE_BYTES = 256;

interface Ground {
  readonly cwd: string;
  readonly path: readonly string[];
}

/** Undefined for what is no script, and for a line that is more than a program, `env`, and one word. */
export function shebangOf(
  path: string,
  ground: Ground,
): { readonly interpreter: Identity; readonly flags: readonly string[] } | undefined {
  const start = firstBytes(path, LINE_BYTES).toString("latin1");
  const line = /^#![ \t]*([^\n]+)\n/.exec(start)?.[1]?.trim();
  const [, program = "", word = ""] = /^(\S+)(?:[ \t]+(.*))?$/.exec(line ?? "") ?? [];
  if (!isAbsolute(program)) return undefined;
  const isEnv = basename(program) === "env";
  // The kernel hands all the rest over as one word.
  if (isEnv ? !/^[\w.+][\w.+-]*$/.test(word) : /\s/.test(word)) return undefined;
  const interpreter = findProgram(isEnv ? word : program, ground);
  return interpreter === undefined ? undefined : { interpreter, flags: isEnv || word === "" ? [] : [word] };
}
