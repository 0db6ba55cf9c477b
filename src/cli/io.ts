// All a command may touch of the outside: where to print, the environment, the paths. Made once in bin.ts.
import { resolvePaths, type Env, type Paths } from "../base/paths.ts";
import { coloured, plain, type Paint } from "./paint.ts";

export interface Io {
  readonly env: Env;
  readonly profile: string | undefined;
  readonly json: boolean;
  /** Somebody sits in front of it: both ends are a terminal. */
  readonly interactive: boolean;
  /** Colours for stdout. */
  readonly paint: Paint;
  /** Colours for stderr. */
  readonly paintError: Paint;
  /** Columns to wrap at. */
  readonly width: number;
  /** Resolved on first use. */
  paths(): Paths;
  /** A line (or several) on stdout: what was asked for. */
  print(text: string): void;
  /** stdout as it is, without a newline. */
  write(text: string): void;
  /** A line on stderr: everything else. */
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
    paint: mayPaint && stdout.isTerminal ? coloured : plain,
    paintError: mayPaint && stderr.isTerminal ? coloured : plain,
    width: Math.max(40, stdout.columns || DEFAULT_WIDTH),
    paths: () => (paths ??= resolvePaths(env, flags.profile)),
    print: (text) => stdout.write(`${text}\n`),
    write: (text) => stdout.write(text),
    say: (text) => stderr.write(`${text}\n`),
  };
}
