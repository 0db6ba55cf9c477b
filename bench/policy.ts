// How long one policy decision takes, without any cache: 100 rules, 200 tools, and a group with a sender's own entry.
import { allowedTools, decide, decideAll } from "../src/tool/policy/decide.ts";
import { coreTools } from "../src/tool/policy/groups.ts";
import type { PolicyConfig, PolicyInput, ToolUniverse } from "../src/tool/policy/shape.ts";

export interface PolicyFigures {
  readonly rules: number;
  readonly tools: number;
  readonly decide: Percentiles;
  readonly decideAll: Percentiles;
  readonly allowedTools: Percentiles;
}

interface Percentiles {
  readonly p50Ms: number;
  readonly p99Ms: number;
}

/** Prints the figures and returns them. Each sample builds its universe anew, so nothing carries over. */
export function benchPolicy(samples = 5000): PolicyFigures {
  const names = [
    ...universe().core.keys(),
    ...universe().plugins.flatMap(({ tools }) => tools.map(({ name }) => name)),
  ];
  const figures: PolicyFigures = {
    rules: countRules(config),
    tools: names.length,
    decide: measure(samples, (fresh, turn) => decide(fresh, names[turn % names.length] ?? "")),
    decideAll: measure(samples / 20, (fresh) => decideAll(fresh)),
    allowedTools: measure(samples / 20, (fresh) => allowedTools(fresh)),
  };
  const line = ({ p50Ms, p99Ms }: Percentiles): string => `p50 ${p50Ms.toFixed(4)} ms, p99 ${p99Ms.toFixed(4)} ms`;
  console.log(`policy: ${figures.rules} rules, ${figures.tools} tools, nothing cached`);
  console.log(`  decide        ${line(figures.decide)}`);
  console.log(`  decideAll     ${line(figures.decideAll)}`);
  console.log(`  allowedTools  ${line(figures.allowedTools)}`);
  return figures;
}

function measure(samples: number, work: (fresh: PolicyInput, turn: number) => unknown): Percentiles {
  for (let turn = 0; turn < samples / 2; turn++) work(input(), turn);
  const times = Array.from({ length: samples }, (_, turn) => {
    const fresh = input();
    const start = performance.now();
    work(fresh, turn);
    return performance.now() - start;
  }).toSorted((a, b) => a - b);
  return { p50Ms: times[Math.floor(times.length / 2)] ?? 0, p99Ms: times[Math.floor(times.length * 0.99)] ?? 0 };
}

function input(): PolicyInput {
  const group = { channel: "telegram", groupId: "-100777", senderIds: ["4242"] };
  const subject = { agentId: "support", model: "openai/gpt-5.2", group, sandboxed: true, subagent: false };
  return { config, universe: universe(), ...subject };
}

function universe(): ToolUniverse {
  const plugins = Array.from({ length: 20 }, (_, plugin) => ({
    id: `plugin${plugin}`,
    tools: Array.from({ length: plugin < 17 ? 9 : 8 }, (_, tool) => ({
      name: `p${plugin}_tool${tool}`,
      optional: tool === 0,
    })),
  }));
  return { core: coreTools, plugins };
}

const some = (count: number, make: (index: number) => string): string[] =>
  Array.from({ length: count }, (_, index) => make(index));

const config: PolicyConfig = {
  tools: {
    profile: "coding",
    allow: ["group:fs", "group:runtime", "group:web", "sessions_*", ...some(26, (index) => `p${index}_tool1`)],
    deny: ["gateway", ...some(14, (index) => `p${index}_*`)],
    byProvider: {
      "openai/gpt-5.2": { allow: ["*_get", "group:fs", ...some(8, (index) => `plugin${index}`)], deny: ["web_*"] },
      openai: { profile: "minimal" },
    },
  },
  agents: {
    list: [
      { id: "main" },
      {
        id: "support",
        tools: {
          allow: ["group:fs", "exec", ...some(15, (index) => `p${index}_tool2`)],
          deny: ["cron", "*_danger", ...some(8, (index) => `gone${index}`)],
          sandbox: { tools: { allow: ["read", "write", "exec", "p*"], deny: ["browser"] } },
        },
      },
    ],
  },
  channels: {
    telegram: {
      groups: {
        "*": { tools: { deny: ["group:runtime"] } },
        "-100777": { toolsBySender: { "4242": { allow: some(8, (index) => `s*${index}`), deny: ["nodes"] } } },
      },
    },
  },
};

function countRules(value: unknown): number {
  if (Array.isArray(value))
    return value.every((item) => typeof item === "string")
      ? value.length
      : value.map(countRules).reduce((a, b) => a + b, 0);
  if (typeof value !== "object" || value === null) return 0;
  return Object.values(value).reduce<number>((sum, item) => sum + countRules(item), 0);
}
