// Reads an integer from an environment variable and limits it to a range; undefined for anything else.

export function wholeNumberOf(text: string | undefined, least: number, most: number): number | undefined {
  const words = text?.trim() ?? "";
  return /^\d{1,15}$/.test(words) ? Math.min(most, Math.max(least, Number(words))) : undefined;
}
