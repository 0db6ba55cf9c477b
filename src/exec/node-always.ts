// Decides whether "always allow" may be passed to a node, which remembers a program with any arguments. Pure.
import { closedRules } from "./policy/argument-rules/closed.ts";
import { forbiddenRules } from "./policy/argument-rules/forbidden.ts";
import { interpreterRules } from "./policy/argument-rules/interpreters.ts";
import { familyNames } from "./policy/argument-rules/names.ts";
import { neverByAllowlist } from "./policy/argument-rules/never.ts";
import { plainPrograms } from "./policy/argument-rules/plain.ts";
import { inTrustedFolder } from "./policy/programs.ts";
import { wrappers } from "./policy/wrappers.ts";

/** The program that a node would remember; undefined unless the command is one harmless program. */
export function rememberedOnNode(command: string): string | undefined {
  const words = command.trim().split(/ +/);
  const [program = ""] = words;
  if (!words.every((word) => /^[\w@%+,./:-]+$/.test(word))) return undefined;
  const [name = ""] = program.split("/").slice(-1);
  // A node does not compare file content, so a program outside the system folders could be replaced later.
  const isSystems = name === program || inTrustedFolder({ path: program, real: program });
  return !isSystems || !plainPrograms.has(name) || familyNames(program).some(canCarryCommand) ? undefined : program;
}

const families: ReadonlySet<string> = new Set(["awk", "find", "git", "sed", "tar"]);
const tables = [neverByAllowlist, wrappers, closedRules, forbiddenRules, interpreterRules] as const;

/** True when arguments of the program can carry a command, code or the name of a file to overwrite. */
const canCarryCommand = (name: string): boolean => families.has(name) || tables.some((table) => table.has(name));
