// The scope key of a session's sandbox and the names derived from it.
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

/** Valid for files, containers and control groups; different keys or owners never share a slug. */
export function slugOf(scopeKey: string, owner = ""): string {
  const readable = scopeKey
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "-")
    .replaceAll(/^-|-$/g, "")
    .slice(0, 32);
  return `${readable}-${sha256(`${scopeKey}\0${owner}`).slice(0, 8)}`;
}
