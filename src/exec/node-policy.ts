// Whether a command may go to a node: the stricter of our rules and the node's own, as its approvals file has them. Pure.
import { isRecord } from "../core/record.ts";
import { EXEC_ASK, EXEC_SECURITY, stricter, type Ask, type Security } from "./route.ts";

export interface NodeRules {
  readonly security: Security;
  readonly ask: Ask;
}

/**
 * `node` lets the node decide by its own file; `policy` tells it that ours already allow it, where its file is silent;
 * `ask` needs a person first.
 */
export type NodeVerdict = NodeRules & { readonly verdict: "node" | "policy" | "ask" | "deny"; readonly reason: string };

/** `file` is what the node sent, or undefined when it cannot be read: then nothing is taken for granted. */
export function judgeNodeRun(ours: NodeRules, file: unknown, agent: string): NodeVerdict {
  const theirs = rulesIn(file, agent);
  const security = stricter(ours.security, theirs.security, EXEC_SECURITY);
  const ask = stricter(ours.ask, theirs.ask, EXEC_ASK.toReversed());
  const say = (verdict: NodeVerdict["verdict"], reason: string): NodeVerdict => ({ security, ask, verdict, reason });
  if (security === "deny") return say("deny", "security=deny");
  if (ask === "always") return say("ask", "ask=always");
  if (security === "full")
    return theirs.known && theirs.security === undefined
      ? say("policy", "security=full")
      : say("node", "security=full");
  if (theirs.security !== "full") return say("node", "security=allowlist");
  // The node would run anything; only we hold the list back, and we cannot see its programs.
  return ask === "off" ? say("deny", "allowlist-miss") : say("ask", "allowlist-miss");
}

interface Theirs {
  readonly known: boolean;
  readonly security: Security | undefined;
  readonly ask: Ask | undefined;
}

/** The agent's own word, else that of `*`, else the default. A word nobody knows counts as the strictest. */
function rulesIn(file: unknown, agent: string): Theirs {
  if (!isRecord(file)) return { known: false, security: undefined, ask: undefined };
  const agents = isRecord(file["agents"]) ? file["agents"] : {};
  const layers = [agents[agent], agents["*"], file["defaults"]].filter(isRecord);
  const word = (name: string): unknown => layers.map((layer) => layer[name]).find((value) => value !== undefined);
  return {
    known: true,
    security: wordIn(EXEC_SECURITY, word("security"), "deny"),
    ask: wordIn(EXEC_ASK, word("ask"), "always"),
  };
}

function wordIn<Value extends string>(known: readonly Value[], given: unknown, strictest: Value): Value | undefined {
  if (given === undefined || given === null) return undefined;
  return known.find((value) => value === given) ?? strictest;
}
