// Reads the rules for one agent from an approvals file and compares their strictness. Pure; accepts unvalidated files.
import { isRecord } from "../../core/record.ts";

/** Strictest first. */
export const securities = ["deny", "allowlist", "full"] as const;
export const asks = ["always", "on-miss", "off"] as const;

type Strictness<Word> = readonly [Word, ...Word[]];

export interface AgentRule<Word> {
  readonly value: Word;
  /** The key in the file. */
  readonly source: string;
}

/** The agent's own rule, else that of `*`, else the default. An unknown value counts as the strictest one. */
export function readAgentRule<Word extends string>(
  file: unknown,
  agent: string,
  key: "security" | "ask" | "askFallback",
  order: Strictness<Word>,
): AgentRule<Word> | undefined {
  for (const { source, rules } of layersFor(file, agent)) {
    const word = rules[key];
    if (word === undefined || word === null) continue;
    return { value: order.find((known) => known === word) ?? order[0], source: `${source}.${key}` };
  }
  return undefined;
}

/** The first one wins when both are equal. */
export function stricter<Word extends string>(one: Word, other: Word | undefined, order: Strictness<Word>): Word {
  return other !== undefined && order.indexOf(other) < order.indexOf(one) ? other : one;
}

/** The rule sets that apply to this agent, the strongest first. */
export function layersFor(file: unknown, agent: string): { source: string; rules: Record<string, unknown> }[] {
  if (!isRecord(file)) return [];
  const agents = isRecord(file["agents"]) ? file["agents"] : {};
  const own = (id: string): unknown => (Object.hasOwn(agents, id) ? agents[id] : undefined);
  return [
    { source: `agents.${agent}`, rules: own(agent) },
    { source: "agents.*", rules: own("*") },
    { source: "defaults", rules: file["defaults"] },
  ].flatMap(({ source, rules }) => (isRecord(rules) ? [{ source, rules }] : []));
}
