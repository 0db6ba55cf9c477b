// What an approvals file says for one agent, and which of two words is the stricter. Pure; the file may be another machine's, unchecked.
import { isRecord } from "../../core/record.ts";

/** Strictest first. */
export const securities = ["deny", "allowlist", "full"] as const;
export const asks = ["always", "on-miss", "off"] as const;

type Order<Word> = readonly [Word, ...Word[]];

export interface Said<Word> {
  readonly value: Word;
  /** The place in the file. */
  readonly source: string;
}

/** The agent's own word, else that of `*`, else the default. A word nobody knows is the strictest: somebody meant something by it. */
export function saidFor<Word extends string>(
  file: unknown,
  agent: string,
  key: "security" | "ask" | "askFallback",
  order: Order<Word>,
): Said<Word> | undefined {
  for (const { source, rules } of layersFor(file, agent)) {
    const word = rules[key];
    if (word === undefined || word === null) continue;
    return { value: order.find((known) => known === word) ?? order[0], source: `${source}.${key}` };
  }
  return undefined;
}

/** The first wins among equals. */
export function stricter<Word extends string>(one: Word, other: Word | undefined, order: Order<Word>): Word {
  return other !== undefined && order.indexOf(other) < order.indexOf(one) ? other : one;
}

/** Those that have a say for this agent, the one that counts most first. */
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
