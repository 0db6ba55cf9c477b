// Folds aliases and text blocks that models send into the canonical parameters.

/** Canonical names win over aliases unless they are blank. Never throws: the schema check follows. */
export function foldArguments(
  raw: Record<string, unknown>,
  aliases: Readonly<Record<string, string>>,
): Record<string, unknown> {
  const folded = new Map(Object.entries(raw).map(([name, value]) => [name, plain(value)]));
  for (const [alias, name] of Object.entries(aliases)) {
    const [other, canonical] = [folded.get(alias), folded.get(name)];
    folded.delete(alias);
    if (other !== undefined && (canonical === undefined || canonical === "")) folded.set(name, other);
  }
  return Object.fromEntries(folded);
}

/** Some models wrap strings into content blocks. */
function plain(value: unknown): unknown {
  if (!Array.isArray(value) || value.length === 0) return value;
  const texts = value.map((block: unknown) => textOfBlock(block));
  return texts.every((text) => text !== undefined) ? texts.join("") : value;
}

function textOfBlock(block: unknown): string | undefined {
  if (typeof block !== "object" || block === null) return undefined;
  const { type, text } = block as { type?: unknown; text?: unknown };
  return type === "text" && typeof text === "string" ? text : undefined;
}
