// What a call was about to do, in a few words.

export function describeIntent(intent: unknown): string | undefined {
  if (typeof intent === "string") return intent;
  if (typeof intent !== "object" || intent === null) return undefined;
  const facts: Record<string, unknown> = { ...intent };
  const does = typeof facts["does"] === "string" ? facts["does"] : "";
  const about = [facts["paths"], facts["command"], facts["url"], facts["to"], facts["what"]]
    .flat()
    .filter((part) => typeof part === "string");
  return does === "" ? undefined : [does, ...about].join(" ");
}
