// What a command may use of its environment: output, environment variables, paths. Created once in bin.ts.
import { resolvePaths, type Env, type Paths } from "../base/paths.ts";
import { colored, plain, type Paint } from "./paint.ts";

export interface Io {
  readonly env: Env;
  readonly profile: string | undefined;
  readonly json: boolean;
  /** True when a person can answer: both ends are a terminal. */
  readonly interactive: boolean;
  /** Colors for stdout. */
  readonly paint: Paint;
  /** Colors for stderr. */
  readonly paintError: Paint;
  /** Columns to wrap at. */
  readonly width: number;
  /** Resolved on first use. */
  paths(): Paths;
  /** Prints lines on stdout: the result of the command. */
  print(text: string): void;
  /** Writes to stdout unchanged, without a newline. */
  write(text: string): void;
  /** Prints a line on stderr: everything except the result. */
  say(text: string): void;
}

export interface Terminal {
  readonly env: Env;
  readonly stdout: Stream;
  readonly stderr: Stream;
  readonly stdinIsTerminal: boolean;
}

interface Stream {
  readonly isTerminal: boolean;
  readonly columns: number | undefined;
  write(text: string): void;
}

export interface IoFlags {
  readonly profile: string | undefined;
  readonly json: boolean;
  readonly color: boolean;
}

const DEFAULT_WIDTH = 100;

export function createIo({ env, stdout, stderr, stdinIsTerminal }: Terminal, flags: IoFlags): Io {
  let paths: Paths | undefined;
  const mayPaint = flags.color && (env["NO_COLOR"] ?? "") === "" && env["TERM"] !== "dumb";
  return {
    env,
    profile: flags.profile,
    json: flags.json,
    interactive: stdout.isTerminal && stdinIsTerminal,
    paint: mayPaint && stdout.isTerminal ? colored : plain,
    paintError: mayPaint && stderr.isTerminal ? colored : plain,
    width: Math.max(40, stdout.columns || DEFAULT_WIDTH),
    paths: () => (paths ??= resolvePaths(env, flags.profile)),
    print: (text) => stdout.write(`${text}\n`),
    write: (text) => stdout.write(text),
    say: (text) => stderr.write(`${text}\n`),
  };
}
