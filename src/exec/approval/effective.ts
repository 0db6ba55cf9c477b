// The rules that hold for one agent on this host: the stricter of what was asked for and what the approvals file says.
import type { Ask, Security } from "../route.ts";
import type { ApprovalsFile } from "./file.ts";

type AgentRules = NonNullable<ApprovalsFile["agents"]>[string];
export type AllowEntry = NonNullable<AgentRules["allowlist"]>[number];

/** An entry and where it stands in the file. */
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

/** Strictest first. */
const securities: readonly Security[] = ["deny", "allowlist", "full"];
const asks: readonly Ask[] = ["always", "on-miss", "off"];

/** `asked` is the value of `tools.exec` after session and call; undefined where nothing is configured. */
export function effectivePolicy(
  asked: { readonly security?: Security | undefined; readonly ask?: Ask | undefined },
  file: ApprovalsFile,
  agent: string,
): EffectivePolicy {
  const security = stricter(securities, asked.security, fromFile(file, agent, "security"), "allowlist");
  const ask = stricter(asks, asked.ask, fromFile(file, agent, "ask"), "on-miss");
  const askFallback = stricter(securities, undefined, fromFile(file, agent, "askFallback"), "deny");
  return {
    security: security.value,
    ask: ask.value,
    askFallback: askFallback.value,
    autoAllowSkills:
      rulesOf(file, agent).find((rules) => rules.autoAllowSkills !== undefined)?.autoAllowSkills ?? false,
    allowlist: agent === "*" ? entriesOf(file, "*") : [...entriesOf(file, "*"), ...entriesOf(file, agent)],
    sources: { security: security.source, ask: ask.source, askFallback: askFallback.source },
  };
}

interface Said {
  readonly value: string;
  readonly source: string;
}

function fromFile(file: ApprovalsFile, agent: string, key: "security" | "ask" | "askFallback"): Said | undefined {
  for (const [source, rules] of Object.entries(namedRules(file, agent))) {
    const value = rules?.[key];
    if (value !== undefined && value !== null) return { value, source: `exec-approvals.json ${source}.${key}` };
  }
  return undefined;
}

/** A word we do not know is taken for the strictest: somebody meant something by it. */
function stricter<V extends string>(
  order: readonly V[],
  asked: V | undefined,
  said: Said | undefined,
  preset: V,
): { readonly value: V; readonly source: string } {
  const rank = (value: string): number =>
    Math.max(
      0,
      order.findIndex((known) => known === value),
    );
  const candidates = [
    ...(asked === undefined ? [] : [{ value: asked as string, source: "tools.exec" }]),
    ...(said === undefined ? [] : [said]),
  ].toSorted((a, b) => rank(a.value) - rank(b.value));
  const [strictest] = candidates;
  if (strictest === undefined) return { value: preset, source: "preset" };
  return { value: order[rank(strictest.value)] ?? preset, source: strictest.source };
}

function namedRules(
  file: ApprovalsFile,
  agent: string,
): Readonly<Record<string, Omit<AgentRules, "allowlist"> | undefined>> {
  return { [`agents.${agent}`]: ownRules(file, agent), "agents.*": ownRules(file, "*"), defaults: file.defaults };
}

function rulesOf(file: ApprovalsFile, agent: string): readonly Omit<AgentRules, "allowlist">[] {
  return Object.values(namedRules(file, agent)).filter((rules) => rules !== undefined);
}

function entriesOf(file: ApprovalsFile, agent: string): EntryRef[] {
  const entries = ownRules(file, agent)?.allowlist ?? [];
  return entries.map((entry, index) => ({ agent, index, pattern: entry.pattern, entry }));
}

function ownRules(file: ApprovalsFile, agent: string): AgentRules | undefined {
  const agents = file.agents ?? {};
  return Object.hasOwn(agents, agent) ? agents[agent] : undefined;
}
