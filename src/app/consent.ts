// An approval is judged again under the rules in force when it is answered and when it would start.
import { OpenClawError } from "../core/error.ts";
import { isRecord } from "../core/record.ts";
import type { PendingRun } from "../exec/exec-context.ts";
import type { RecallTool } from "../tool/call.ts";
import type { Asker } from "../tool/tool.ts";
import type { OpenExec } from "./exec.ts";

/** For every kind: the tool, its agent and session must still be allowed. A command is also routed and judged again. */
export function checkConsent({ broker, exec }: Pick<OpenExec, "broker" | "exec">, recallTool: RecallTool): () => void {
  return broker.checkBy(async ({ origin, kind, asker, body }) => {
    // What a client asked for itself is judged by the method that uses the answer.
    if (origin !== "house") return;
    if (!isRecord(asker) || !isRecord(body)) throw unknownAsker();
    const call = await recallTool(asker as unknown as Asker);
    if (kind === "config") return;
    if (!isRecord(body["args"])) throw unknownAsker();
    await exec.recheck(body as unknown as PendingRun, call);
  });
}

/** Kept by an older version: nothing says who asked, so nothing says what holds for them. */
function unknownAsker(): OpenClawError {
  return new OpenClawError("approval.changed", "it was asked before this gateway was updated; ask again");
}
