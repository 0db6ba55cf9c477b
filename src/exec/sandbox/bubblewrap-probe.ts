// Tests by a real run whether bubblewrap works on this machine, and explains how to fix it.
import { execFile } from "node:child_process";

import type { AnonymousFiles } from "./anonymous-file.ts";
import { notWorking, type Works } from "./spec.ts";
import { systemArguments } from "./system-arguments.ts";

const TIMEOUT_MS = 10_000;
const PROOF = 42;

export async function probeBubblewrap(
  program: string | undefined,
  seccomp: Uint8Array | undefined,
  files: AnonymousFiles,
): Promise<Works> {
  if (process.platform !== "linux")
    return notWorking("bubblewrap runs on Linux only", "use Docker: start Docker Desktop");
  if (program === undefined) return notWorking("bubblewrap is not installed", "apt-get install bubblewrap");
  if (seccomp === undefined)
    return notWorking(`there is no system call filter for ${process.arch}`, "use the docker backend");
  const args = [
    "--unshare-all",
    "--unshare-user",
    "--disable-userns",
    "--die-with-parent",
    "--new-session",
    "--cap-drop",
    "ALL",
  ];
  const argumentsPath = files.pathOf([...args, "--uid", "1000", "--gid", "1000", ...systemArguments(), ""].join("\0"));
  const script = `exec "$0" --args 4 --seccomp 3 -- /bin/sh -c 'exit ${PROOF}' 4<"$1" 3<"$2"`;
  const { code, errors } = await run("/bin/sh", ["-c", script, program, argumentsPath, files.pathOf(seccomp)]);
  return code === PROOF ? { works: true } : explainBubblewrap(errors.trim().split("\n").at(-1) ?? "");
}

/** Explains the last line that bwrap printed. */
export function explainBubblewrap(lastLine: string): Works {
  if (/unknown option.*(disable-userns|args|perms)/i.test(lastLine)) {
    return notWorking(`this bubblewrap is too old (${lastLine})`, "install bubblewrap 0.8 or newer");
  }
  if (/namespace|uid map|user namespaces/i.test(lastLine)) {
    return notWorking(
      `this system does not let bubblewrap create namespaces (${lastLine})`,
      "allow them: sysctl -w kernel.unprivileged_userns_clone=1 (Debian), or sysctl -w kernel.apparmor_restrict_unprivileged_userns=0 or an AppArmor profile for /usr/bin/bwrap (Ubuntu)",
    );
  }
  return notWorking(
    `bubblewrap does not work here (${lastLine === "" ? "no error message" : lastLine})`,
    "run the gateway outside of a container that forbids mounts, or use Docker",
  );
}

function run(file: string, args: readonly string[]): Promise<{ code: number | undefined; errors: string }> {
  return new Promise((resolve) => {
    const child = execFile(file, args, { timeout: TIMEOUT_MS, env: {}, cwd: "/" }, (error, _out, errors) => {
      resolve({ code: error === null ? 0 : (child.exitCode ?? undefined), errors: errors || (error?.message ?? "") });
    });
  });
}
