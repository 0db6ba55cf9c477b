// Parses a binding from command-line arguments.
import { UsageError } from "./command.ts";
import type { Binding } from "./agent-rows.ts";

/** `telegram` or `telegram:work`. */
export function bindingFrom(agentId: string, words: string): Binding {
  const [channel, accountId] = splitOnce(words);
  if (channel === "") throw new UsageError(`not a channel: ${JSON.stringify(words)}`, ["agents", "bind"]);
  return { agentId, match: { channel, ...(accountId === undefined ? {} : { accountId }) } };
}

const kinds = ["direct", "group", "channel", "dm"] as const;

/** `group:-100123`. */
export function peerFrom(words: string): NonNullable<Binding["match"]["peer"]> {
  const [written, id] = splitOnce(words);
  const kind = kinds.find((candidate) => candidate === written);
  if (kind === undefined || id === undefined)
    throw new UsageError(`--peer must be ${kinds.join(", ")}, then a colon and an id, not ${JSON.stringify(words)}`, [
      "agents",
      "bind",
    ]);
  return { kind, id };
}

function splitOnce(words: string): [string, string?] {
  const colon = words.indexOf(":");
  return colon < 0 ? [words] : [words.slice(0, colon), words.slice(colon + 1)];
}
