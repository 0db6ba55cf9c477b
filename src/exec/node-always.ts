// Whether "always" may be passed on to a node: it remembers a program with whatever arguments, so few may be. Pure.
import { closedRules } from "./approval/carriers/closed.ts";
import { forbiddenRules } from "./approval/carriers/forbidden.ts";
import { interpreterRules } from "./approval/carriers/interpreters.ts";
import { familyNames } from "./approval/carriers/names.ts";
import { neverByAllowlist } from "./approval/carriers/never.ts";
import { wrappers } from "./approval/wrappers.ts";

/** The program a node would remember for good; undefined when the command is more than one harmless program. */
export function rememberedOnNode(command: string): string | undefined {
  const words = command.trim().split(/ +/);
  const [program = ""] = words;
  if (!words.every((word) => /^[\w@%+,./:-]+$/.test(word))) return undefined;
  return familyNames(program).some(carries) ? undefined : program;
}

const families: ReadonlySet<string> = new Set(["awk", "find", "git", "sed", "tar"]);
const tables = [neverByAllowlist, wrappers, closedRules, forbiddenRules, interpreterRules] as const;

/** Its arguments can hold a command, code or the name of a file to overwrite. */
const carries = (name: string): boolean => families.has(name) || tables.some((table) => table.has(name));
