// The folders where the file tools of a sandboxed session work; known without opening the sandbox.
import { join } from "node:path";

import { scopeKeyOf, slugOf, type Who } from "./sandbox/scope.ts";
import type { SandboxSettings } from "./sandbox-settings.ts";

export interface SandboxPaths {
  readonly workspace: string;
  /** The path of the workspace inside the sandbox. */
  readonly inside: string;
  /** Set when the agent's workspace is shown read-only at /agent. */
  readonly agentWorkspace?: string;
  /** True when file tools may write. */
  readonly writable: boolean;
}

export function sandboxPaths(who: Who, settings: SandboxSettings, agentWorkspace: string): SandboxPaths {
  const { workspaceAccess, workspaceRoot, scope } = settings;
  const inside = settings.docker.workdir;
  if (workspaceAccess === "rw") return { workspace: agentWorkspace, inside, writable: true };
  const workspace = join(workspaceRoot, slugOf(scopeKeyOf(scope, who)));
  // With read-only access the tools that write are not available.
  return workspaceAccess === "ro"
    ? { workspace, inside, agentWorkspace, writable: false }
    : { workspace, inside, writable: true };
}
