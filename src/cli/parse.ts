// The words behind a command: options, arguments, and exact complaints about what does not fit.
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

/** `path` is only for the messages. Throws UsageError. */
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
  for (let at = 0; at < words.length; at++) {
    const word = words[at] ?? "";
    if (word === "--") return { ...split, rest: [...split.rest, ...words.slice(at + 1)] };
    if (!isOption(word)) {
      split.rest.push(word);
      continue;
    }
    const { name, inline } = nameOf(word, known);
    const option = known[name];
    if (option === undefined) throw unknownOption(word, known, path);
    if (option.type === "boolean") {
      if (inline !== undefined) throw new UsageError(`--${name} takes no value`, path);
      split.options[name] = true;
      continue;
    }
    const value = inline ?? words[++at];
    if (value === undefined || (inline === undefined && isOption(value))) throw missingValue(name, option, path);
    keep(split.options, name, checked(name, value, option, path), option);
  }
  return split;
}

/** A lone dash and negative numbers are values. */
export function isOption(word: string): boolean {
  return word.startsWith("-") && word.length > 1 && !/^-\.?\d/.test(word);
}

function nameOf(word: string, known: Options): { readonly name: string; readonly inline: string | undefined } {
  if (word.startsWith("--")) {
    const equals = word.indexOf("=");
    return equals < 0
      ? { name: word.slice(2), inline: undefined }
      : { name: word.slice(2, equals), inline: word.slice(equals + 1) };
  }
  const entry = word.slice(1);
  const name = Object.keys(known).find((candidate) => known[candidate]?.short === entry);
  return { name: name ?? word, inline: undefined };
}

function keep(options: Split["options"], name: string, value: string, { multiple }: Option): void {
  const before = options[name];
  options[name] = multiple === true ? [...(Array.isArray(before) ? before : []), value] : value;
}

function checked(name: string, value: string, { choices }: Option, path: readonly string[]): string {
  if (choices === undefined || choices.includes(value)) return value;
  throw new UsageError(`--${name} is one of ${choices.join(", ")}, not ${JSON.stringify(value)}`, path);
}

function checkArguments(given: readonly string[], expected: readonly Argument[], path: readonly string[]): void {
  const missing = expected[given.length];
  if (missing !== undefined && missing.optional !== true)
    throw new UsageError(`missing <${missing.name}>: ${missing.description}`, path);
  const extra = given[expected.length];
  if (extra === undefined || expected.at(-1)?.many === true) return;
  const takes =
    expected.length === 0 ? "no arguments" : `at most ${expected.length} argument${expected.length === 1 ? "" : "s"}`;
  throw new UsageError(`${JSON.stringify(extra)} is too much: openclaw ${path.join(" ")} takes ${takes}`, path);
}

function unknownOption(word: string, known: Options, path: readonly string[]): UsageError {
  const name = word.replace(/=.*$/s, "");
  const near = nearest(name.replace(/^-+/, ""), Object.keys(known));
  return new UsageError(`unknown option ${name}${near === undefined ? "" : `; did you mean --${near}?`}`, path);
}

function missingValue(name: string, { value = "value" }: Option, path: readonly string[]): UsageError {
  return new UsageError(`--${name} needs a value: --${name} <${value}>`, path);
}

/** A whole number in an option, for timeouts, ports and limits. */
export function wholeNumber(
  name: string,
  given: string | undefined,
  { min, max }: { readonly min: number; readonly max: number },
): number | undefined {
  if (given === undefined) return undefined;
  const value = /^\d+$/.test(given) ? Number(given) : Number.NaN;
  if (value >= min && value <= max) return value;
  throw new UsageError(`--${name} is a whole number from ${min} to ${max}, not ${JSON.stringify(given)}`);
}
