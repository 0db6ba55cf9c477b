// macOS: the same view as a profile for sandbox-exec, the system's own sandbox.
import type { HostLaunch } from "../sandbox.ts";
import type { Step } from "./view.ts";

export const SANDBOX_EXEC = "/usr/bin/sandbox-exec";

/** The last rule that fits a path decides, so the steps stand in the order of their length. */
export function seatbeltProfile(steps: readonly Step[]): string {
  return [
    "(version 1)",
    "(allow default)",
    // Control of other processes of the same user would give their files.
    "(deny mach-priv-task-port)",
    ...steps.map(ruleOf),
  ].join("\n");
}

export function underSeatbelt(started: HostLaunch, steps: readonly Step[]): HostLaunch {
  const { argv0: _own, ...launch } = started;
  return { ...launch, argv: [SANDBOX_EXEC, "-p", seatbeltProfile(steps), ...launch.argv] };
}

function ruleOf({ path, does, isFolder }: Step): string {
  const filter = `(${isFolder ? "subpath" : "literal"} ${quoted(path)})`;
  if (does === "cover") return `(deny file* ${filter})`;
  if (does === "lock") return `(deny file-write-unlink (literal ${quoted(path)}))`;
  return does === "show" ? `(allow file* ${filter})` : `(allow file-read* ${filter})\n(deny file-write* ${filter})`;
}

const quoted = (path: string): string => `"${path.replaceAll("\\", "\\\\").replaceAll('"', '\\"')}"`;
