// Could somebody guess this secret.

const LEAST_LENGTH = 20;
const LEAST_LETTERS = 8;
const common = /^(?:change-?me|secret|password|passw0rd|token|test|admin|openclaw|moltbot|letmein|qwerty|1234|abc)/i;

/** Why it is weak, or undefined when it is not. */
export function weaknessOf(secret: string): string | undefined {
  if (secret.length < LEAST_LENGTH) return `it has ${secret.length} characters, ${LEAST_LENGTH} are the least`;
  if (common.test(secret)) return "it begins with a common word";
  if (new Set(secret).size < LEAST_LETTERS) return "it repeats a few characters";
  return undefined;
}
