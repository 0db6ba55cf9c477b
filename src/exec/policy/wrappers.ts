// Programs that only start another program under a condition: a closed table with the exact options of each.

/** How to find the inner command in a wrapper's arguments. */
interface Wrapper {
  /** Options without a value. */
  readonly flags: readonly string[];
  /** Options whose value is attached or the next word, and its pattern. */
  readonly values: Readonly<Record<string, RegExp>>;
  /** Operands before the inner command. */
  readonly operands: readonly RegExp[];
  /** True when `NAME=value` words may come before the inner command. */
  readonly assignments?: true;
  /** Old options such as `-10`. */
  readonly numeric?: true;
}

const number = /^-?\d{1,9}$/;
const seconds = /^\d{1,9}(?:\.\d{1,9})?[smhd]?$/;
const signal = /^(?:SIG)?[A-Z0-9]{1,9}$/;
const mask = /^(?:0x)?[0-9a-fA-F,-]{1,64}$/;
const buffer = /^(?:L|\d{1,12}[KMG]?)$/;

const table: Readonly<Record<string, Wrapper>> = {
  env: { flags: [], values: {}, operands: [], assignments: true },
  nice: { flags: [], values: { "-n": number, "--adjustment": number }, operands: [], numeric: true },
  nohup: { flags: [], values: {}, operands: [] },
  setsid: { flags: ["-w", "--wait"], values: {}, operands: [] },
  stdbuf: {
    flags: [],
    values: { "-i": buffer, "-o": buffer, "-e": buffer, "--input": buffer, "--output": buffer, "--error": buffer },
    operands: [],
  },
  time: { flags: ["-p", "-v", "--portability", "--verbose"], values: {}, operands: [] },
  timeout: {
    flags: ["--foreground", "--preserve-status", "-v", "--verbose"],
    values: { "-s": signal, "--signal": signal, "-k": seconds, "--kill-after": seconds },
    operands: [seconds],
  },
  ionice: {
    flags: ["-t", "--ignore"],
    values: { "-c": /^[0-3]$/, "-n": /^[0-7]$/, "--class": /^[0-3]$/, "--classdata": /^[0-7]$/ },
    operands: [],
  },
  chrt: { flags: ["-b", "-i", "-o", "--batch", "--idle", "--other"], values: {}, operands: [/^0$/] },
  taskset: { flags: ["-c", "--cpu-list"], values: {}, operands: [mask] },
};

export const wrappers: ReadonlyMap<string, Wrapper> = new Map(Object.entries(table));

/** `env` alone starts no program: it prints the variables, and none of them is a secret. */
export const onlyPrints = (name: string, words: number): boolean => name === "env" && words === 1;

export interface Unwrapped {
  /** The index in the arguments where the inner command starts. */
  readonly at: number;
  readonly env: Readonly<Record<string, string>>;
}

/** Undefined when the arguments are not in the table, so that it is unknown what starts. */
export function unwrap(name: string, argv: readonly string[]): Unwrapped | undefined {
  const wrapper = wrappers.get(name);
  if (wrapper === undefined) return undefined;
  const afterOptions = skipOptions(wrapper, argv);
  if (afterOptions === undefined) return undefined;
  const env: Record<string, string> = {};
  let at = afterOptions;
  for (; wrapper.assignments === true; at++) {
    const assignment = /^([A-Za-z_][A-Za-z0-9_]*)=(.*)$/s.exec(argv[at] ?? "");
    if (assignment === null) break;
    env[assignment[1] ?? ""] = assignment[2] ?? "";
  }
  for (const operand of wrapper.operands) {
    if (!operand.test(argv[at] ?? "")) return undefined;
    at++;
  }
  const inner = argv[at];
  if (inner === undefined || inner === "" || inner.startsWith("-") || inner.includes("=")) return undefined;
  return { at, env };
}

function skipOptions(wrapper: Wrapper, argv: readonly string[]): number | undefined {
  let at = 1;
  while (at < argv.length) {
    const word = argv[at] ?? "";
    if (word === "--") return at + 1;
    if (!word.startsWith("-") || word === "-") return word === "-" ? undefined : at;
    const taken = optionLength(wrapper, word, argv[at + 1]);
    if (taken === 0) return undefined;
    at += taken;
  }
  return at;
}

/** How many words the option takes; 0 when it is not in the table. */
function optionLength(wrapper: Wrapper, word: string, next: string | undefined): 0 | 1 | 2 {
  if (wrapper.flags.includes(word) || (wrapper.numeric === true && /^-\d{1,2}$/.test(word))) return 1;
  const alone = wrapper.values[word];
  if (alone !== undefined) return next !== undefined && alone.test(next) ? 2 : 0;
  const long = /^(--[a-z-]+)=(.*)$/s.exec(word);
  const joined = long === null ? /^(-[a-zA-Z])(.+)$/s.exec(word) : long;
  const shape = wrapper.values[joined?.[1] ?? ""];
  return shape !== undefined && shape.test(joined?.[2] ?? "") ? 1 : 0;
}
