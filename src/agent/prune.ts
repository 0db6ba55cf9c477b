// Trims old tool results in a request (`agents.defaults.contextPruning`); the transcript stays unchanged.
import type { Block, Message, ToolResultMessage } from "../core/message.ts";
import { configDurationMs } from "../base/duration.ts";
import type { Config } from "../config/schema/index.ts";
import { CHARS_PER_TOKEN, IMAGE_TOKENS } from "./limits.ts";
import { tokensIn } from "./estimate.ts";

export type PruningRules = NonNullable<NonNullable<NonNullable<Config["agents"]>["defaults"]>["contextPruning"]>;

/** Keeps everything before the first user message, the results of the last answers, and results with images. */
export function pruneResults(
  messages: readonly Message[],
  rules: PruningRules | undefined,
  contextWindow: number,
  now: number,
): readonly Message[] {
  const mode = rules?.mode ?? "off";
  if (rules === undefined || mode === "off") return messages;
  if (mode === "cache-ttl" && now - lastAnswerAt(messages) < configDurationMs(rules.ttl ?? "5m")) return messages;
  const end = protectedFrom(messages, rules.keepLastAssistants ?? 3);
  const start = messages.findIndex(({ role }) => role === "user");
  const isTrimmable = (message: Message, index: number): message is ToolResultMessage =>
    index > start && index < end && message.role === "toolResult" && mayTrim(message, rules);
  const windowChars = contextWindow * CHARS_PER_TOKEN;
  const ratioOf = (list: readonly Message[]): number => (tokensIn(list) * CHARS_PER_TOKEN) / windowChars;

  if (mode !== "aggressive" && ratioOf(messages) <= (rules.softTrimRatio ?? 0.3)) return messages;
  const trimmed = messages.map((message, index) =>
    isTrimmable(message, index) ? softTrim(message, rules.softTrim) : message,
  );
  const clearable = trimmed.reduce(
    (sum, message, index) => (isTrimmable(message, index) ? sum + charsOf(message) : sum),
    0,
  );
  const clears = rules.hardClear?.enabled ?? true;
  if (
    !clears ||
    ratioOf(trimmed) <= (rules.hardClearRatio ?? 0.5) ||
    clearable < (rules.minPrunableToolChars ?? 50_000)
  )
    return trimmed;
  const placeholder = rules.hardClear?.placeholder ?? "[Old tool result content cleared]";
  return trimmed.map((message, index) =>
    isTrimmable(message, index) ? { ...message, content: [{ type: "text", text: placeholder }] } : message,
  );
}

/** The index from which results belong to the last answers; 0 when there are too few to trim anything. */
function protectedFrom(messages: readonly Message[], keep: number): number {
  let left = keep;
  for (let at = messages.length - 1; at >= 0; at--) if (messages[at]?.role === "assistant" && --left <= 0) return at;
  return keep === 0 ? messages.length : 0;
}

function mayTrim({ toolName, content }: ToolResultMessage, { tools }: PruningRules): boolean {
  if (content.some(({ type }) => type === "image") || tools?.deny?.includes(toolName) === true) return false;
  return tools?.allow === undefined || tools.allow.includes(toolName);
}

function softTrim(message: ToolResultMessage, rules: PruningRules["softTrim"]): ToolResultMessage {
  const { maxChars = 4000, headChars = 1500, tailChars = 1500 } = rules ?? {};
  if (charsOf(message) <= maxChars) return message;
  const text = message.content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n");
  const head = text.slice(0, headChars).toWellFormed();
  const tail = text.slice(text.length - tailChars).toWellFormed();
  const note = `[trimmed: the first ${headChars} and last ${tailChars} of ${text.length} characters]`;
  return { ...message, content: [{ type: "text", text: `${head}\n...\n${tail}\n\n${note}` }] };
}

function charsOf({ content }: { readonly content: readonly (Block | { readonly type: "toolCall" })[] }): number {
  return content.reduce(
    (sum, block) =>
      sum + (block.type === "text" ? block.text.length : block.type === "image" ? IMAGE_TOKENS * CHARS_PER_TOKEN : 0),
    0,
  );
}

function lastAnswerAt(messages: readonly Message[]): number {
  return messages.findLast(({ role }) => role === "assistant")?.timestamp ?? 0;
}
