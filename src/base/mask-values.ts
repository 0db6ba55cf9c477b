// Secrets hidden in a value made of texts, such as the arguments of a call: command lines by what stands in them.
import { hideWordSecrets } from "./command-secrets.ts";
import type { Mask } from "./mask.ts";
import { looksSecret } from "./secret-names.ts";

/** The same value when there was nothing to hide. */
export function maskValues<T>(value: T, mask: Pick<Mask, "command"> & ((text: string) => string)): T {
  const hide = (inner: unknown, name: string): unknown => {
    if (typeof inner === "string") {
      if (inner !== "" && namesSecret(name)) return "***";
      return commandNames.has(name) ? mask.command(inner) : mask(inner);
    }
    if (Array.isArray(inner)) {
      const isWords = commandNames.has(name) && inner.every((word) => typeof word === "string");
      const words: readonly unknown[] = isWords ? hideWordSecrets(inner as string[]) : inner;
      return kept(
        inner,
        words.map((word) => hide(word, name)),
      );
    }
    if (typeof inner !== "object" || inner === null) return inner;
    const entries = Object.entries(inner);
    const shown = entries.map(([key, child]): [string, unknown] => [key, hide(child, key)]);
    return shown.every(([, child], index) => child === entries[index]?.[1]) ? inner : Object.fromEntries(shown);
  };
  return hide(value, "") as T;
}

const kept = (before: readonly unknown[], after: readonly unknown[]): readonly unknown[] =>
  after.every((item, index) => item === before[index]) ? before : after;

/** Where tools, approvals and nodes carry command lines or their words. */
const commandNames: ReadonlySet<string> = new Set(["command", "rawCommand", "cmd", "argv", "args", "what"]);

/** Keys that name a row, a session or a field are no secrets. */
const namesSecret = (name: string): boolean =>
  looksSecret(name) &&
  (!/key$/i.test(name) || /(?:api|secret|private|access|auth|encryption|signing)[_-]?key$/i.test(name));
