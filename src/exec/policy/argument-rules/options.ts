// Parses the arguments of a program with a closed table of options, like getopt; rejects options that are not in the table.

export interface OptionTable {
  /** Single letters without a value. */
  readonly entries?: string;
  /** Single letters with a value. */
  readonly valued?: string;
  /** Long options without a value, with their dashes. */
  readonly long?: string;
  /** Long options with a value. */
  readonly longValued?: string;
  /** Single letters and long options whose value is attached, or the next word when that is a number. */
  readonly optional?: string;
  readonly longOptional?: string;
  /** True when options end at the first operand. */
  readonly stopAtOperand?: true;
}

export interface ReadArguments {
  readonly options: readonly { readonly name: string; readonly value?: string }[];
  readonly operands: readonly string[];
}

/** Undefined when an option is not in the table. Abbreviated long options are not. */
export function readOptions(args: readonly string[], table: OptionTable): ReadArguments | undefined {
  const options: { name: string; value?: string }[] = [];
  const operands: string[] = [];
  for (let at = 0; at < args.length; at++) {
    const word = args[at] ?? "";
    if (word === "--") return { options, operands: [...operands, ...args.slice(at + 1)] };
    if (!word.startsWith("-") || word === "-") {
      if (table.stopAtOperand === true) return { options, operands: args.slice(at) };
      operands.push(word);
      continue;
    }
    const read = word.startsWith("--") ? readLong(word, args[at + 1], table) : readShort(word, args[at + 1], table);
    if (read === undefined) return undefined;
    options.push(...read.options);
    at += read.taken - 1;
  }
  return { options, operands };
}

interface Read {
  readonly options: readonly { readonly name: string; readonly value?: string }[];
  readonly taken: number;
}

function readLong(word: string, next: string | undefined, table: OptionTable): Read | undefined {
  const equals = word.indexOf("=");
  const name = equals < 0 ? word : word.slice(0, equals);
  if (equals < 0 && listed(table.long, name)) return { options: [{ name }], taken: 1 };
  const optional = listed(table.longOptional, name);
  if (!optional && !listed(table.longValued, name)) return undefined;
  if (equals >= 0) return { options: [{ name, value: word.slice(equals + 1) }], taken: 1 };
  return valueFrom({ name }, [], next, optional);
}

function readShort(word: string, next: string | undefined, table: OptionTable): Read | undefined {
  const options: { name: string; value?: string }[] = [];
  for (let at = 1; at < word.length; at++) {
    const entry = word[at] ?? "";
    const name = `-${entry}`;
    if (table.entries?.includes(entry) === true) {
      options.push({ name });
      continue;
    }
    const optional = table.optional?.includes(entry) === true;
    if (!optional && table.valued?.includes(entry) !== true) return undefined;
    const rest = word.slice(at + 1);
    // Text attached to an option without a required value could also be more letters.
    if (optional && !/^[\d.]*$/.test(rest)) return undefined;
    if (rest !== "") return { options: [...options, { name, value: rest }], taken: 1 };
    return valueFrom({ name }, options, next, optional);
  }
  return { options, taken: 1 };
}

/** A value that looks like an option is rejected, because programs interpret it differently. */
function valueFrom(
  option: { readonly name: string },
  before: Read["options"],
  next: string | undefined,
  optional: boolean,
): Read | undefined {
  if (optional && (next === undefined || !/^\d/.test(next))) return { options: [...before, option], taken: 1 };
  if (next === undefined || /^-[^\d]/.test(next)) return undefined;
  return { options: [...before, { ...option, value: next }], taken: 2 };
}

/** The index where `--` ends the options. It does not count after an option that may take it as its value. */
export function endOfOptions(args: readonly string[], flags = ""): number {
  const end = args.indexOf("--");
  const before = args[end - 1] ?? "";
  if (end < 0) return args.length;
  const isPlain = !before.startsWith("-") || Array.from(before.slice(1)).every((entry) => flags.includes(entry));
  return isPlain ? end : args.length;
}

const listed = (names: string | undefined, name: string): boolean => names?.split(" ").includes(name) === true;
