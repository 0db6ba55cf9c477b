// Calls the docker program with the gateway's Docker settings and no other variables.
import { execFile } from "node:child_process";
import { delimiter } from "node:path";

import type { Env } from "../../base/paths.ts";
import { findProgram } from "../find-program.ts";

export interface DockerCli {
  /** An absolute path; undefined when docker is not installed. */
  readonly program: string | undefined;
  readonly env: Readonly<Record<string, string>>;
  run(
    args: readonly string[],
    timeoutMs?: number,
  ): Promise<{ readonly code: number; readonly out: string; readonly errors: string }>;
}

const TIMEOUT_MS = 60_000;
const passedOn = [
  "PATH",
  "HOME",
  "XDG_RUNTIME_DIR",
  "DOCKER_HOST",
  "DOCKER_CONTEXT",
  "DOCKER_CONFIG",
  "DOCKER_TLS_VERIFY",
  "DOCKER_CERT_PATH",
];

export function createDockerCli(gatewayEnv: Env): DockerCli {
  const folders = (gatewayEnv["PATH"] ?? "/usr/local/bin:/usr/bin:/bin").split(delimiter);
  const program = findProgram("docker", folders);
  const env = Object.fromEntries(
    passedOn.flatMap((name): [string, string][] => {
      const value = gatewayEnv[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );
  return {
    program,
    env,
    run: (args, timeoutMs = TIMEOUT_MS) =>
      new Promise((resolve) => {
        const child = execFile(
          program ?? "docker",
          args,
          { env, timeout: timeoutMs, maxBuffer: 16 * 2 ** 20 },
          (error, out, errors) => {
            resolve({
              code: error === null ? 0 : (child.exitCode ?? 1),
              out,
              errors: errors || (error?.message ?? ""),
            });
          },
        );
      }),
  };
}
