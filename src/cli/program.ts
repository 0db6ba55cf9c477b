// Finds the command, runs it and returns its exit code. Loads the file of that one command only.
import { globalOptions, UsageError, type Entry } from "./command.ts";
import { groups, entries } from "./commands/index.ts";
import { reportFailure, WRONG_USAGE } from "./failure.ts";
import { findCommand, type Found, type Table } from "./find.ts";
import { createIo, type Io, type IoFlags, type Terminal } from "./io.ts";
import { isOption, parseWords } from "./parse.ts";

export const table: Table = { entries, groups };

export async function main(words: readonly string[], terminal: Terminal): Promise<number> {
  const io = createIo(terminal, flagsOf(words));
  try {
    return await dispatch(findCommand(words, table), io);
  } catch (error) {
    return reportFailure(error, io);
  }
}

async function dispatch(found: Found, io: Io): Promise<number> {
  if (found.kind === "group") return answerGroup(found, io);
  const { entry, words } = found;
  if (beforeDashes(words).some((word) => word === "--help" || word === "-h")) return printHelp(entry, io);
  const { command } = await entry.load();
  return command.run(io, parseWords(words, command, entry.path)).catch((error: unknown) => {
    throw error instanceof UsageError && error.helpFor.length === 0 ? new UsageError(error.message, entry.path) : error;
  });
}

/** A bare group prints its help; a group with unknown options is an error. */
async function answerGroup({ group, words }: Found & { kind: "group" }, io: Io): Promise<number> {
  if (group === undefined && words.some((word) => ["--version", "-v", "-V"].includes(word))) return printVersion(io);
  const unknown = words.find((word) => isOption(word) && !isGlobal(word));
  if (unknown !== undefined) throw new UsageError(`unknown option ${unknown}`, group?.path ?? []);
  const { groupHelp, rootHelp } = await import("./help.ts");
  const asked = words.includes("--help") || words.includes("-h") || group === undefined;
  const text = group === undefined ? rootHelp(table, io) : groupHelp(group, table, io);
  if (asked) io.print(text);
  else io.say(text);
  return asked ? 0 : WRONG_USAGE;
}

async function printHelp(entry: Entry, io: Io): Promise<number> {
  const [{ commandHelp }, { command }] = await Promise.all([import("./help.ts"), entry.load()]);
  io.print(commandHelp(entry, command, io));
  return 0;
}

async function printVersion(io: Io): Promise<number> {
  const { readVersion } = await import("../base/version.ts");
  io.print(io.json ? JSON.stringify({ version: readVersion() }) : readVersion());
  return 0;
}

/** Parsed before the command is known, so that even a usage error is printed in the requested form. */
function flagsOf(all: readonly string[]): IoFlags {
  const words = beforeDashes(all);
  const at = words.findLastIndex((word) => word === "--profile" || word.startsWith("--profile="));
  const profile =
    at < 0 ? undefined : words[at] === "--profile" ? words[at + 1] : words[at]?.slice("--profile=".length);
  return {
    profile: profile ?? (words.includes("--dev") ? "dev" : undefined),
    json: words.includes("--json"),
    color: !words.includes("--no-color"),
  };
}

function beforeDashes(words: readonly string[]): readonly string[] {
  const end = words.indexOf("--");
  return end < 0 ? words : words.slice(0, end);
}

function isGlobal(word: string): boolean {
  return word === "-h" || Object.hasOwn(globalOptions, word.slice(2).split("=")[0] ?? "");
}
