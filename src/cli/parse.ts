// Parses the options and arguments of a command, with an exact message for each mistake.
import { parseArgs } from "node:util";

import { nearest } from "../core/nearest.ts";
import {
  globalOptions,
  UsageError,
  type Argument,
  type Command,
  type Invocation,
  type Option,
  type Options,
} from "./command.ts";

/** Throws UsageError; `path` names the command in its message. */
export function parseWords(words: readonly string[], command: Command, path: readonly string[]): Invocation {
  const known: Options = { ...command.options, ...globalOptions };
  const { options, rest } = splitWords(words, known, path);
  checkArguments(rest, command.arguments ?? [], path);
  return { options: options as Invocation["options"], arguments: rest };
}

interface Split {
  readonly options: Record<string, string | boolean | string[]>;
  readonly rest: string[];
}

function splitWords(words: readonly string[], known: Options, path: readonly string[]): Split {
  const split: Split = { options: {}, rest: [] };
  const { tokens } = parseArgs({ args: [...words], options: known, strict: false, tokens: true });
  let numberAt = -1;
  for (const token of tokens) {
    const word = words[token.index] ?? "";
    if (token.kind === "positional") split.rest.push(token.value);
    if (token.kind !== "option" || token.index === numberAt) continue;
    // The tokenizer reads -100 as a group of short options.
    if (!isOption(word)) {
      numberAt = token.index;
      split.rest.push(word);
      continue;
    }
    const { name, value, inlineValue } = token;
    const option = known[name];
    if (option === undefined) throw unknownOption(word, known, path);
    if (option.type === "boolean") {
      if (value !== undefined) throw new UsageError(`--${name} takes no value`, path);
      split.options[name] = true;
      continue;
    }
    if (value === undefined || (!inlineValue && isOption(value))) throw missingValue(name, option, path);
    keep(split.options, name, checked(name, value, option, path), option);
  }
  return split;
}

/** A lone dash and negative numbers are values. */
export function isOption(word: string): boolean {
  return word.startsWith("-") && word.length > 1 && !/^-\.?\d/.test(word);
}

function keep(options: Split["options"], name: string, value: string, { multiple }: Option): void {
  const before = options[name];
  options[name] = multiple === true ? [...(Array.isArray(before) ? before : []), value] : value;
}

function checked(name: string, value: string, { choices }: Option, path: readonly string[]): string {
  if (choices === undefined || choices.includes(value)) return value;
  throw new UsageError(`--${name} must be one of ${choices.join(", ")}, not ${JSON.stringify(value)}`, path);
}

function checkArguments(given: readonly string[], expected: readonly Argument[], path: readonly string[]): void {
  const missing = expected[given.length];
  if (missing !== undefined && missing.optional !== true)
    throw new UsageError(`missing <${missing.name}>: ${missing.description}`, path);
  const extra = given[expected.length];
  if (extra === undefined || expected.at(-1)?.many === true) return;
  const takes =
    expected.length === 0 ? "no arguments" : `at most ${expected.length} argument${expected.length === 1 ? "" : "s"}`;
  throw new UsageError(
    `unexpected argument: ${JSON.stringify(extra)}; openclaw ${path.join(" ")} takes ${takes}`,
    path,
  );
}

function unknownOption(word: string, known: Options, path: readonly string[]): UsageError {
  const name = word.replace(/=.*$/s, "");
  const near = nearest(name.replace(/^-+/, ""), Object.keys(known));
  return new UsageError(`unknown option ${name}${near === undefined ? "" : `; did you mean --${near}?`}`, path);
}

function missingValue(name: string, { value = "value" }: Option, path: readonly string[]): UsageError {
  return new UsageError(`--${name} needs a value: --${name} <${value}>`, path);
}

/** Parses a whole number in an option, for timeouts, ports and limits. */
export function wholeNumber(
  name: string,
  given: string | undefined,
  { min, max }: { readonly min: number; readonly max: number },
): number | undefined {
  if (given === undefined) return undefined;
  const value = /^\d+$/.test(given) ? Number(given) : Number.NaN;
  if (value >= min && value <= max) return value;
  throw new UsageError(`--${name} must be a whole number from ${min} to ${max}, not ${JSON.stringify(given)}`);
}
