// Finds the interpreter of a script: from its `#!` line as the kernel and `env` would, or /bin/sh without one.
import { basename, isAbsolute } from "node:path";

import { firstBytes } from "./content.ts";
import type { Identity } from "./plan.ts";
import { identifyProgram, type ProgramSearch } from "./programs.ts";

/** The part of the first line that the kernel reads. */
const LINE_BYTES = 256;

/** True for a file with a `#!` line or plain text, which shells run with /bin/sh. */
export function isScript(path: string): boolean {
  const start = firstBytes(path, LINE_BYTES);
  return hasLine(start) || isText(start);
}

const hasLine = (start: Buffer): boolean => start.toString("latin1", 0, 2) === "#!";

/** Every executable format has a zero byte near its beginning. */
const isText = (start: Buffer): boolean => start.length > 0 && !start.includes(0);

/** Undefined for a file that is not a script, and for a line with more than a program, `env` and one word. */
export function shebangOf(
  path: string,
  search: ProgramSearch,
): { readonly interpreter: Identity; readonly flags: readonly string[] } | undefined {
  const start = firstBytes(path, LINE_BYTES);
  if (!hasLine(start)) {
    const shell = isText(start) ? identifyProgram("/bin/sh", search) : undefined;
    return shell === undefined ? undefined : { interpreter: shell, flags: [] };
  }
  const line = /^#![ \t]*([^\n]+)\n/.exec(start.toString("latin1"))?.[1]?.trim();
  const [, program = "", word = ""] = /^(\S+)(?:[ \t]+(.*))?$/.exec(line ?? "") ?? [];
  if (!isAbsolute(program)) return undefined;
  const isEnv = basename(program) === "env";
  // The kernel passes the rest of the line as one word.
  if (isEnv ? !/^[\w.+][\w.+-]*$/.test(word) : /\s/.test(word)) return undefined;
  const interpreter = identifyProgram(isEnv ? word : program, search);
  return interpreter === undefined ? undefined : { interpreter, flags: isEnv || word === "" ? [] : [word] };
}
