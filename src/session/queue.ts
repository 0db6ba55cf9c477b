// The queue rules for messages that arrive during a run, as pure functions.
import type { Config } from "../config/schema/index.ts";

export type QueueMode = "collect" | "followup" | "steer" | "steer-backlog" | "interrupt";
export type QueueDrop = "old" | "new" | "summarize";

export interface QueueSettings {
  readonly mode: QueueMode;
  readonly debounceMs: number;
  readonly cap: number;
  readonly drop: QueueDrop;
}

export interface QueueRequest {
  readonly queueMode?: unknown;
  readonly queueDebounceMs?: unknown;
  readonly queueCap?: unknown;
  readonly queueDrop?: unknown;
}

/** The session's setting, else the channel's, else the general one. */
export function queueSettings(config: Config, request: QueueRequest, channel?: string): QueueSettings {
  const rules = config.messages?.queue;
  const byChannel = channel === undefined ? undefined : rules?.byChannel?.[channel];
  const debounce = channel === undefined ? undefined : rules?.debounceMsByChannel?.[channel];
  return {
    mode: parseQueueMode(request.queueMode) ?? parseQueueMode(byChannel) ?? parseQueueMode(rules?.mode) ?? "collect",
    debounceMs: whole(request.queueDebounceMs) ?? debounce ?? rules?.debounceMs ?? 1000,
    cap: Math.max(1, whole(request.queueCap) ?? rules?.cap ?? 20),
    drop: dropOf(request.queueDrop) ?? dropOf(rules?.drop) ?? "summarize",
  };
}

/** Also accepts older names: `queue` means `steer`, `steer+backlog` means `steer-backlog`. */
export function parseQueueMode(word: unknown): QueueMode | undefined {
  if (word === "queue") return "steer";
  if (word === "steer+backlog") return "steer-backlog";
  const known: readonly unknown[] = ["collect", "followup", "steer", "steer-backlog", "interrupt"];
  return known.includes(word) ? (word as QueueMode) : undefined;
}

/** What to do with a message that arrives now. */
export type Arrival = "run" | "queue" | "steer" | "steer-and-queue" | "interrupt";

export function onArrival(mode: QueueMode, busy: boolean): Arrival {
  if (!busy) return "run";
  if (mode === "steer") return "steer";
  if (mode === "steer-backlog") return "steer-and-queue";
  return mode === "interrupt" ? "interrupt" : "queue";
}

export interface Capped<T> {
  readonly kept: readonly T[];
  /** Dropped permanently, or shortened to one line each when the rule is `summarize`. */
  readonly dropped: readonly T[];
}

/** Keeps at most `cap`: the newest, or with `new` the oldest. */
export function capQueue<T>(waiting: readonly T[], { cap, drop }: Pick<QueueSettings, "cap" | "drop">): Capped<T> {
  if (waiting.length <= cap) return { kept: waiting, dropped: [] };
  if (drop === "new") return { kept: waiting.slice(0, cap), dropped: waiting.slice(cap) };
  const cut = waiting.length - cap;
  return { kept: waiting.slice(cut), dropped: waiting.slice(0, cut) };
}

export interface Waiting {
  readonly text: string;
  /** Needs its own turn: it brings settings, or a caller waits for the answer to this message. */
  readonly needsOwnTurn: boolean;
}

/** How many messages from the front go into the next turn. */
export function nextBatch(waiting: readonly Waiting[], mode: QueueMode): number {
  if (waiting.length === 0) return 0;
  if (mode !== "collect" && mode !== "interrupt") return 1;
  const together = waiting.findIndex(({ needsOwnTurn }) => needsOwnTurn);
  return Math.max(1, together === -1 ? waiting.length : together);
}

/** Joins several messages into one prompt; a single message stays unchanged. */
export function mergeTexts(texts: readonly string[], summarized: readonly string[] = []): string {
  const [first = ""] = texts;
  const lines = summarized.length === 0 ? "" : summaryOf(summarized);
  if (texts.length === 1) return `${lines}${first}`;
  const parts = texts.map((text, index) => `Message ${index + 1}:\n${text}`);
  return `${lines}[${texts.length} messages arrived while you were busy; answer them together]\n\n${parts.join("\n\n")}`;
}

/** How many milliseconds to wait until the queue has been quiet long enough; 0 when it has. */
export function quietFor(lastAt: number, now: number, debounceMs: number): number {
  return Math.max(0, Math.min(debounceMs, lastAt + debounceMs - now));
}

function summaryOf(texts: readonly string[]): string {
  const shown = texts.slice(-20).map((text) => `- ${firstLine(text)}`);
  const more = texts.length > shown.length ? `- and ${texts.length - shown.length} before these\n` : "";
  return `[${texts.length} earlier messages did not fit in the queue; shortened:]\n${more}${shown.join("\n")}\n\n`;
}

function firstLine(text: string): string {
  const line = text.trim().split("\n")[0] ?? "";
  return line.length <= 160 ? line : `${line.slice(0, 160).toWellFormed()}…`;
}

function whole(value: unknown): number | undefined {
  return typeof value === "number" && Number.isInteger(value) && value >= 0 ? value : undefined;
}

function dropOf(word: unknown): QueueDrop | undefined {
  return word === "old" || word === "new" || word === "summarize" ? word : undefined;
}
