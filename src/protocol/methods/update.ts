// Updating the gateway over the wire.
import { Type } from "../../core/schema.ts";
import { closed, maybe, method } from "../method.ts";

export const updateRun = method(
  "update.run",
  "operator.admin",
  Type.Object(
    {
      sessionKey: maybe(Type.String()),
      note: maybe(Type.String()),
      restartDelayMs: maybe(Type.Integer({ minimum: 0 })),
      timeoutMs: maybe(Type.Integer({ minimum: 1 })),
    },
    closed,
  ),
);
