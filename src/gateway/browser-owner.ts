// The owner as a caller of browsers: may open private addresses, and upload from the default workspace and the temporary folder.
import { tmpdir } from "node:os";

import type { ControlCaller } from "../browser/control.ts";
import { defaultAgentId, workspaceOf } from "../config/agents.ts";
import type { GatewayContext } from "./context.ts";

export function browserOwner(
  { config, paths }: Pick<GatewayContext, "config" | "paths">,
  signal: AbortSignal,
): ControlCaller {
  const workspace = workspaceOf(config(), defaultAgentId(config()), paths);
  return { who: "owner", uploadFolders: [workspace, tmpdir()], signal };
}
