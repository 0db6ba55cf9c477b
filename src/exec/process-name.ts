// Names background commands: a two-word id and a short label derived from the command line.
import { randomInt } from "node:crypto";

import words from "./data/process-names.json" with { type: "json" };

const { adjectives, nouns } = words;

/** Not a secret: the process table only returns the agent's own commands. */
export function newProcessId(isTaken: (id: string) => boolean): string {
  for (;;) {
    const id = `${adjectives[randomInt(adjectives.length)] ?? "calm"}-${nouns[randomInt(nouns.length)] ?? "gulf"}`;
    if (!isTaken(id)) return id;
    const longer = `${id}-${randomInt(1000, 10_000)}`;
    if (!isTaken(longer)) return longer;
  }
}

const MAX_LABEL = 40;
/** Words about how to run something, not what. */
const prefixWords = new Set(["sudo", "env", "nohup", "nice", "time", "exec", "command", "run", "exec", "--", "-m"]);

/** `cd web && npm run build -- --fast` becomes `npm build`. */
export function labelOf(command: string): string {
  const parts = command.split(/&&|\|\||[;\n|]/).map((part) => part.trim());
  const line = parts.find((part) => part !== "" && !/^(?:cd|export|set|source|\.)\s/.test(part)) ?? command.trim();
  const words = line.split(/\s+/).filter((word) => !prefixWords.has(word) && !/^\w+=/.test(word));
  const verb = (words[0] ?? line).replace(/^.*\//, "");
  const target = words.slice(1).find((word) => !word.startsWith("-"));
  const label = target === undefined ? verb : `${verb} ${target}`;
  return label.length <= MAX_LABEL ? label : `${label.slice(0, MAX_LABEL - 1).toWellFormed()}…`;
}
