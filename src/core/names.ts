// Agent ids and session keys: syntax and parsing.
import { OpenClawError } from "./error.ts";

declare const brand: unique symbol;
export type AgentId = string & { readonly [brand]: "AgentId" };
/** Canonical: lower case, `agent:<agentId>:<rest>`, or the reserved words `global` and `unknown`. */
export type SessionKey = string & { readonly [brand]: "SessionKey" };

export const DEFAULT_AGENT = "main" as AgentId;

const agentPattern = /^[a-z0-9][a-z0-9_-]{0,63}$/;
// Printable, without spaces, slashes, backslashes or quotes: a key is a name, never a path (attack case SES-015).
const restPattern = /^[\p{L}\p{N}@+._#=!$%&*~:-]{1,200}$/u;

export function parseAgentId(raw: string): AgentId {
  const id = raw.trim().toLowerCase();
  if (agentPattern.test(id)) return id as AgentId;
  throw new OpenClawError("agent.bad-id", `not an agent id: ${JSON.stringify(raw.slice(0, 80))}`, {
    hint: "use letters, digits, - and _, starting with a letter or digit",
  });
}

export interface SessionKeyParts {
  readonly agentId: AgentId;
  /** Everything after `agent:<id>:`. */
  readonly rest: string;
}

export interface KeyContext {
  readonly defaultAgent: AgentId;
  /** `session.mainKey`, default `main`. */
  readonly mainKey: string;
}

/** Converts any accepted spelling (`main`, `agent:x:main`, legacy keys without a prefix) to the canonical key. */
export function parseSessionKey(raw: string, { defaultAgent, mainKey }: KeyContext, caller?: AgentId): SessionKey {
  const key = raw.trim().toLowerCase();
  const agent = caller ?? defaultAgent;
  if (key === "" || key === "main") return mainSessionKey(agent, mainKey);
  if (key === "global" || key === "unknown") return key as SessionKey;
  const prefixed = /^agent:([^:]*):(.*)$/su.exec(key);
  const id = prefixed === null ? agent : parseAgentId(prefixed[1] ?? "");
  const rest = prefixed === null ? key : (prefixed[2] ?? "");
  if (!restPattern.test(rest) || rest.includes("..")) {
    throw new OpenClawError("session.bad-key", `not a session key: ${JSON.stringify(raw.slice(0, 80))}`, {
      hint: "a key looks like agent:main:main; list them with: openclaw sessions",
    });
  }
  return rest === "main" ? mainSessionKey(id, mainKey) : (`agent:${id}:${rest}` as SessionKey);
}

export function mainSessionKey(agentId: AgentId, mainKey = "main"): SessionKey {
  return `agent:${agentId}:${mainKey.toLowerCase()}` as SessionKey;
}

/** Splits a canonical key; the reserved words belong to the default agent. */
export function splitSessionKey(key: SessionKey): SessionKeyParts {
  const match = /^agent:([^:]+):(.*)$/s.exec(key);
  if (match === null) return { agentId: DEFAULT_AGENT, rest: key };
  return { agentId: match[1] as AgentId, rest: match[2] ?? "" };
}

export type SessionKind = "main" | "group" | "cron" | "hook" | "node" | "other";

export function sessionKindOf(key: SessionKey, mainKey = "main"): SessionKind {
  const { rest } = splitSessionKey(key);
  if (rest === mainKey.toLowerCase() || rest === "main" || rest === "global") return "main";
  if (/(^|:)(group|channel|room):/.test(rest)) return "group";
  if (rest.startsWith("cron:")) return "cron";
  if (rest.startsWith("hook:")) return "hook";
  if (rest.startsWith("node-")) return "node";
  return "other";
}

export function isSubagentKey(key: SessionKey): boolean {
  return /(^|:)subagent:/.test(splitSessionKey(key).rest);
}

/** The group of a key: `<channel>:(group|channel|room):<id>[:thread|topic…]`. */
export function groupOfKey(key: SessionKey): { readonly channel: string; readonly id: string } | undefined {
  const match = /^([a-z0-9_-]+):(?:group|channel|room):(.+?)(?::(?:topic|thread):.*)?$/.exec(splitSessionKey(key).rest);
  return match === null ? undefined : { channel: match[1] ?? "", id: match[2] ?? "" };
}
