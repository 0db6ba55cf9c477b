// The display name of a session: its label, or a name made from its key.
import type { SessionRow } from "../../../src/protocol/methods/sessions.ts";

/** A session that has no message yet is shown before the gateway knows it. */
export type ShownSession = Pick<SessionRow, "key" | "updatedAt"> & Partial<SessionRow>;

type Named = Pick<SessionRow, "key" | "label" | "displayName" | "derivedTitle">;

export function titleOf({ key, label, displayName, derivedTitle }: Named): string {
  const derived = derivedTitle === key ? undefined : derivedTitle;
  return label ?? displayName ?? derived ?? titleOfKey(key);
}

/** `agent:<agent>:<rest>`; the name contains the agent only when it is not the main one. */
function titleOfKey(key: string): string {
  const [word, agent, ...rest] = key.split(":");
  if (word !== "agent" || agent === undefined || rest.length === 0) return key;
  const name = rest.join(":");
  if (name === "main") return agent === "main" ? "Main" : `Main of ${agent}`;
  const chat = /^page-([0-9a-f]{8})$/.exec(name);
  return chat === null ? name : `Session ${chat[1] ?? ""}`;
}

/** Keys are lower case; eight digits of a random id are unique enough within one agent. */
export function newSessionKey(agentId: string, id: string): string {
  return `agent:${agentId}:page-${id.slice(0, 8).toLowerCase()}`;
}

/** The last message in one line, without Markdown marks. */
export function toPreview(text: string): string {
  return text
    .replace(/```\w*|\*\*|[`#|]|^\s*>/gm, " ")
    .replace(/\s+/g, " ")
    .trim();
}
