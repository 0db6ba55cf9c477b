// What is known of channels and skills; they answer truthfully with empty lists until those parts exist.
import { Type } from "../../core/schema.ts";
import { closed, maybe, method, word } from "../method.ts";

export const channelsStatus = method(
  "channels.status",
  "operator.read",
  Type.Object({ probe: maybe(Type.Boolean()), timeoutMs: maybe(Type.Integer({ minimum: 0 })) }, closed),
);
export const skillsStatus = method("skills.status", "operator.read", Type.Object({ agentId: maybe(word) }, closed));
