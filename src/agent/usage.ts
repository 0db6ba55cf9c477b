// Adds up tokens and their cost.
import type { Usage, UsageCost } from "../core/message.ts";
import type { ModelFacts } from "../model/model.ts";

export function addUsage(sum: Usage | undefined, more: Usage | undefined): Usage | undefined {
  if (sum === undefined || more === undefined) return sum ?? more;
  return {
    input: sum.input + more.input,
    output: sum.output + more.output,
    cacheRead: sum.cacheRead + more.cacheRead,
    cacheWrite: sum.cacheWrite + more.cacheWrite,
    totalTokens: sum.totalTokens + more.totalTokens,
  };
}

/** In USD; zero for models without a price. */
export function costOf(usage: Usage, facts: ModelFacts): number {
  return costParts(usage, facts).total;
}

export function costParts(usage: Usage, { cost }: ModelFacts): UsageCost {
  const of = (part: keyof ModelFacts["cost"]): number => (usage[part] * cost[part]) / 1_000_000;
  const [input, output, cacheRead, cacheWrite] = [of("input"), of("output"), of("cacheRead"), of("cacheWrite")];
  return { input, output, cacheRead, cacheWrite, total: input + output + cacheRead + cacheWrite };
}

/** Share of the prompt that came from the vendor's cache, 0 to 1; undefined without a prompt. */
export function cacheHitRate({ input, cacheRead, cacheWrite }: Usage): number | undefined {
  const prompt = input + cacheRead + cacheWrite;
  return prompt === 0 ? undefined : cacheRead / prompt;
}

/** Tokens that the next request begins with. */
export function contextOf({ input, output, cacheRead, cacheWrite }: Usage): number {
  return input + output + cacheRead + cacheWrite;
}
