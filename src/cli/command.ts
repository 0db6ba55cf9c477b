// What a command is: arguments, options, examples and what it does. Its summary is in the table (commands/index.ts).
import type { Io } from "./io.ts";

export interface Option {
  readonly type: "string" | "boolean";
  readonly description: string;
  readonly short?: string;
  /** May be repeated. Only for options with a value. */
  readonly multiple?: boolean;
  /** Placeholder for the value in the help, such as `ms`. */
  readonly value?: string;
  readonly choices?: readonly string[];
}

export type Options = Readonly<Record<string, Option>>;

export interface Argument {
  readonly name: string;
  readonly description: string;
  readonly optional?: boolean;
  /** Takes all remaining arguments. Only for the last one. */
  readonly many?: boolean;
}

export interface Example {
  /** Without the leading `openclaw`. */
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
  /** Text below the summary, where the summary is not enough. */
  readonly details?: string;
  readonly arguments?: readonly Argument[];
  readonly options?: O;
  readonly examples: readonly Example[];
  /** Meaning of the exit codes, where it differs from 0 success, 1 failure, 2 wrong usage. */
  readonly exits?: string;
  /** Resolves with the exit code. Throws OpenClawError for expected failures, UsageError for wrong usage. */
  run(io: Io, given: Invocation<O>): Promise<number>;
}

/** Identity; it exists so that `given.options` gets its types from `options`. */
export function defineCommand<const O extends Options>(command: Command<O>): Command {
  return command as Command;
}

/** A row of the command table; the rest loads when the command is used. */
export interface Entry {
  readonly path: readonly string[];
  readonly summary: string;
  load(): Promise<{ readonly command: Command }>;
}

/** Accepted by every command, before or after its name. */
export const globalOptions = {
  dev: { type: "boolean", description: "Use the profile dev (state in ~/.openclaw-dev, port 19001)." },
  profile: { type: "string", value: "name", description: "Use the state in ~/.openclaw-<name>." },
  json: { type: "boolean", description: "Print JSON instead of text." },
  "no-color": {
    type: "boolean",
    description: "Turn colors off; they are always off when the output is not a terminal.",
  },
  help: { type: "boolean", short: "h", description: "Show help and examples." },
} as const satisfies Options;

/** A mistake on the command line: exit code 2. */
export class UsageError extends Error {
  override readonly name: string = "UsageError";
  /** The command whose help is suggested, without `openclaw`. */
  readonly helpFor: readonly string[];

  constructor(message: string, helpFor: readonly string[] = []) {
    super(message);
    this.helpFor = helpFor;
  }
}
