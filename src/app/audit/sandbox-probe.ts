// Does a sandbox of the configured kind start on this machine.
import { execFile } from "node:child_process";
import { promisify } from "node:util";

import type { Paths } from "../../base/paths.ts";
import type { LoadedConfig } from "../../config/load.ts";

export interface ProbeAnswer {
  readonly works: boolean;
  readonly reason?: string;
  readonly fix?: string;
}

const TIMEOUT_MS = 5000;

export async function sandboxProbe({ config }: LoadedConfig, _paths: Paths): Promise<ProbeAnswer> {
  const backend = config.agents?.defaults?.sandbox?.backend ?? "auto";
  const bubblewrap = backend === "docker" ? undefined : await tryOut("bwrap", bubblewrapTrial);
  if (bubblewrap === "") return { works: true };
  const docker =
    backend === "bubblewrap" ? undefined : await tryOut("docker", ["version", "--format", "{{.Server.Version}}"]);
  if (docker === "") return { works: true };
  return {
    works: false,
    reason: [bubblewrap, docker].filter((text) => text !== undefined).join("; "),
    fix: "sudo apt-get install bubblewrap",
  };
}

const bubblewrapTrial = ["--unshare-all", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "true"];

/** Nothing when it worked, else why not. */
async function tryOut(program: string, args: readonly string[]): Promise<string> {
  try {
    await promisify(execFile)(program, [...args], { timeout: TIMEOUT_MS });
    return "";
  } catch (error) {
    const { code, stderr } = error as { code?: unknown; stderr?: string };
    return code === "ENOENT"
      ? `${program} is not installed`
      : `${program}: ${(stderr ?? "").trim().split("\n")[0] || "failed"}`;
  }
}
