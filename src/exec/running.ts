// A command under way: what the engine gives to whoever started it.
import type { HostLaunch } from "./sandbox.ts";
import type { Leader } from "./tree.ts";

export interface RunOptions {
  /** One process per entry, each fed by the one before; their output is one stream. */
  readonly pipeline: readonly PipelinePart[];
  /** A terminal of this size instead of pipes; only for a pipeline of one. */
  readonly tty?: { readonly columns: number; readonly rows: number };
  /** The whole life of the command, in the background too; undefined means no limit. */
  readonly timeoutMs?: number;
  /** Standard error as an output of its own; not with a terminal. */
  readonly errorsApart?: boolean;
}

export interface PipelinePart {
  readonly launch: HostLaunch;
  /** `2>&1`, `2>/dev/null`, `>/dev/null`; without one, errors come out like output and output goes on. */
  readonly errors?: "joined" | "dropped";
  readonly output?: "dropped";
  /** `</dev/null`, of the first one: nothing can be written to the command. */
  readonly input?: "empty";
}

export type EndReason = "timeout" | "aborted" | "killed" | "shutdown";

export interface Exit {
  readonly code: number | null;
  readonly signal?: string;
  /** There when we ended it. */
  readonly reason?: EndReason;
  readonly endedAt: number;
}

/** Everything a command wrote, as safe text: a bounded ring in memory, all of it in a file. */
export interface Output {
  /** Characters and lines so far. */
  readonly totalChars: number;
  readonly totalLines: number;
  /** The end of what was written, at most `chars` characters. */
  tail(chars: number): string;
  /** What came since the last call; `dropped` counts characters that were too many to keep for it. */
  drain(): { readonly text: string; readonly dropped: number };
  /** Lines `offset` … `offset + limit`, from the file if need be; fewer when they come to more than 1 MB. */
  lines(offset: number, limit: number): Promise<readonly string[]>;
  /** Removes the file. */
  discard(): Promise<void>;
}

export interface Running {
  /** Of the first process. */
  readonly pid: number;
  readonly startedAt: number;
  readonly tty: boolean;
  readonly output: Output;
  /** There when it was asked for with `errorsApart`. */
  readonly errors?: Output;
  /** Resolves when the bytes were taken; rejects with `exec.input-closed`. */
  write(bytes: Uint8Array): Promise<void>;
  closeInput(): Promise<void>;
  /** What Ctrl-C or Ctrl-\\ does in a terminal: the signal goes to every process of the command. */
  interrupt(signal: "SIGINT" | "SIGQUIT"): Promise<void>;
  /** TERM to the whole tree, KILL after a grace time; resolves when nothing of it is left. */
  end(reason: EndReason): Promise<Exit>;
  /** Resolves after the last byte of output; never rejects. */
  readonly ended: Promise<Exit>;
  /** What a person would see now. Undefined without a terminal. */
  screen(): Promise<string | undefined>;
}

/** What the two ways of starting have in common. */
export interface StartedPipeline {
  /** In the order of the pipeline. */
  readonly leaders: readonly Leader[];
  readonly tty: boolean;
  /** How the last process ended; resolves when all have, and every byte is in. */
  readonly finished: Promise<{ readonly code: number | null; readonly signal?: string }>;
  write(bytes: Uint8Array): Promise<void>;
  closeInput(): Promise<void>;
  /** Waits no longer for output: everybody who could write is gone, or out of reach. */
  cutOutput(): void;
  screen(): Promise<string | undefined>;
}

/** Rejects with `exec.not-found`, `exec.not-executable`, `exec.bad-folder`, `exec.start-failed`, `exec.no-terminal`. */
export type StartRun = (options: RunOptions) => Promise<Running>;
