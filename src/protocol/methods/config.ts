// Reading and changing the config over the wire.
import { Type } from "../../core/schema.ts";
import { closed, maybe, method, none, word } from "../method.ts";

const change = {
  raw: word,
  baseHash: maybe(word),
  sessionKey: maybe(Type.String()),
  note: maybe(Type.String()),
  restartDelayMs: maybe(Type.Integer({ minimum: 0 })),
};

export const configGet = method("config.get", "operator.admin", none);
export const configSchema = method("config.schema", "operator.admin", none);
export const configSet = method(
  "config.set",
  "operator.admin",
  Type.Object({ raw: word, baseHash: maybe(word) }, closed),
);
export const configApply = method("config.apply", "operator.admin", Type.Object(change, closed));
export const configPatch = method("config.patch", "operator.admin", Type.Object(change, closed));
