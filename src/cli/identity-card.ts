// Reads name, theme, emoji and avatar of an agent from IDENTITY.md in its workspace.

export interface IdentityCard {
  readonly name?: string;
  readonly theme?: string;
  readonly emoji?: string;
  readonly avatar?: string;
}

/** Lines such as `- **Name:** Molly`; a value in brackets or underscores is a placeholder. */
export function readIdentityCard(text: string): IdentityCard {
  const found = new Map<string, string>();
  for (const line of text.split(/\r?\n/)) {
    const [, field = "", value = ""] =
      /^\s*(?:[-*]\s+)?(?:\*\*|__)?\s*([A-Za-z]+)\s*:\s*(?:\*\*|__)?\s*(.*?)\s*$/.exec(line) ?? [];
    const plain = value.replaceAll(/^(?:\*\*|__|`)|(?:\*\*|__|`)$/g, "").trim();
    if (field !== "" && plain !== "" && !/^[[(_<]/.test(plain)) found.set(field.toLowerCase(), plain.slice(0, 200));
  }
  const theme = found.get("theme") ?? found.get("vibe") ?? found.get("creature");
  const fields = { name: found.get("name"), theme, emoji: found.get("emoji"), avatar: found.get("avatar") };
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}
