// The agent's access to tools: the one path of every call, with each failure as text for the model.
import type { ToolOutput } from "../core/event.ts";
import type { CallTool } from "../tool/call.ts";
import type { Catalog } from "../tool/catalog.ts";
import type { Subject } from "../tool/subject.ts";
import type { CallHints } from "../tool/tool.ts";
import type { RunnableCall } from "./calls.ts";
import { answerOfError, type ToolAnswer } from "./result.ts";

export interface ToolAccess {
  readonly call: (
    call: RunnableCall,
    signal: AbortSignal,
    progress: (partial: ToolOutput) => void,
  ) => Promise<ToolAnswer>;
  readonly looksOnly: (call: RunnableCall) => boolean;
}

/** `subject` is asked each time: after a fail-over another model, and so another policy, may be in force. */
export function createToolAccess(
  callTool: CallTool,
  catalog: Catalog,
  subject: () => Subject,
  hints: CallHints = {},
  turn?: string,
): ToolAccess {
  return {
    async call({ name, args }, signal, progress) {
      try {
        const asked = {
          tool: name,
          args,
          subject: subject(),
          caller: "agent",
          hints,
          signal,
          progress,
          commitsResult: true,
        };
        const request = turn === undefined ? asked : { ...asked, turn };
        const { isError = false, ...result } = await callTool(request);
        return { ...result, isError };
      } catch (error) {
        return answerOfError(name, error);
      }
    },
    looksOnly({ name, args }) {
      const does = catalog.effect(subject(), name, args);
      return does === "look" || does === "read";
    },
  };
}
