// Whom a session may write to: asked of the key first, and only then whether there is such a session.
import { parseSessionKey, sessionKindOf, splitSessionKey, type SessionKey } from "../../core/names.ts";
import { agentIds, defaultAgentId, mainKeyOf } from "../../config/agents.ts";
import type { Config } from "../../config/schema/index.ts";
import { sendDecision } from "../../session/send-policy.ts";
import { newSession } from "../../session/session.ts";
import type { SendWish } from "../../session/talks.ts";
import { maySee } from "../../session/visibility.ts";
import type { Store } from "../../store/store.ts";
import { speakerOf, type Talk } from "./steps.ts";

export type Target = { readonly key: SessionKey } | { readonly status: "forbidden" | "error"; readonly error: string };

/** Keys are routing, not authority: naming one opens nothing, and makes nothing but the main session of an agent. */
export async function findTarget(
  { from, to }: Pick<SendWish, "from" | "to">,
  config: Config,
  sessions: Store["sessions"],
): Promise<Target> {
  const context = { defaultAgent: defaultAgentId(config), mainKey: mainKeyOf(config) };
  const key = parseSessionKey(to, context, from.agent);
  const record = (await sessions.get(key)) ?? (await sessions.byId(to.trim()));
  const target = record ?? newSession(key, 0);
  if (target.key === from.session) return { status: "error", error: "a session cannot send to itself" };
  if (!maySee(from, target, config))
    return {
      status: "forbidden",
      error: `${from.session} may not write to ${target.key}: ${whyNot(from, target.key, config)}`,
    };
  if (record === undefined && !isMainOfAgent(key, config))
    return { status: "error", error: `session not found: ${to.slice(0, 200)}; sessions_list shows those there are` };
  if (sendDecision(target.key, record, config) === "deny")
    return { status: "forbidden", error: `sending to ${target.key} is denied (session.sendPolicy)` };
  return { key: target.key };
}

function isMainOfAgent(key: SessionKey, config: Config): boolean {
  return sessionKindOf(key, mainKeyOf(config)) === "main" && agentIds(config).includes(splitSessionKey(key).agentId);
}

function whyNot({ agent }: SendWish["from"], to: SessionKey, config: Config): string {
  if (to === "global" || to === "unknown") return "it is no session of an agent";
  if (agent === splitSessionKey(to).agentId) return "it may write only to sessions it started";
  if (config.tools?.agentToAgent?.enabled !== true) return "tools.agentToAgent.enabled is not true";
  return "tools.agentToAgent.allow does not name both agents, or it may write only to sessions it started";
}

/** Of one session at a time: agents that answer each other by writing anew must come to an end. */
const MAX_OPEN = 20;

/** So many talks may come out of each other: three agents that pass a message on in a circle must come to an end. */
const MAX_DEPTH = 6;

/** How deep a talk that this session begins now would be: one more than the deepest in which it is being asked. */
export function depthOf(from: SessionKey, talks: readonly Talk[]): number {
  return 1 + Math.max(0, ...talks.filter((talk) => speakerOf(talk) === from).map(({ depth = 1 }) => depth));
}

/** Whoever is being written to answers in its reply, not with a message of its own: that is the way out of a circle. */
export function crowded(from: SessionKey, to: SessionKey, talks: readonly Talk[]): string | undefined {
  if (talks.some(({ requester, target }) => requester === to && target === from))
    return `${to} is talking with you already: your reply reaches it`;
  const depth = depthOf(from, talks);
  if (depth > MAX_DEPTH)
    return `this message came through ${depth - 1} talks already; answer in your reply instead of passing it on`;
  const count = talks.filter(({ requester }) => requester === from).length;
  return count < MAX_OPEN ? undefined : `${count} talks of this session are still open; wait for them to end`;
}
