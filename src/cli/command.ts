// What a command is: its words for people, its arguments and options, and what it does. Each lives in a file of its own.
import type { Io } from "./io.ts";

export interface Option {
  readonly type: "string" | "boolean";
  readonly description: string;
  readonly short?: string;
  /** May be given several times. Only for options with a value. */
  readonly multiple?: boolean;
  /** What stands for the value in the help, such as `ms`. */
  readonly value?: string;
  readonly choices?: readonly string[];
}

export type Options = Readonly<Record<string, Option>>;

export interface Argument {
  readonly name: string;
  readonly description: string;
  readonly optional?: boolean;
  /** Takes all that is left. Only for the last one. */
  readonly many?: boolean;
}

export interface Example {
  /** Without the `openclaw` in front. */
  readonly line: string;
  readonly does: string;
}

type Given<O extends Option> = O extends { type: "boolean" }
  ? boolean
  : O extends { multiple: true }
    ? string[]
    : string;

export interface Invocation<O extends Options = Options> {
  /** By option name; absent when not given. */
  readonly options: { readonly [Name in keyof O]?: Given<O[Name]> };
  readonly arguments: readonly string[];
}

export interface Command<O extends Options = Options> {
  readonly summary: string;
  /** Lines below the summary, where the summary is not enough. */
  readonly details?: string;
  readonly arguments?: readonly Argument[];
  readonly options?: O;
  readonly examples: readonly Example[];
  /** What the exit codes mean, where they say more than 0 well, 1 failed, 2 wrong usage. */
  readonly exits?: string;
  /** Resolves with the exit code. Throws HouseError for expected failures, UsageError for wrong words. */
  run(io: Io, given: Invocation<O>): Promise<number>;
}

/** Identity; it exists so that `given.options` gets its types from `options`. */
export function defineCommand<const O extends Options>(command: Command<O>): Command {
  return command as unknown as Command;
}

/** The row of a command in the table: enough for the help of the root and for completion to find the rest. */
export interface Entry {
  readonly path: readonly string[];
  readonly summary: string;
  load(): Promise<{ readonly command: Command }>;
}

/** Understood by every command, before or behind its name. */
export const globalOptions = {
  dev: { type: "boolean", description: "Use the profile dev (state in ~/.openclaw-dev, port 19001)." },
  profile: { type: "string", value: "name", description: "Use the state in ~/.openclaw-<name>." },
  json: { type: "boolean", description: "Print data for programs instead of text for people." },
  "no-color": { type: "boolean", description: "No colours; they are off anyway when the output is not a terminal." },
  help: { type: "boolean", short: "h", description: "Show help and examples." },
} as const satisfies Options;

/** The caller wrote something we do not understand: exit code 2. */
export class UsageError extends Error {
  override readonly name: string = "UsageError";
  /** The command to look up, without `openclaw`. */
  readonly helpFor: readonly string[];

  constructor(message: string, helpFor: readonly string[] = []) {
    super(message);
    this.helpFor = helpFor;
  }
}
