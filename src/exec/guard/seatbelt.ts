// macOS: the same rules as a profile for sandbox-exec, the system's own sandbox.
import type { HostLaunch } from "../sandbox.ts";
import type { PathRule } from "./path-rules.ts";

export const SANDBOX_EXEC = "/usr/bin/sandbox-exec";

/** The last matching rule decides, so the rules are ordered by path length. */
export function seatbeltProfile(rules: readonly PathRule[]): string {
  return [
    "(version 1)",
    "(allow default)",
    // Controlling other processes of the same user would give access to their files.
    "(deny mach-priv-task-port)",
    ...rules.map(profileLine),
  ].join("\n");
}

export function underSeatbelt(started: HostLaunch, rules: readonly PathRule[]): HostLaunch {
  const { argv0: _own, ...launch } = started;
  return { ...launch, argv: [SANDBOX_EXEC, "-p", seatbeltProfile(rules), ...launch.argv] };
}

function profileLine({ path, access, isFolder }: PathRule): string {
  const filter = `(${isFolder ? "subpath" : "literal"} ${quoted(path)})`;
  if (access === "hide") return `(deny file* ${filter})`;
  if (access === "lock") return `(deny file-write-unlink (literal ${quoted(path)}))`;
  return access === "show" ? `(allow file* ${filter})` : `(allow file-read* ${filter})\n(deny file-write* ${filter})`;
}

const quoted = (path: string): string => `"${path.replaceAll("\\", "\\\\").replaceAll('"', '\\"')}"`;
