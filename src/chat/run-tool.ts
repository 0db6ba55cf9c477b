// Runs a tool because a person asked for it by name: the same policy and path as the agent's own calls.
import { HouseError } from "../core/error.ts";
import type { Block } from "../core/message.ts";
import { isRecord } from "../config/path.ts";
import type { Directed } from "./command.ts";
import { fenced } from "./fence.ts";
import type { Scene } from "./scene.ts";

export async function runTool(
  tool: string,
  args: Readonly<Record<string, unknown>>,
  caller: string,
  scene: Scene,
): Promise<Directed> {
  const subject = await scene.subject();
  try {
    const { content } = await scene.deps.callTool({ tool, args, subject, caller, signal: scene.context.signal });
    return { kind: "answered", text: contentText(content) };
  } catch (error) {
    if (error instanceof HouseError) return refused(error);
    throw error;
  }
}

function contentText(content: readonly Block[]): string {
  if (content.length === 0) return "Done; the tool said nothing.";
  return content.map((block) => (block.type === "text" ? fenced(block.text) : `[image, ${block.mimeType}]`)).join("\n");
}

function refused({ code, message, hint, details }: HouseError): Directed {
  const explain = isRecord(details) && typeof details.explain === "string" ? details.explain : undefined;
  const lines = [
    message,
    ...(hint === undefined ? [] : [`What helps: ${hint}`]),
    ...(explain === undefined ? [] : [fenced(explain)]),
  ];
  return {
    kind: "answered",
    text: lines.join("\n"),
    failure: { code, message, ...(hint === undefined ? {} : { hint }) },
  };
}
