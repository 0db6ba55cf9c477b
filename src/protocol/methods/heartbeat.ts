// Waking the main session and the switch of heartbeats.
import { Type } from "../../core/schema.ts";
import { closed, looseMethod, method, word } from "../method.ts";

export const wake = method(
  "wake",
  "operator.write",
  Type.Object({ mode: Type.Enum(["now", "next-heartbeat"]), text: word }, closed),
);
export const lastHeartbeat = looseMethod("last-heartbeat", "operator.read");
export const setHeartbeats = looseMethod("set-heartbeats", "operator.admin");
