// Calls tools for a turn through the one path of every call; a failure becomes text for the model.
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
  readonly isReadOnly: (call: RunnableCall) => boolean;
}

/** `subject` is read for each call, because the policy can change with the model after a failover. */
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
    isReadOnly({ name, args }) {
      const effect = catalog.effect(subject(), name, args);
      return effect === "look" || effect === "read";
    },
  };
}
