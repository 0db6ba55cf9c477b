// Which session a message may go to: checks the rights to the key before whether the session exists.
import {
  mainSessionKey,
  parseAgentId,
  parseSessionKey,
  sessionKindOf,
  splitSessionKey,
  type SessionKey,
} from "../../core/names.ts";
import { visible } from "../../core/visible.ts";
import { agentIds, defaultAgentId, mainKeyOf } from "../../config/agents.ts";
import type { Config } from "../../config/schema/index.ts";
import { sendDecision } from "../../session/send-policy.ts";
import { newSession } from "../../session/session.ts";
import type { SendRequest } from "../../session/session-messages.ts";
import { isListed, mayCross, maySee } from "../../session/visibility.ts";
import type { Store } from "../../store/store.ts";
import { stepSession, type Exchange } from "./steps.ts";

export type Target = { readonly key: SessionKey } | { readonly status: "forbidden" | "error"; readonly error: string };

/** Naming a key grants no access, and creates at most the main session of an agent. */
export async function findTarget(
  { from, to, label, agentId }: Pick<SendRequest, "from" | "to" | "label" | "agentId">,
  config: Config,
  sessions: Store["sessions"],
): Promise<Target> {
  if (to !== undefined) return byKey(from, to, config, sessions);
  if (label !== undefined) return byLabel(from, label, agentId, config, sessions);
  return byKey(from, mainSessionKey(parseAgentId(agentId ?? from.agent), mainKeyOf(config)), config, sessions);
}

/** Labels are not unique: exactly one session that the sender may see must have it. */
async function byLabel(
  from: SendRequest["from"],
  label: string,
  agentId: string | undefined,
  config: Config,
  sessions: Store["sessions"],
): Promise<Target> {
  const agent = agentId === undefined ? {} : { agentId: parseAgentId(agentId) };
  const labeled = await sessions.list({ label, ...agent, limit: 50 });
  const [only, ...more] = labeled.filter((target) => target.key !== from.session && maySee(from, target, config));
  if (only === undefined)
    return {
      status: "error",
      error: `no session has the label "${visible(label, 100)}"; sessions_list shows the labels`,
    };
  if (more.length === 0) return byKey(from, only.key, config, sessions);
  const keys = [only, ...more].slice(0, 10).map(({ key }) => key);
  return { status: "error", error: `several sessions have that label; give sessionKey instead: ${keys.join(", ")}` };
}

async function byKey(
  from: SendRequest["from"],
  to: string,
  config: Config,
  sessions: Store["sessions"],
): Promise<Target> {
  const context = { defaultAgent: defaultAgentId(config), mainKey: mainKeyOf(config) };
  const key = parseSessionKey(to, context, from.agent);
  const record = (await sessions.get(key)) ?? (await sessions.byId(to.trim()));
  const target = record ?? newSession(key, 0);
  if (target.key === from.session)
    return { status: "error", error: "a session cannot send to itself; reply in this conversation instead" };
  if (!maySee(from, target, config))
    return {
      status: "forbidden",
      error: `${from.session} may not write to ${target.key}: ${whyNot(from, target.key, config)}`,
    };
  if (record === undefined && !isMainOfAgent(key, config))
    return { status: "error", error: `session not found: ${to.slice(0, 200)}; sessions_list lists the sessions` };
  if (sendDecision(target.key, record, config) === "deny")
    return { status: "forbidden", error: `sending to ${target.key} is denied (session.sendPolicy)` };
  return { key: target.key };
}

function isMainOfAgent(key: SessionKey, config: Config): boolean {
  return sessionKindOf(key, mainKeyOf(config)) === "main" && agentIds(config).includes(splitSessionKey(key).agentId);
}

function whyNot({ agent }: SendRequest["from"], to: SessionKey, config: Config): string {
  if (to === "global" || to === "unknown") return "it is not a session of an agent";
  const other = splitSessionKey(to).agentId;
  if (agent === other || mayCross(agent, other, config)) return "it may write only to sessions it started";
  const { enabled, allow = [] } = config.tools?.agentToAgent ?? {};
  if (enabled !== true) return "tools.agentToAgent.enabled is not true; only the owner can change that";
  const missing = [agent, other].filter((id) => !isListed(id, allow));
  return `tools.agentToAgent.allow does not list ${missing.join(" and ")}; only the owner can add ${missing.length === 1 ? "it" : "them"}`;
}

/** Limit of open exchanges per session, so that agents that message each other come to an end. */
const MAX_OPEN = 20;

/** Limit of nested exchanges, so that agents that forward a message in a circle come to an end. */
const MAX_DEPTH = 6;

/** The depth of an exchange that this session starts now: one more than the deepest in which it is asked. */
export function depthOf(from: SessionKey, exchanges: readonly Exchange[]): number {
  return (
    1 + Math.max(0, ...exchanges.filter((exchange) => stepSession(exchange) === from).map(({ depth = 1 }) => depth))
  );
}

/** Why a new exchange is refused: a session that is asked answers in its reply, because a new message would be a circle. */
export function refusalOf(from: SessionKey, to: SessionKey, exchanges: readonly Exchange[]): string | undefined {
  if (exchanges.some(({ requester, target }) => requester === to && target === from))
    return `${to} already exchanges messages with you: your reply reaches it`;
  const depth = depthOf(from, exchanges);
  if (depth > MAX_DEPTH)
    return `this message already passed through ${depth - 1} exchanges; answer in your reply instead of forwarding it`;
  const count = exchanges.filter(({ requester }) => requester === from).length;
  return count < MAX_OPEN ? undefined : `this session has ${count} open exchanges; wait until they end`;
}
