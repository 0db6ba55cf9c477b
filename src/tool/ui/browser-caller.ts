// Who a call of the browser tool is for, and what that agent may use.
import { tmpdir } from "node:os";
import { join } from "node:path";

import type { ControlCaller, ControlRequest } from "../../browser/control.ts";
import { allowedProfiles } from "../../browser/profiles.ts";
import { isRecord } from "../../core/record.ts";
import type { ToolCall } from "../tool.ts";

export function callerOf({ agent, session, sandboxed, config, signal, workspace }: ToolCall): ControlCaller {
  return {
    who: "agent",
    profiles: allowedProfiles(config, agent),
    session: { agent, session, sandboxed },
    // A sandboxed session does not see the temporary folder of the host.
    uploadFolders: sandboxed ? [workspace] : [workspace, tmpdir()],
    signal,
  };
}

/** Files to upload, by the name that the host knows them under: a sandboxed session calls its workspace /workspace. */
export function withHostPaths(request: ControlRequest, { workspace, inside }: ToolCall): ControlRequest {
  const { body } = request;
  if (inside === undefined || !isRecord(body) || !Array.isArray(body["paths"])) return request;
  const paths = body["paths"].map((path: unknown) =>
    typeof path === "string" && path.startsWith(`${inside}/`) ? join(workspace, path.slice(inside.length)) : path,
  );
  return { ...request, body: { ...body, paths } };
}
