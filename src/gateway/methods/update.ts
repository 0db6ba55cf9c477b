// update.run: an operator updates the checkout this gateway runs from.
import { updateRun } from "../../protocol/methods/update.ts";
import type { Admin } from "../../tool/admin.ts";
import { subjectOf } from "../../tool/subject.ts";
import type { GatewayContext } from "../context.ts";
import { serve, type Served } from "../dispatch.ts";

export function updateMethods({ config }: GatewayContext, admin: () => Admin): Served[] {
  return [
    serve(updateRun)(async ({ sessionKey, note, restartDelayMs: delayMs, timeoutMs }, _client, signal) => {
      const { agent, session } = subjectOf({ sessionKey }, config());
      const { details } = await admin().update({ note, delayMs, timeoutMs, signal, person: true }, { agent, session });
      const { restart = null, ...result } = details;
      return { ok: result["status"] !== "error", result, restart };
    }),
  ];
}
