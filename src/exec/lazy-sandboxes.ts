// Sandboxes whose code loads with the first use; paths are known without it.
import { forwardTo, lazy } from "../base/lazy.ts";
import { sandboxPaths } from "./sandbox-paths.ts";
import { sandboxSettings } from "./sandbox-settings.ts";
import type { Sandboxes, SandboxesDeps } from "./sandboxes.ts";

export function createLazySandboxes(deps: SandboxesDeps): Sandboxes {
  const opening = lazy<Sandboxes>(async () => (await import("./sandboxes.ts")).createSandboxes(deps));
  return {
    ...forwardTo(opening.get, "of", "browserOf", "list", "recreate", "prune"),
    pathsOf: (who) =>
      sandboxPaths(who, sandboxSettings(deps.config(), who.agent, deps.paths), deps.workspaceOf(who.agent)),
    close: async () => (await opening.opened())?.close(),
  };
}
