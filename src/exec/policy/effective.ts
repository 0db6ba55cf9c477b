// Computes the rules for one agent on this host: the stricter of the requested values and the approvals file.
import type { Ask, Security } from "../route.ts";
import type { ApprovalsFile } from "./file.ts";
import { asks, layersFor, readAgentRule, securities, stricter, type AgentRule } from "./agent-rules.ts";

type AgentRules = NonNullable<ApprovalsFile["agents"]>[string];
export type AllowEntry = NonNullable<AgentRules["allowlist"]>[number];

/** An entry and its position in the file. */
export interface EntryRef {
  readonly agent: string;
  readonly index: number;
  readonly pattern: string;
  readonly entry: AllowEntry;
}

export interface EffectivePolicy {
  readonly security: Security;
  readonly ask: Ask;
  readonly askFallback: Security;
  readonly autoAllowSkills: boolean;
  readonly allowlist: readonly EntryRef[];
  /** Which setting decided each value. */
  readonly sources: { readonly security: string; readonly ask: string; readonly askFallback: string };
}

/** `asked` is the value of `tools.exec` after session and call; undefined where it is not configured. */
export function effectivePolicy(
  asked: { readonly security?: Security | undefined; readonly ask?: Ask | undefined },
  file: ApprovalsFile,
  agent: string,
): EffectivePolicy {
  const security = decide(asked.security, readAgentRule(file, agent, "security", securities), "allowlist", securities);
  const ask = decide(asked.ask, readAgentRule(file, agent, "ask", asks), "on-miss", asks);
  const askFallback = decide(undefined, readAgentRule(file, agent, "askFallback", securities), "deny", securities);
  const skills = layersFor(file, agent).map(({ rules }) => rules["autoAllowSkills"]);
  return {
    security: security.value,
    ask: ask.value,
    askFallback: askFallback.value,
    autoAllowSkills: skills.find((value) => value !== undefined) === true,
    allowlist: agent === "*" ? entriesOf(file, "*") : [...entriesOf(file, "*"), ...entriesOf(file, agent)],
    sources: { security: security.source, ask: ask.source, askFallback: askFallback.source },
  };
}

function decide<Word extends string>(
  asked: Word | undefined,
  rule: AgentRule<Word> | undefined,
  preset: Word,
  order: readonly [Word, ...Word[]],
): AgentRule<Word> {
  const inFile = rule === undefined ? undefined : { ...rule, source: `exec-approvals.json ${rule.source}` };
  if (asked === undefined) return inFile ?? { value: preset, source: "preset" };
  const isOurs = stricter(asked, inFile?.value, order) === asked;
  return isOurs || inFile === undefined ? { value: asked, source: "tools.exec" } : inFile;
}

function entriesOf(file: ApprovalsFile, agent: string): EntryRef[] {
  const agents = file.agents ?? {};
  const entries = (Object.hasOwn(agents, agent) ? agents[agent]?.allowlist : undefined) ?? [];
  return entries.map((entry, index) => ({ agent, index, pattern: entry.pattern, entry }));
}
