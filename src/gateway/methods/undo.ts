// The file changes of recent turns: list and undo.
import { OpenClawError } from "../../core/error.ts";
import type { SessionKey } from "../../core/names.ts";
import { sessionsUndo } from "../../protocol/methods/undo.ts";
import { subjectOf } from "../../tool/subject.ts";
import type { Undo } from "../../tool/undo/undo.ts";
import type { GatewayContext } from "../context.ts";
import { serve, type Served } from "../dispatch.ts";

export interface UndoPorts {
  readonly undo: Undo;
  /** Running and waiting runs of a session. */
  readonly active: (session: SessionKey) => readonly string[];
}

export function undoMethods({ config }: GatewayContext, { undo, active }: UndoPorts): Served[] {
  return [
    serve(sessionsUndo)(async ({ key: raw, list = false, ...request }, client) => {
      const { session, agent } = subjectOf({ sessionKey: raw }, config());
      if (list) return { ok: true, key: session, turns: await undo.list(session) };
      const isBusy = request.dryRun !== true && active(session).length > 0;
      if (isBusy)
        throw new OpenClawError("undo.busy", `a run is active in ${session}; no file was changed`, {
          hint: "wait until it ends, or stop it with /stop",
        });
      return { ok: true, ...(await undo.undo({ session, agent, caller: `ws:${client.info.id}` }, request)) };
    }),
  ];
}
