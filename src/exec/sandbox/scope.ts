// Which box a session has: the key of its scope, and the names made from it.
import type { AgentId, SessionKey } from "../../core/names.ts";
import { sha256 } from "../../base/ids.ts";
import type { SandboxScope } from "../sandbox-settings.ts";

export interface Who {
  readonly agent: AgentId;
  readonly session: SessionKey;
}

export function scopeKeyOf(scope: SandboxScope, { agent, session }: Who): string {
  if (scope === "shared") return "shared";
  return scope === "agent" ? `agent:${agent}` : `session:${session}`;
}

/** Fit for a file, a container and a control group; two keys never share one, nor do two owners of the same key. */
export function slugOf(scopeKey: string, owner = ""): string {
  const readable = scopeKey
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "-")
    .replaceAll(/^-|-$/g, "")
    .slice(0, 32);
  return `${readable}-${sha256(`${scopeKey}\0${owner}`).slice(0, 8)}`;
}
