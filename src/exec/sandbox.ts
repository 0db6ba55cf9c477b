// The contract of a sandbox. The backends are in sandbox/; sandbox.cases.ts holds the tests that each must pass.
import type { SandboxBackend } from "../core/sandbox-backend.ts";

/** A command as seen from inside: paths and variables of the place it runs in. */
export interface Launch {
  /** The program and its arguments; never passed to a shell of ours. */
  readonly argv: readonly string[];
  readonly cwd: string;
  /** The complete environment on the host; in a sandbox it is added to the sandbox's own `env` and defaults. */
  readonly env: Readonly<Record<string, string>>;
  /** True when the command gets a terminal; the caller starts the result in one. */
  readonly tty: boolean;
}

/** What to start on this machine to run a launch. */
export interface HostLaunch {
  readonly argv: readonly string[];
  /** The program's argv[0] when it differs from the first of `argv`. A terminal needs bash to pass it on. */
  readonly argv0?: string;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** Open files that the process gets as 3, 4, …; `release` closes ours. */
  readonly fds?: readonly number[];
  /** Called once, after the start or when it failed. */
  release?(): void;
  /** Called once when the started process is gone, however it ended; not called when it could not be started. */
  gone?(): void;
  /** Resolves after `gone` with notes about what the command left behind. */
  readonly notes?: Promise<readonly string[]>;
  /** Ends what still runs inside after the started process is gone, since a container lives on. */
  end?(): Promise<void>;
}

/** A host folder and where it appears inside. */
export interface Mount {
  readonly inside: string;
  readonly host: string;
  readonly writable: boolean;
}

export interface Sandbox {
  readonly kind: "host" | SandboxBackend;
  /** The name shown to people; the same settings and scope give the same name. */
  readonly name: string;
  /** The longest matching `inside` decides. Empty for the host. */
  readonly mounts: readonly Mount[];
  /** The default working directory. */
  readonly workdir: string;
  /** Configured variables; those of a launch override them. Undefined for the host. */
  readonly env?: Readonly<Record<string, string>>;
  /** True when commands may change the repositories of the workspace. Undefined for the host. */
  readonly gitWrite?: boolean;
  /** Builds and starts what is missing (container, setup command) and returns what to start. Throws `sandbox.*`. */
  launch(launch: Launch): Promise<HostLaunch>;
}
