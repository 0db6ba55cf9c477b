// wake, last-heartbeat, set-heartbeats.
import { OpenClawError } from "../../core/error.ts";
import * as methods from "../../protocol/methods/heartbeat.ts";
import { serve, type Served } from "../dispatch.ts";
import type { Heartbeats } from "../../agent/heartbeat/heartbeats.ts";

export function heartbeatMethods(heartbeats: Heartbeats): Served[] {
  return [
    serve(methods.wake)(async ({ mode, text }) => {
      if (text.trim() === "") throw invalid("text required");
      await heartbeats.wakeMain(text, mode);
      return { ok: true };
    }),
    serve(methods.lastHeartbeat)(() => heartbeats.last()),
    serve(methods.setHeartbeats)(async ({ enabled }) => {
      if (typeof enabled !== "boolean") throw invalid("set-heartbeats needs enabled: true or false");
      await heartbeats.setOn(enabled);
      return { ok: true, enabled };
    }),
  ];
}

function invalid(message: string): OpenClawError {
  return new OpenClawError("wire.invalid-request", message);
}
