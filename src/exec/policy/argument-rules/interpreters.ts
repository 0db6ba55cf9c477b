// Interpreters: allowed by their own entry only with a plain script file, never with code or modules in the arguments.
import { basename, join, resolve } from "node:path";

import type { Place } from "../analysis.ts";
import { nothingThere, realOf, steadyFile } from "../programs.ts";
import { concern, fine, type Rule } from "./rule.ts";

interface Interpreter {
  /** What may stand in front of the script. */
  readonly flags: RegExp;
  /** Alone, these only say who the program is. */
  readonly alone: RegExp;
  /** Words that look like a script but are something else. */
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
    (args, _judged, place) => judge(name, interpreter, args, place),
  ]),
);

function judge(
  name: string,
  { flags, alone, notScripts }: Interpreter,
  args: readonly string[],
  place: Place,
): ReturnType<Rule> {
  const [only] = args;
  if (args.length === 1 && only !== undefined && alone.test(only)) return fine;
  const at = args.findIndex((word) => !flags.test(word));
  const script = args[at];
  if (script === undefined) return concern(`${name} without a script runs what its input says`);
  if (script === "-" || script.startsWith("-"))
    return concern(`${name} is given code, a module or an option that can load some: ${script.slice(0, 20)}`);
  const path = resolve(place.cwd, script);
  const plain = steadyFile(path) !== undefined || nothingThere(path);
  if (notScripts?.test(script) === true || script === "" || !plain)
    return concern(`${name} is not given a plain script file`);
  if (isOurs(realOf(path) ?? path)) return concern(`${name} is given the command line of this gateway`);
  return { scripts: [path] };
}

/** Our own commands change the rules that this is judged by, whichever way they are started. */
const isOurs = (path: string): boolean =>
  /^(?:openclaw|moltbot|clawdbot)(?:\.[cm]?[jt]s)?$/.test(basename(path)) ||
  path.startsWith(join(ownFolder, "src", "cli"));

const ownFolder = resolve(import.meta.dirname, "../../../..");

/** What a build description in the folder says is what make runs: it counts as the script. */
export function makefiles(args: readonly string[], place: Place): readonly string[] {
  // Several of them lead on from one another.
  const folders = args.flatMap((word, at) => {
    if (word === "--directory" || /^-[A-Za-z]*C$/.test(word)) return [args[at + 1] ?? "."];
    return /^(?:--directory=|-[A-BD-Za-z]*C)(.+)$/s.exec(word)?.slice(1) ?? [];
  });
  const folder = resolve(place.cwd, ...folders);
  return ["GNUmakefile", "makefile", "Makefile"]
    .map((name) => resolve(folder, name))
    .filter((path) => steadyFile(path) !== undefined)
    .slice(0, 1);
}
