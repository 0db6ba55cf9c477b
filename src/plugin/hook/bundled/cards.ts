// Descriptions of the bundled hooks without their code, for lists.
import type { HookCard } from "../hook.ts";

const card = (name: string, emoji: string, description: string, events: readonly string[]): HookCard => ({
  name,
  emoji,
  description,
  events,
  always: false,
  requires: { bins: [], anyBins: [], env: [], config: [], os: [] },
});

export const sessionMemory = card(
  "session-memory",
  "💾",
  "Writes the end of a session to memory/ when /new or /reset starts another.",
  ["command:new", "command:reset"],
);
export const commandLogger = card("command-logger", "📝", "Writes one line per command to logs/commands.log.", [
  "command",
]);
export const bootMd = card(
  "boot-md",
  "🚀",
  "Lets each agent follow BOOT.md of its workspace when the gateway starts.",
  ["gateway:startup"],
);

export const bundledCards: readonly HookCard[] = [bootMd, commandLogger, sessionMemory];
