// Reads the arguments of a program by a closed table of its options, as getopt does; what is not in the table is not read.

export interface OptionTable {
  /** Single letters without a value. */
  readonly letters?: string;
  /** Single letters with a value. */
  readonly valued?: string;
  /** Long options without a value, with their dashes. */
  readonly long?: string;
  /** Long options with a value. */
  readonly longValued?: string;
  /** Options end at the first operand. */
  readonly stopAtOperand?: true;
}

export interface ReadArguments {
  readonly options: readonly { readonly name: string; readonly value?: string }[];
  readonly operands: readonly string[];
}

/** Undefined when some option is not in the table; shortened long options are not. */
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
  if (!listed(table.longValued, name)) return undefined;
  if (equals >= 0) return { options: [{ name, value: word.slice(equals + 1) }], taken: 1 };
  return next === undefined ? undefined : { options: [{ name, value: next }], taken: 2 };
}

function readShort(word: string, next: string | undefined, table: OptionTable): Read | undefined {
  const options: { name: string; value?: string }[] = [];
  for (let at = 1; at < word.length; at++) {
    const letter = word[at] ?? "";
    const name = `-${letter}`;
    if (table.letters?.includes(letter) === true) {
      options.push({ name });
      continue;
    }
    if (table.valued?.includes(letter) !== true) return undefined;
    const rest = word.slice(at + 1);
    if (rest !== "") return { options: [...options, { name, value: rest }], taken: 1 };
    return next === undefined ? undefined : { options: [...options, { name, value: next }], taken: 2 };
  }
  return { options, taken: 1 };
}

const listed = (names: string | undefined, name: string): boolean => names?.split(" ").includes(name) === true;
