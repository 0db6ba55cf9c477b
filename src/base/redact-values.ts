// Redacts secrets in nested values, such as the arguments of a call; command lines are redacted by context.
import { redactArguments } from "./command-secrets.ts";
import type { Mask } from "./mask.ts";
import { looksSecret } from "./secret-names.ts";

/** Returns the same value when there is nothing to redact. */
export function redactValues<T>(value: T, mask: Pick<Mask, "command"> & ((text: string) => string)): T {
  const redact = (inner: unknown, name: string): unknown => {
    if (typeof inner === "string") {
      if (inner !== "" && namesSecret(name)) return "***";
      return commandNames.has(name) ? mask.command(inner) : mask(inner);
    }
    if (Array.isArray(inner)) {
      const isWords = commandNames.has(name) && inner.every((word) => typeof word === "string");
      const words: readonly unknown[] = isWords ? redactArguments(inner as string[]) : inner;
      return kept(
        inner,
        words.map((word) => redact(word, name)),
      );
    }
    if (typeof inner !== "object" || inner === null) return inner;
    const entries = Object.entries(inner);
    const shown = entries.map(([key, child]): [string, unknown] => [key, redact(child, key)]);
    return shown.every(([, child], index) => child === entries[index]?.[1]) ? inner : Object.fromEntries(shown);
  };
  return redact(value, "") as T;
}

const kept = (before: readonly unknown[], after: readonly unknown[]): readonly unknown[] =>
  after.every((item, index) => item === before[index]) ? before : after;

/** Fields in which tools, approvals and nodes carry command lines or argument lists. */
const commandNames: ReadonlySet<string> = new Set(["command", "rawCommand", "cmd", "argv", "args", "what"]);

/** Keys that identify a row, a session or a field are not secrets. */
const namesSecret = (name: string): boolean =>
  looksSecret(name) &&
  (!/key$/i.test(name) || /(?:api|secret|private|access|auth|encryption|signing)[_-]?key$/i.test(name));
