// Runs the setup command of a sandbox once per version of its settings, before the first command.
import { spawn } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { OpenClawError } from "../../core/error.ts";
import type { HostLaunch, Launch } from "../sandbox.ts";
import type { SandboxSpec } from "./spec.ts";

export interface Setup {
  /** Throws `sandbox.setup-failed` with the end of the command's output; the next call tries again. */
  ensure(spec: SandboxSpec, prepare: (launch: Launch) => HostLaunch | Promise<HostLaunch>): Promise<void>;
}

const TIMEOUT_MS = 10 * 60_000;
const MAX_OUTPUT = 4000;

export function createSetup(): Setup {
  const pending = new Map<string, Promise<void>>();
  return {
    async ensure(spec, prepare) {
      const command = spec.container.setupCommand;
      if (command === undefined || command.trim() === "") return;
      const marker = join(spec.folder, `setup-${spec.settingsHash}`);
      if (existsSync(marker)) return;
      const running = pending.get(marker) ?? runOnce(spec, command, prepare, marker);
      pending.set(marker, running);
      try {
        await running;
      } finally {
        pending.delete(marker);
      }
    },
  };
}

async function runOnce(
  spec: SandboxSpec,
  command: string,
  prepare: (launch: Launch) => HostLaunch | Promise<HostLaunch>,
  marker: string,
): Promise<void> {
  const launch = await prepare({ argv: ["/bin/sh", "-lc", command], cwd: spec.workdir, env: {}, tty: false });
  const { code, output } = await runToEnd(launch, TIMEOUT_MS);
  if (code !== 0) {
    throw new OpenClawError(
      "sandbox.setup-failed",
      `the setup command of sandbox ${spec.name} failed (${code ?? "ended"}): ${output}`,
      {
        hint: "fix agents.defaults.sandbox.docker.setupCommand; it runs again with the next command",
      },
    );
  }
  writeFileSync(marker, "", { mode: 0o600 });
}

/** Runs a launch without input and returns its exit code and output. */
async function runToEnd(
  launch: HostLaunch,
  timeoutMs: number,
): Promise<{ readonly code: number | null; readonly output: string }> {
  const [program = "", ...args] = launch.argv;
  const child = spawn(program, args, { cwd: launch.cwd, env: launch.env, stdio: ["ignore", "pipe", "pipe"] });
  const timer = setTimeout(() => child.kill("SIGKILL"), timeoutMs);
  let output = "";
  const append = (chunk: Buffer): void => {
    output = (output + chunk.toString("utf8")).slice(-MAX_OUTPUT);
  };
  child.stdout.on("data", append);
  child.stderr.on("data", append);
  try {
    const code = await new Promise<number | null>((resolve, reject) => {
      child.once("error", reject);
      child.once("close", resolve);
    });
    return { code, output: output.trim() };
  } finally {
    clearTimeout(timer);
    launch.release?.();
    launch.gone?.();
    await launch.end?.();
  }
}
