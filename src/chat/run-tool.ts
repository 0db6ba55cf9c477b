// Runs a tool that a person named: the same policy and path as the agent's own calls.
import { OpenClawError } from "../core/error.ts";
import type { Block } from "../core/message.ts";
import { isRecord } from "../core/record.ts";
import type { CallHints, ToolResult } from "../tool/tool.ts";
import type { Directed } from "../agent/direct.ts";
import { fenced } from "./fence.ts";
import type { CommandRun } from "./command-run.ts";

export interface ToolRequest {
  readonly tool: string;
  readonly args: Readonly<Record<string, unknown>>;
  /** For the journal: `chat:/tool` or `chat:!`. */
  readonly caller: string;
  readonly hints?: CallHints;
}

export async function runTool(
  tool: string,
  args: Readonly<Record<string, unknown>>,
  caller: string,
  commandRun: CommandRun,
): Promise<Directed> {
  const ran = await attemptTool({ tool, args, caller }, commandRun);
  return "refused" in ran ? ran.refused : { kind: "answered", text: contentText(ran.result.content) };
}

/** The result, or the text for the person when the call failed. */
export async function attemptTool(
  { tool, args, caller, hints = {} }: ToolRequest,
  commandRun: CommandRun,
): Promise<{ readonly result: ToolResult } | { readonly refused: Directed }> {
  const subject = await commandRun.subject();
  const { signal, runId: turn } = commandRun.context;
  try {
    return { result: await commandRun.deps.callTool({ tool, args, subject, caller, signal, hints, turn }) };
  } catch (error) {
    if (error instanceof OpenClawError) return { refused: refused(error) };
    throw error;
  }
}

export function contentText(content: readonly Block[]): string {
  if (content.length === 0) return "Done; the tool returned no text.";
  return content.map((block) => (block.type === "text" ? fenced(block.text) : `[image, ${block.mimeType}]`)).join("\n");
}

function refused({ code, message, hint, details }: OpenClawError): Directed {
  const explain = isRecord(details) && typeof details.explain === "string" ? details.explain : undefined;
  const lines = [
    message,
    ...(hint === undefined ? [] : [`Fix: ${hint}`]),
    ...(explain === undefined ? [] : [fenced(explain)]),
  ];
  return {
    kind: "answered",
    text: lines.join("\n"),
    failure: { code, message, ...(hint === undefined ? {} : { hint }) },
  };
}
