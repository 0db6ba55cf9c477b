// Interpreters: an entry allows them only with a plain script file, never with code or modules in the arguments.
import { basename, join, resolve } from "node:path";

import type { AnalysisContext } from "../analysis.ts";
import { isAbsent, realOf, stableFile } from "../programs.ts";
import { concern, fine, type Rule } from "./rule.ts";

interface Interpreter {
  /** Options that are allowed before the script. */
  readonly flags: RegExp;
  /** On their own these only print information about the program. */
  readonly alone: RegExp;
  /** Words that look like a script but are not one. */
  readonly notScripts?: RegExp;
}

const interpreters: Readonly<Record<string, Interpreter>> = {
  python: { flags: /^-[BbEIOsSuq]+$/, alone: /^(?:-V|-VV|--version)$/ },
  node: {
    flags:
      /^--(?:no-warnings|enable-source-maps|trace-warnings|no-deprecation|throw-deprecation|trace-deprecation|trace-uncaught|experimental-strip-types|max-old-space-size=\d{1,6}|check|test)$/,
    alone: /^(?:-v|--version)$/,
    notScripts: /^inspect$/,
  },
  perl: { flags: /^-[wWXtT]+$/, alone: /^(?:-v|--version)$/ },
  ruby: { flags: /^-(?:w|W[0-2]?)$/, alone: /^(?:--version)$/ },
  php: { flags: /^-[nq]$/, alone: /^(?:-v|--version)$/ },
  lua: { flags: /^-[EW]$/, alone: /^-v$/ },
};

export const interpreterRules: ReadonlyMap<string, Rule> = new Map(
  Object.entries(interpreters).map(([name, interpreter]): [string, Rule] => [
    name,
    (args, _judged, context) => judge(name, interpreter, args, context),
  ]),
);

function judge(
  name: string,
  { flags, alone, notScripts }: Interpreter,
  args: readonly string[],
  context: AnalysisContext,
): ReturnType<Rule> {
  const [only] = args;
  if (args.length === 1 && only !== undefined && alone.test(only)) return fine;
  const at = args.findIndex((word) => !flags.test(word));
  const script = args[at];
  if (script === undefined) return concern(`${name} without a script runs its input as code`);
  if (script === "-" || script.startsWith("-"))
    return concern(`${name} is given code, a module or an option that can load code: ${script.slice(0, 20)}`);
  const path = resolve(context.cwd, script);
  const plain = stableFile(path) !== undefined || isAbsent(path);
  if (notScripts?.test(script) === true || script === "" || !plain)
    return concern(`${name} is not given a plain script file`);
  if (isOurs(realOf(path) ?? path)) return concern(`${name} is given the command line of this gateway`);
  return { scripts: [path] };
}

/** Our own commands change the rules that decide here, however they are started. */
const isOurs = (path: string): boolean =>
  /^(?:openclaw|moltbot|clawdbot)(?:\.[cm]?[jt]s)?$/.test(basename(path)) ||
  path.startsWith(join(ownFolder, "src", "cli"));

const ownFolder = resolve(import.meta.dirname, "../../../..");

/** make runs what the makefile in its folder contains, so the makefile counts as the script. */
export function makefiles(args: readonly string[], context: AnalysisContext): readonly string[] {
  // Each -C is relative to the one before it.
  const folders = args.flatMap((word, at) => {
    if (word === "--directory" || /^-[A-Za-z]*C$/.test(word)) return [args[at + 1] ?? "."];
    return /^(?:--directory=|-[A-BD-Za-z]*C)(.+)$/s.exec(word)?.slice(1) ?? [];
  });
  const folder = resolve(context.cwd, ...folders);
  return ["GNUmakefile", "makefile", "Makefile"]
    .map((name) => resolve(folder, name))
    .filter((path) => stableFile(path) !== undefined)
    .slice(0, 1);
}
