// The state of one run, and the pure function that applies an event to it.
import type { ToolOutcome } from "../../../src/protocol/methods/tools.ts";
import { textOfContent, type ChatMessage, type RunChange } from "./parse-events.ts";

export type RunPhase = "sending" | "queued" | "running" | "final" | "aborted" | "error" | "unsent";

export interface ToolPart {
  readonly kind: "tool";
  readonly id: string;
  readonly name: string;
  readonly args: unknown;
  readonly state: "running" | "done" | "failed";
  /** The latest partial output, or the result. */
  readonly outcome: ToolOutcome | undefined;
}

export type Part =
  | { readonly kind: "text"; readonly text: string }
  | ToolPart
  | { readonly kind: "notice"; readonly text: string };

export interface Run {
  readonly runId: string;
  readonly phase: RunPhase;
  /** The message this page sent; undefined for runs that other clients started. */
  readonly sent: string | undefined;
  /** Gateway time after which the messages of the run were written. */
  readonly sinceMs: number;
  /** Its position among the messages of the transcript; set once a transcript was read after its end. */
  readonly endMs: number | undefined;
  readonly parts: readonly Part[];
  readonly textSeq: number;
  readonly hasAgentText: boolean;
  readonly final: ChatMessage | undefined;
  readonly failure: { readonly message: string; readonly hint: string | undefined } | undefined;
}

export function newRun(runId: string, sinceMs: number, sent?: string, phase: RunPhase = "running"): Run {
  return {
    runId,
    phase,
    sent,
    sinceMs,
    endMs: undefined,
    parts: [],
    textSeq: -1,
    hasAgentText: false,
    final: undefined,
    failure: undefined,
  };
}

export function isOver({ phase }: Run): boolean {
  return phase === "final" || phase === "aborted" || phase === "error" || phase === "unsent";
}

/** A run that is over never changes: late and repeated events are common after a reconnect. */
export function applyChange(run: Run, change: RunChange, seq: number): Run {
  if (isOver(run) && run.phase !== "unsent") return run;
  switch (change.kind) {
    case "start":
      return { ...run, phase: "running" };
    case "text":
      return withText(run, change, seq);
    case "tool-start":
    case "tool-update":
    case "tool-result":
      return { ...run, phase: "running", parts: withTool(run.parts, change) };
    case "notice":
      return { ...run, phase: "running", parts: withNotice(run.parts, change.text) };
    case "final":
      return { ...end(run, "final"), final: change.message, parts: withFinal(run.parts, change.message) };
    case "aborted":
      return end(run, "aborted");
    case "error":
      return { ...end(run, "error"), failure: { message: change.message, hint: change.hint } };
  }
}

/** Both streams carry the same text; the `chat` stream is slower and ignored once the `agent` stream has sent text. */
function withText(run: Run, { source, text }: Extract<RunChange, { kind: "text" }>, seq: number): Run {
  if (source === "chat" && run.hasAgentText) return run;
  if (seq < run.textSeq || (seq === run.textSeq && source === "chat")) return run;
  const last = run.parts.at(-1);
  const kept = last?.kind === "text" ? run.parts.slice(0, -1) : run.parts;
  const parts: readonly Part[] = text === "" ? kept : [...kept, { kind: "text", text }];
  return { ...run, phase: "running", textSeq: seq, hasAgentText: run.hasAgentText || source === "agent", parts };
}

/** A tool call goes from running to ended and never back, in whatever order events arrive. */
function withTool(
  parts: readonly Part[],
  change: Extract<RunChange, { kind: "tool-start" | "tool-update" | "tool-result" }>,
): readonly Part[] {
  const index = parts.findIndex((part) => part.kind === "tool" && part.id === change.id);
  const known = parts[index];
  if (known?.kind !== "tool") return [...parts, toolAfter(newTool(change.id, change.name), change)];
  return parts.with(index, toolAfter(known, change));
}

function newTool(id: string, name: string): ToolPart {
  return { kind: "tool", id, name, args: undefined, state: "running", outcome: undefined };
}

function toolAfter(
  tool: ToolPart,
  change: Extract<RunChange, { kind: "tool-start" | "tool-update" | "tool-result" }>,
): ToolPart {
  if (change.kind === "tool-start") return { ...tool, args: change.args };
  if (tool.state !== "running") return tool;
  if (change.kind === "tool-update") return { ...tool, outcome: change.partial };
  return { ...tool, state: change.isError ? "failed" : "done", outcome: change.result };
}

function withNotice(parts: readonly Part[], text: string): readonly Part[] {
  const last = parts.at(-1);
  return last?.kind === "notice" && last.text === text ? parts : [...parts, { kind: "notice", text }];
}

/** The final message contains the whole last reply, even if it was never streamed. */
function withFinal(parts: readonly Part[], message: ChatMessage | undefined): readonly Part[] {
  const text = message === undefined ? "" : textOfContent(message.content);
  if (text === "") return parts;
  const last = parts.at(-1);
  return [...(last?.kind === "text" ? parts.slice(0, -1) : parts), { kind: "text", text }];
}

/** A tool call that still runs at the end of its run has failed. */
function end(run: Run, phase: "final" | "aborted" | "error"): Run {
  return {
    ...run,
    phase,
    parts: run.parts.map((part) =>
      part.kind === "tool" && part.state === "running" ? { ...part, state: "failed" as const } : part,
    ),
  };
}
