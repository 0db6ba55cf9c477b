// Waking the main session and the switch of heartbeats.
import { Type } from "../../core/schema.ts";
import { closed, method, nonEmpty, returns, uncheckedMethod } from "../method.ts";

export const wake = method(
  "wake",
  "operator.write",
  Type.Object({ mode: Type.Enum(["now", "next-heartbeat"]), text: nonEmpty }, closed),
  returns<{ readonly ok: true }>(),
);
export const lastHeartbeat = uncheckedMethod("last-heartbeat", "operator.read", returns<HeartbeatEvent | null>());
export const setHeartbeats = uncheckedMethod(
  "set-heartbeats",
  "operator.admin",
  returns<{ readonly ok: true; readonly enabled: boolean }>(),
);

/** Also the payload of the event `heartbeat`. */
export interface HeartbeatEvent {
  readonly ts: number;
  readonly status: "ok" | "sent" | "skipped" | "failed";
  /** Why it was skipped, was not sent or failed. */
  readonly reason?: string;
  readonly durationMs: number;
  readonly preview?: string;
  readonly hasMedia?: boolean;
  readonly channel?: string;
  readonly to?: string;
  readonly agentId: string;
}
