// Finds the command in the arguments; global options may be anywhere between its words.
import { nearest } from "../core/nearest.ts";
import { globalOptions, UsageError, type Entry, type Option } from "./command.ts";
import { isOption } from "./parse.ts";

export interface Group {
  readonly path: readonly string[];
  readonly summary: string;
  /** The default subcommand of the bare group. */
  readonly bare?: string;
  /** Types of the options of all its commands that are also accepted before the subcommand. */
  readonly options?: Readonly<Record<string, Option["type"]>>;
}

export interface Table {
  readonly entries: readonly Entry[];
  readonly groups: readonly Group[];
}

export type Found =
  | { readonly kind: "command"; readonly entry: Entry; readonly words: readonly string[] }
  | { readonly kind: "group"; readonly group: Group | undefined; readonly words: readonly string[] };

/** `words` are the arguments left for the command. A group without a subcommand is found as such; the root has no group. */
export function findCommand(words: readonly string[], table: Table): Found {
  const path: string[] = [];
  let left = [...words];
  for (;;) {
    const at = nextWord(left, optionsBefore(path, table));
    const word = left[at];
    const names = childrenOf(path, table);
    if (word !== undefined && !isOption(word) && names.includes(word)) {
      path.push(word);
      left = left.toSpliced(at, 1);
      const entry = table.entries.find((candidate) => samePath(candidate.path, path));
      if (entry !== undefined) return { kind: "command", entry, words: left };
      continue;
    }
    const group = table.groups.find((candidate) => samePath(candidate.path, path));
    if (word !== undefined && !isOption(word)) throw unknownCommand(word, path, names);
    const bare =
      group?.bare === undefined
        ? undefined
        : table.entries.find((entry) => samePath(entry.path, [...path, group.bare ?? ""]));
    if (bare !== undefined && !asksForHelp(left)) return { kind: "command", entry: bare, words: left };
    return { kind: "group", group, words: left };
  }
}

/** The names that can follow a path. */
export function childrenOf(path: readonly string[], { entries }: Table): string[] {
  const names = entries.flatMap((entry) =>
    samePath(entry.path.slice(0, path.length), path) ? entry.path.slice(path.length, path.length + 1) : [],
  );
  return [...new Set(names)];
}

type OptionTypes = NonNullable<Group["options"]>;

/** Global options, and those of the groups on the path. */
function optionsBefore(path: readonly string[], { groups }: Table): OptionTypes {
  const above = groups.filter((group) => samePath(group.path, path.slice(0, group.path.length)));
  const global = Object.fromEntries(Object.entries(globalOptions).map(([name, { type }]) => [name, type]));
  return Object.assign(global, ...above.map(({ options }) => options)) as OptionTypes;
}

/** Skips these options and their values. */
function nextWord(words: readonly string[], options: OptionTypes): number {
  for (let at = 0; at < words.length; at++) {
    const word = words[at] ?? "";
    if (!isOption(word)) return at;
    const name = word.slice(2);
    if (word === "--" || !(Object.hasOwn(options, name.split("=")[0] ?? "") || word === "-h")) return at;
    if (Object.hasOwn(options, name) && options[name] === "string") at += 1;
  }
  return words.length;
}

function asksForHelp(words: readonly string[]): boolean {
  return words.includes("--help") || words.includes("-h");
}

function unknownCommand(word: string, path: readonly string[], names: readonly string[]): UsageError {
  const near = nearest(word, names);
  const whole = ["openclaw", ...path].join(" ");
  const suggestion = near === undefined ? "" : `; did you mean: ${whole} ${near}`;
  return new UsageError(`unknown command ${JSON.stringify(word)} in: ${whole} ${word}${suggestion}`, path);
}

function samePath(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((word, at) => word === b[at]);
}
