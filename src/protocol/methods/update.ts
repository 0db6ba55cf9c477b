// Updating the gateway over the wire.
import { Type } from "../../core/schema.ts";
import { closed, method, optional, returns } from "../method.ts";

export const updateRun = method(
  "update.run",
  "operator.admin",
  Type.Object(
    {
      sessionKey: optional(Type.String()),
      note: optional(Type.String()),
      restartDelayMs: optional(Type.Integer({ minimum: 0 })),
      timeoutMs: optional(Type.Integer({ minimum: 1 })),
    },
    closed,
  ),
  returns<{ readonly ok: boolean; readonly result: Readonly<Record<string, unknown>>; readonly restart: unknown }>(),
);
