// The types of a running command, shared by the engine and its callers.
import type { HostLaunch } from "./sandbox.ts";
import type { Leader } from "./tree.ts";

export interface RunOptions {
  /** One process per entry, each reading from the one before; their output is one stream. */
  readonly pipeline: readonly PipelinePart[];
  /** Opens a terminal of this size instead of pipes; only for a pipeline of one program. */
  readonly tty?: { readonly columns: number; readonly rows: number };
  /** Limits the whole life of the command, also in the background; undefined means no limit. */
  readonly timeoutMs?: number;
  /** Captures standard error separately; not with a terminal. */
  readonly errorsApart?: boolean;
}

export interface PipelinePart {
  readonly launch: HostLaunch;
  /** `2>&1`, `2>/dev/null`, `>/dev/null`. By default errors are captured like output. */
  readonly errors?: "joined" | "dropped";
  readonly output?: "dropped";
  /** `</dev/null`, for the first program: the command has no input. */
  readonly input?: "empty";
}

export type EndReason = "timeout" | "aborted" | "killed" | "shutdown";

export interface Exit {
  readonly code: number | null;
  readonly signal?: string;
  /** Set when we ended the command. */
  readonly reason?: EndReason;
  readonly endedAt: number;
}

/** Everything a command wrote, as safe text: a bounded part in memory, all of it in a file. */
export interface Output {
  /** Counts up to now. */
  readonly totalChars: number;
  readonly totalLines: number;
  /** The last `chars` characters at most. */
  tail(chars: number): string;
  /** What was written since the last call; `dropped` counts characters that were too many to keep. */
  drain(): { readonly text: string; readonly dropped: number };
  /** Lines `offset` … `offset + limit`, read from the file if needed; stops at about 1 MB. */
  lines(offset: number, limit: number): Promise<readonly string[]>;
  /** Removes the file. */
  discard(): Promise<void>;
}

export interface Running {
  /** The pid of the first process. */
  readonly pid: number;
  readonly startedAt: number;
  readonly tty: boolean;
  readonly output: Output;
  /** Set when the run was started with `errorsApart`. */
  readonly errors?: Output;
  /** Resolves when the bytes were written; rejects with `exec.input-closed`. */
  write(bytes: Uint8Array): Promise<void>;
  closeInput(): Promise<void>;
  /** Does what Ctrl-C or Ctrl-\\ does in a terminal: sends the signal to every process of the command. */
  interrupt(signal: "SIGINT" | "SIGQUIT"): Promise<void>;
  /** Sends TERM to the whole tree and KILL after a grace period; resolves when no process is left. */
  end(reason: EndReason): Promise<Exit>;
  /** Resolves after the last byte of output; never rejects. */
  readonly ended: Promise<Exit>;
  /** The visible screen as text. Undefined without a terminal. */
  screen(): Promise<string | undefined>;
}

/** What starting over pipes and starting in a terminal have in common. */
export interface StartedPipeline {
  /** In pipeline order. */
  readonly leaders: readonly Leader[];
  readonly tty: boolean;
  /** How the last process ended; resolves when all processes have ended and all output was read. */
  readonly finished: Promise<{ readonly code: number | null; readonly signal?: string }>;
  write(bytes: Uint8Array): Promise<void>;
  closeInput(): Promise<void>;
  /** Stops reading output, because every process that could write is gone or unreachable. */
  cutOutput(): void;
  screen(): Promise<string | undefined>;
}

/** Rejects with `exec.not-found`, `exec.not-executable`, `exec.bad-folder`, `exec.start-failed`, `exec.no-terminal`. */
export type StartRun = (options: RunOptions) => Promise<Running>;

/**
 * Starts a program that the config names: an argument list without a shell, no input, errors apart, without the gateway's
 * secrets. Rejects as `StartRun` does.
 */
export type StartProgram = (argv: readonly string[], cwd: string) => Promise<Running>;
