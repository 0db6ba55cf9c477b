// Decides whether a command may go to a node: the stricter of our rules and the node's approvals file. Pure.
import { isRecord } from "../core/record.ts";
import { asks, readAgentRule, securities, stricter } from "./policy/agent-rules.ts";
import type { Ask, Security } from "./route.ts";

export interface NodeRules {
  readonly security: Security;
  readonly ask: Ask;
}

/**
 * `node`: the node decides by its own file. `policy`: our rules allow it and the node's file does not say otherwise.
 * `ask`: the owner must approve first.
 */
export type NodeVerdict = NodeRules & { readonly verdict: "node" | "policy" | "ask" | "deny"; readonly reason: string };

/** `file` is what the node sent; undefined when it could not be read, and then it is not trusted to allow anything. */
export function judgeNodeRun(ours: NodeRules, file: unknown, agent: string): NodeVerdict {
  const theirs = readAgentRule(file, agent, "security", securities)?.value;
  const security = stricter(ours.security, theirs, securities);
  const ask = stricter(ours.ask, readAgentRule(file, agent, "ask", asks)?.value, asks);
  const say = (verdict: NodeVerdict["verdict"], reason: string): NodeVerdict => ({ security, ask, verdict, reason });
  if (security === "deny") return say("deny", "security=deny");
  if (ask === "always") return say("ask", "ask=always");
  if (security === "full")
    return isRecord(file) && theirs === undefined ? say("policy", "security=full") : say("node", "security=full");
  if (theirs !== "full") return say("node", "security=allowlist");
  // The node would run anything, so only our allowlist restricts it, and we cannot see its programs.
  return ask === "off" ? say("deny", "allowlist-miss") : say("ask", "allowlist-miss");
}
