// A plan: what exactly would start. Made once, shown to people, compared again (docs/decisions/0014-approvals-freeze-a-plan.md).

/** A file or folder as it was when the plan was made. */
export interface Identity {
  readonly path: string;
  /** With links resolved. */
  readonly real: string;
  readonly device: string;
  readonly inode: string;
  /** For programs and scripts; folders have none. */
  readonly sha256?: string;
}

/** One program of a pipeline. */
export interface Segment {
  /** As the program receives it: unquoted, wildcards expanded, `argv[0]` as written. */
  readonly argv: readonly string[];
  readonly program: Identity;
  /** Programs that it starts in turn, when it is a wrapper such as `nice`; in `argv` they are absolute paths. */
  readonly inner?: readonly Identity[];
  /** The interpreter and options of the `#!` line, when the program that does the work is a script. */
  readonly shebang?: { readonly interpreter: Identity; readonly flags: readonly string[] };
  /** Assignments before the program: `FOO=bar ls`. */
  readonly env: Readonly<Record<string, string>>;
  readonly errors?: "joined" | "dropped";
  readonly output?: "dropped";
  /** `</dev/null`: empty input. Only for the first program of a pipeline. */
  readonly input?: "empty";
}

export interface Plan {
  /** As written. */
  readonly command: string;
  /** `pipeline` starts the segments as they are; `shell` passes the command line to a shell, only after approval. */
  readonly form: "pipeline" | "shell";
  /** For a `shell` plan: the programs that could be read; there may be others. */
  readonly segments: readonly Segment[];
  readonly cwd: Identity;
  /** Scripts and other files in the command line whose content decides what happens. */
  readonly files: readonly Identity[];
  /** Variables that the call added. */
  readonly env: Readonly<Record<string, string>>;
  /** The folders that were searched for programs. */
  readonly path: readonly string[];
  /** The shell of a `shell` plan. */
  readonly shell?: Identity;
  readonly host: "gateway" | "node";
  readonly agent: string;
  readonly session: string;
}
