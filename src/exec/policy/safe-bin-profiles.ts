// The exact arguments that each safe bin may have. Other options are rejected, including abbreviations.

type Profile = (args: readonly string[]) => boolean;

interface Grammar {
  /** Single letters without a value. */
  readonly entries: string;
  /** Single letters with a value, and its pattern. */
  readonly valued: Readonly<Record<string, RegExp>>;
  /** Long options: the pattern of the value, or null without one. */
  readonly long: Readonly<Record<string, RegExp | null>>;
  /** How many operands may follow, and the pattern of each. */
  readonly operands: { readonly max: number; readonly min?: number; readonly shape: RegExp };
  /** Old forms such as `-5`. */
  readonly numeric?: true;
}

const count = /^[+-]?\d{1,12}(?:[bkKMGTPEZY]|[kKMGT]B|[KMGT]iB)?$/;
const plainCount = /^\d{1,12}$/;
const list = /^[0-9,-]{1,400}$/;
/** Text that can never be read as a path. */
const text = /^(?!~)(?!\.{1,2}$)[^/\\\0]{0,400}$/s;
const none = { max: 0, shape: /^$/ } as const;

/** head and tail accept the same options; neither accepts `-f` or its variants. */
const endOfStream: Grammar = {
  entries: "qvz",
  valued: { n: count, c: count },
  long: {
    "--lines": count,
    "--bytes": count,
    "--quiet": null,
    "--silent": null,
    "--verbose": null,
    "--zero-terminated": null,
  },
  operands: none,
  numeric: true,
};

const grammars: Readonly<Record<string, Grammar>> = {
  cut: {
    entries: "nsz",
    valued: { b: list, c: list, f: list, d: /^[^\0]$/su },
    long: {
      "--bytes": list,
      "--characters": list,
      "--fields": list,
      "--delimiter": /^[^\0]$/su,
      "--complement": null,
      "--only-delimited": null,
      "--output-delimiter": text,
      "--zero-terminated": null,
    },
    operands: none,
  },
  uniq: {
    entries: "cdDiuz",
    valued: { f: plainCount, s: plainCount, w: plainCount },
    long: {
      "--count": null,
      "--repeated": null,
      "--ignore-case": null,
      "--unique": null,
      "--zero-terminated": null,
      "--skip-fields": plainCount,
      "--skip-chars": plainCount,
      "--check-chars": plainCount,
    },
    operands: none,
  },
  head: endOfStream,
  tail: endOfStream,
  tr: {
    entries: "cCdst",
    valued: {},
    long: { "--complement": null, "--delete": null, "--squeeze-repeats": null, "--truncate-set1": null },
    operands: { min: 1, max: 2, shape: /^[^\0]{1,400}$/s },
  },
  wc: {
    entries: "clLmw",
    valued: {},
    long: {
      "--bytes": null,
      "--chars": null,
      "--lines": null,
      "--words": null,
      "--max-line-length": null,
      "--total": /^(?:auto|always|only|never)$/,
    },
    operands: none,
  },
  sort: {
    entries: "bcdfghiMmnRrsuVz",
    valued: { k: /^[0-9.,bdfgiMhnRrV]{1,60}$/, t: /^(?:[^/\0]|\\0)$/s, S: /^\d{1,9}[%bKMG]?$/ },
    long: {
      "--ignore-leading-blanks": null,
      "--dictionary-order": null,
      "--ignore-case": null,
      "--general-numeric-sort": null,
      "--ignore-nonprinting": null,
      "--month-sort": null,
      "--human-numeric-sort": null,
      "--numeric-sort": null,
      "--reverse": null,
      "--version-sort": null,
      "--stable": null,
      "--unique": null,
      "--zero-terminated": null,
      "--key": /^[0-9.,bdfgiMhnRrV]{1,60}$/,
      "--field-separator": /^(?:[^/\0]|\\0)$/s,
    },
    operands: none,
  },
  grep: {
    entries: "EFGiyvwxchHnoqsabzUTZLl",
    valued: { e: text, m: plainCount, A: plainCount, B: plainCount, C: plainCount },
    long: {
      "--extended-regexp": null,
      "--fixed-strings": null,
      "--basic-regexp": null,
      "--regexp": text,
      "--ignore-case": null,
      "--no-ignore-case": null,
      "--word-regexp": null,
      "--line-regexp": null,
      "--invert-match": null,
      "--max-count": plainCount,
      "--line-buffered": null,
      "--line-number": null,
      "--only-matching": null,
      "--quiet": null,
      "--silent": null,
      "--count": null,
      "--text": null,
      "--null-data": null,
      "--after-context": plainCount,
      "--before-context": plainCount,
      "--context": plainCount,
      "--color": /^(?:auto|always|never)$/,
    },
    operands: none,
  },
};

/** A pattern as an operand could be a file, so `grep` needs `-e`. */
export const profiles: Readonly<Record<string, Profile>> = {
  ...Object.fromEntries(
    Object.entries(grammars).map(([name, grammar]) => [name, (args: readonly string[]) => fits(grammar, args)]),
  ),
  grep: (args) => grepFits(args),
  jq: (args) => jqFits(args),
};

function fits(grammar: Grammar, args: readonly string[]): boolean {
  const operands: string[] = [];
  for (let at = 0; at < args.length; at++) {
    const word = args[at] ?? "";
    if (word === "--") {
      operands.push(...args.slice(at + 1));
      break;
    }
    if (word === "-" || !word.startsWith("-")) {
      if (word !== "-" || grammar.operands.max > 0) operands.push(word);
      continue;
    }
    if (grammar.numeric === true && /^-\d{1,9}$/.test(word)) continue;
    const taken = optionTaken(grammar, word, args[at + 1]);
    if (taken === 0) return false;
    at += taken - 1;
  }
  const { max, min = 0, shape } = grammar.operands;
  return operands.length <= max && operands.length >= min && operands.every((operand) => shape.test(operand));
}

/** How many words an option takes, including itself; 0 when it is not allowed. */
function optionTaken(grammar: Grammar, word: string, next: string | undefined): 0 | 1 | 2 {
  if (word.startsWith("--")) return longTaken(grammar, word, next);
  for (let at = 1; at < word.length; at++) {
    const entry = word[at] ?? "";
    if (grammar.entries.includes(entry)) continue;
    const shape = Object.hasOwn(grammar.valued, entry) ? grammar.valued[entry] : undefined;
    if (shape === undefined) return 0;
    const rest = word.slice(at + 1);
    if (rest !== "") return shape.test(rest) ? 1 : 0;
    return next !== undefined && shape.test(next) ? 2 : 0;
  }
  return 1;
}

function longTaken(grammar: Grammar, word: string, next: string | undefined): 0 | 1 | 2 {
  const equals = word.indexOf("=");
  const name = equals < 0 ? word : word.slice(0, equals);
  const shape = Object.hasOwn(grammar.long, name) ? grammar.long[name] : undefined;
  if (shape === undefined) return 0;
  if (shape === null) return equals < 0 ? 1 : 0;
  if (equals >= 0) return shape.test(word.slice(equals + 1)) ? 1 : 0;
  // --color takes its value only after `=`; a separate word would be an operand.
  if (name === "--color" || name === "--total") return 0;
  return next !== undefined && shape.test(next) ? 2 : 0;
}

function grepFits(args: readonly string[]): boolean {
  const grammar = grammars["grep"];
  if (grammar === undefined) return false;
  const explicit = args.some((word) => /^-[A-Za-z]*e/.test(word) || /^--regexp(?:=|$)/.test(word));
  if (explicit) return fits(grammar, args);
  return fits({ ...grammar, operands: { min: 1, max: 1, shape: text } }, args);
}

const jqGrammar: Grammar = {
  entries: "cnrRjaseSCM",
  valued: {},
  long: {
    "--compact-output": null,
    "--null-input": null,
    "--raw-output": null,
    "--join-output": null,
    "--raw-input": null,
    "--slurp": null,
    "--sort-keys": null,
    "--exit-status": null,
    "--tab": null,
    "--ascii-output": null,
    "--monochrome-output": null,
    "--color-output": null,
  },
  operands: { min: 1, max: 1, shape: /^[^/~\\\0]{1,2000}$/s },
};

/** Filters may not read the environment, load modules or query the input file name. */
const jqReaches =
  /\benv\b|\$ENV|\$__prog|\bimport\b|\binclude\b|input_filename|input_line_number|\$__loc__|\bdebug\b|\bstderr\b|\bhalt|get_search_list|modulemeta|\bmodule\b/;

function jqFits(args: readonly string[]): boolean {
  // ` // ` is the alternative operator of jq; any other slash could be part of a path.
  if (
    !fits(
      jqGrammar,
      args.map((word) => word.replaceAll(" // ", " ")),
    )
  )
    return false;
  const filter = args.find((word) => !word.startsWith("-")) ?? "";
  return !jqReaches.test(filter);
}
