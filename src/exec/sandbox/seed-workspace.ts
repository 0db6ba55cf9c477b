// What a sandbox with a workspace of its own starts with: the files its agent goes by.
import { mkdirSync } from "node:fs";

import type { Log } from "../../base/log.ts";
import { sandboxPaths } from "../sandbox-paths.ts";
import type { SandboxSettings } from "../sandbox-settings.ts";
import { mirrorFiles } from "./mirror.ts";
import type { Who } from "./scope.ts";

/** An agent's private memory is not among them, nor is what only its very first turn needs. */
const seeded = ["AGENTS.md", "SOUL.md", "TOOLS.md", "IDENTITY.md", "USER.md", "HEARTBEAT.md"];

/** What is changed inside stays as it is. */
export async function seedWorkspace(
  who: Who,
  settings: SandboxSettings,
  agentWorkspace: string,
  log: Log,
): Promise<void> {
  // One for all agents would show each the files of the others.
  if (settings.workspaceAccess === "rw" || settings.scope === "shared") return;
  const { workspace } = sandboxPaths(who, settings, agentWorkspace);
  mkdirSync(workspace, { recursive: true, mode: 0o700 });
  const { passedOver } = await mirrorFiles({ from: agentWorkspace, to: workspace, names: seeded, put: "missing" });
  for (const { name, why } of passedOver)
    log.warn("a file of the agent was not put into its sandbox", { agent: who.agent, name, why });
}
