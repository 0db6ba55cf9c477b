// health, status, presence and logs.
import { Type } from "../../core/schema.ts";
import { closed, looseMethod, maybe, method } from "../method.ts";

export const health = looseMethod("health", "operator.read");
export const status = looseMethod("status", "operator.read");
export const systemPresence = looseMethod("system-presence", "operator.read");
export const systemEvent = looseMethod("system-event", "operator.admin");
export const logsTail = method(
  "logs.tail",
  "operator.read",
  Type.Object(
    {
      cursor: maybe(Type.Integer({ minimum: 0 })),
      limit: maybe(Type.Integer({ minimum: 1, maximum: 5000 })),
      maxBytes: maybe(Type.Integer({ minimum: 1, maximum: 1_000_000 })),
    },
    closed,
  ),
);
/** Ours: the lines a session will be told with its next turn. */
export const systemEventsList = method(
  "system-events.list",
  "operator.read",
  Type.Object({ sessionKey: maybe(Type.String({ minLength: 1, maxLength: 500 })) }, closed),
);
/** Ours: restart in place, for `openclaw gateway restart`. */
export const gatewayRestart = method(
  "gateway.restart",
  "operator.admin",
  Type.Object(
    { delayMs: maybe(Type.Integer({ minimum: 0, maximum: 60_000 })), reason: maybe(Type.String({ maxLength: 200 })) },
    closed,
  ),
);
