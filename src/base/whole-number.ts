// A whole number from a variable of the environment, held within bounds; undefined for anything else.

export function wholeNumberOf(text: string | undefined, least: number, most: number): number | undefined {
  const words = text?.trim() ?? "";
  return /^\d{1,15}$/.test(words) ? Math.min(most, Math.max(least, Number(words))) : undefined;
}
