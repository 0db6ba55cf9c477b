// The levels of a model's reasoning, from none to most.

export const thinkingLevels = ["off", "minimal", "low", "medium", "high", "xhigh"] as const;
export type ThinkingLevel = (typeof thinkingLevels)[number];

/** Undefined for text that is not a level. */
export function parseThinkingLevel(word: unknown): ThinkingLevel | undefined {
  return thinkingLevels.find((level) => level === word);
}
