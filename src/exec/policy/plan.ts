// A plan: what exactly would be started. Made once, shown to people, compared again before the start (ruling 14).

/** Something on disk, as it was when the plan was made. */
export interface Identity {
  readonly path: string;
  /** Links resolved. */
  readonly real: string;
  readonly device: string;
  readonly inode: string;
  /** Of programs and scripts; folders have none. */
  readonly sha256?: string;
}

/** One program of a pipeline. */
export interface Segment {
  /** As the program gets it: unquoted, wildcards expanded, `argv[0]` as written. */
  readonly argv: readonly string[];
  readonly program: Identity;
  /** Programs it starts in turn, when it is a wrapper such as `nice`; their words in `argv` are absolute paths. */
  readonly inner?: readonly Identity[];
  /** When the program that does the work is a script: what its `#!` line names, and the words that come with it. */
  readonly shebang?: { readonly interpreter: Identity; readonly flags: readonly string[] };
  /** Assignments in front of it: `FOO=bar ls`. */
  readonly env: Readonly<Record<string, string>>;
  readonly errors?: "joined" | "dropped";
  readonly output?: "dropped";
  /** `</dev/null`: its input ends at once. Only on the first program of a pipeline. */
  readonly input?: "empty";
}

export interface Plan {
  /** As it was written. */
  readonly command: string;
  /** `pipeline` starts the segments as they are; `shell` gives the command line to a shell, after a person said yes. */
  readonly form: "pipeline" | "shell";
  /** Of a `shell` plan: the programs that could be told, without a promise that they are all. */
  readonly segments: readonly Segment[];
  readonly cwd: Identity;
  /** Scripts and other files of the command line whose content decides what happens. */
  readonly files: readonly Identity[];
  /** What the call added to the environment. */
  readonly env: Readonly<Record<string, string>>;
  /** The folders programs were looked for in. */
  readonly path: readonly string[];
  /** The shell of a `shell` plan. */
  readonly shell?: Identity;
  readonly host: "gateway" | "node";
  readonly agent: string;
  readonly session: string;
}
