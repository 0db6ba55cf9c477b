// Copies the agent's instruction files into a sandbox that has its own workspace.
import { mkdirSync } from "node:fs";

import type { Log } from "../../base/log.ts";
import { sandboxPaths } from "../sandbox-paths.ts";
import type { SandboxSettings } from "../sandbox-settings.ts";
import { mirrorFiles } from "./mirror.ts";
import type { Who } from "./scope.ts";

/** Excludes private memory and files that only the first turn needs. */
const seeded = ["AGENTS.md", "SOUL.md", "TOOLS.md", "IDENTITY.md", "USER.md", "HEARTBEAT.md"];

/** Files changed inside stay as they are. */
export async function seedWorkspace(
  who: Who,
  settings: SandboxSettings,
  agentWorkspace: string,
  log: Log,
): Promise<void> {
  // In a shared sandbox each agent would see the files of the others.
  if (settings.workspaceAccess === "rw" || settings.scope === "shared") return;
  const { workspace } = sandboxPaths(who, settings, agentWorkspace);
  mkdirSync(workspace, { recursive: true, mode: 0o700 });
  const { passedOver } = await mirrorFiles({ from: agentWorkspace, to: workspace, names: seeded, put: "missing" });
  for (const { name, why } of passedOver)
    log.warn("a file of the agent was not copied into its sandbox", { agent: who.agent, name, why });
}
