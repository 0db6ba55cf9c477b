// The login shell inside a sandbox, with folders added before PATH after its profile has run.

const PREFIX = "OPENCLAW_PATH_PREFIX";
// The value never becomes part of the script, and the variable is unset before the command runs.
const prelude = `PATH="$${PREFIX}\${PATH:+:$PATH}"; export PATH; unset ${PREFIX}; `;

export interface SandboxShellRequest {
  readonly command: string;
  /** Variables of the call. Its PATH is added like `pathPrepend`. */
  readonly env: Readonly<Record<string, string>>;
  readonly pathPrepend: readonly string[];
  /** `docker.env` of the sandbox, whose PATH a login profile would reset. */
  readonly sandboxEnv?: Readonly<Record<string, string>> | undefined;
}

/** What to launch to run the command with `sh -lc` inside. */
export function sandboxShell({ command, env, pathPrepend, sandboxEnv }: SandboxShellRequest): {
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
} {
  const { PATH: own, ...rest } = env;
  const prefix = [...pathPrepend, ...split(own), ...split(sandboxEnv?.["PATH"])];
  if (prefix.length === 0) return { argv: ["/bin/sh", "-lc", command], env: rest };
  return {
    argv: ["/bin/sh", "-lc", prelude + command],
    env: { ...rest, [PREFIX]: [...new Set(prefix)].join(":") },
  };
}

function split(path: string | undefined): string[] {
  return (path ?? "").split(":").filter((folder) => folder !== "");
}
