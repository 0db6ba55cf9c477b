// Where file tools of a sandboxed session work, on this machine. Apart from the boxes: known without any of them.
import { join } from "node:path";

import { scopeKeyOf, slugOf, type Who } from "./sandbox/scope.ts";
import type { SandboxSettings } from "./sandbox-settings.ts";

export interface SandboxPaths {
  readonly workspace: string;
  /** What the workspace is called inside. */
  readonly inside: string;
  /** There when the agent's workspace is shown read-only, at /agent. */
  readonly agentWorkspace?: string;
  /** File tools may write. */
  readonly writable: boolean;
}

export function sandboxPaths(who: Who, settings: SandboxSettings, agentWorkspace: string): SandboxPaths {
  const { workspaceAccess, workspaceRoot, scope } = settings;
  const inside = settings.docker.workdir;
  if (workspaceAccess === "rw") return { workspace: agentWorkspace, inside, writable: true };
  const workspace = join(workspaceRoot, slugOf(scopeKeyOf(scope, who)));
  // Spec 7.1: with read-only access the tools that write are off.
  return workspaceAccess === "ro"
    ? { workspace, inside, agentWorkspace, writable: false }
    : { workspace, inside, writable: true };
}
