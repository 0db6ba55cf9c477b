// The contract of a box: a place where commands run and files lie. Leaves are in box/; box.cases.ts is what each must pass.

/** A command in the terms of the place it runs in: paths and variables as seen from inside. */
export interface Launch {
  /** The program and its arguments; never handed to a shell of ours. */
  readonly argv: readonly string[];
  readonly cwd: string;
  /** The whole environment of the command on the host; in a sandbox it lies over the box's own `env` and its defaults. */
  readonly env: Readonly<Record<string, string>>;
  /** True when the command gets a terminal; the caller starts the result under one. */
  readonly tty: boolean;
}

/** What to start on this machine so that a launch happens. */
export interface HostLaunch {
  readonly argv: readonly string[];
  /** What the program sees as its own name, when that is not the first of `argv`. A terminal needs bash to pass it on. */
  readonly argv0?: string;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** Open files the process gets as 3, 4, …; `release` closes ours. */
  readonly fds?: readonly number[];
  /** Called once, after the start or when it failed. */
  release?(): void;
  /** Called once the process started here is gone, however it ended; not when it could not be started. */
  gone?(): void;
  /** Resolves after `gone`: what the command left behind that a person or model must know. */
  readonly notes?: Promise<readonly string[]>;
  /** Ends what goes on inside when the process started here is gone: a container has a life of its own. */
  end?(): Promise<void>;
}

/** A host folder as commands and file tools see it. */
export interface Mount {
  readonly inside: string;
  readonly host: string;
  readonly writable: boolean;
}

export interface Sandbox {
  readonly kind: "host" | "docker" | "bubblewrap";
  /** Name for people and lists; the same settings and scope give the same name. */
  readonly name: string;
  /** The longest `inside` that fits a path decides. Empty for the host, where paths are what they are. */
  readonly mounts: readonly Mount[];
  /** Where commands start unless the call says otherwise. */
  readonly workdir: string;
  /** Configured variables: they are there inside already, under those of a launch. Undefined for the host. */
  readonly env?: Readonly<Record<string, string>>;
  /** True when commands may change the repositories of the workspace. Undefined for the host. */
  readonly gitWrite?: boolean;
  /** Builds and starts what is missing (container, set-up command), then says what to start. Throws `sandbox.*`. */
  launch(launch: Launch): Promise<HostLaunch>;
}
