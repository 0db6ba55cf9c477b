// Estimates whether a secret can be guessed.

const MIN_LENGTH = 20;
const MIN_DISTINCT_CHARS = 8;
const common = /^(?:change-?me|secret|password|passw0rd|token|test|admin|openclaw|moltbot|letmein|qwerty|1234|abc)/i;

/** Why it is weak; undefined when it is not. */
export function weaknessOf(secret: string): string | undefined {
  if (secret.length < MIN_LENGTH) return `it has ${secret.length} characters (at least ${MIN_LENGTH} are needed)`;
  if (common.test(secret)) return "it begins with a common word";
  if (new Set(secret).size < MIN_DISTINCT_CHARS) return "it repeats a few characters";
  return undefined;
}
