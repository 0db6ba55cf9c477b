// Whether "always" may be passed on to a node: it remembers a program with whatever arguments, so few may be. Pure.
import { closedRules } from "./approval/carriers/closed.ts";
import { forbiddenRules } from "./approval/carriers/forbidden.ts";
import { interpreterRules } from "./approval/carriers/interpreters.ts";
import { familyNames } from "./approval/carriers/names.ts";
import { neverByAllowlist } from "./approval/carriers/never.ts";
import { plainPrograms } from "./approval/carriers/plain.ts";
import { inTrustedFolder } from "./approval/programs.ts";
import { wrappers } from "./approval/wrappers.ts";

/** The program a node would remember for good; undefined when the command is more than one harmless program. */
export function rememberedOnNode(command: string): string | undefined {
  const words = command.trim().split(/ +/);
  const [program = ""] = words;
  if (!words.every((word) => /^[\w@%+,./:-]+$/.test(word))) return undefined;
  const [name = ""] = program.split("/").slice(-1);
  // A node compares no content: what is not the system's own could be anything by the next time.
  const isSystems = name === program || inTrustedFolder({ path: program, real: program });
  return !isSystems || !plainPrograms.has(name) || familyNames(program).some(carries) ? undefined : program;
}

const families: ReadonlySet<string> = new Set(["awk", "find", "git", "sed", "tar"]);
const tables = [neverByAllowlist, wrappers, closedRules, forbiddenRules, interpreterRules] as const;

/** Its arguments can hold a command, code or the name of a file to overwrite. */
const carries = (name: string): boolean => families.has(name) || tables.some((table) => table.has(name));
