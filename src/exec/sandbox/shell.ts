// The shell inside a box: a login shell, with directories put in front of PATH after its profile had its say.

const PREFIX = "OPENCLAW_PATH_PREFIX";
// The value never becomes part of the script (spec 2.8), and the variable does not outlive the prelude.
const prelude = `PATH="$${PREFIX}\${PATH:+:$PATH}"; export PATH; unset ${PREFIX}; `;

export interface SandboxShellRequest {
  readonly command: string;
  /** Of the call. Its PATH is put in front, like `pathPrepend`. */
  readonly env: Readonly<Record<string, string>>;
  readonly pathPrepend: readonly string[];
  /** `docker.env` of the box, whose PATH a login profile would reset. */
  readonly sandboxEnv?: Readonly<Record<string, string>> | undefined;
}

/** What to launch so that the command runs as `sh -lc` inside. */
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
