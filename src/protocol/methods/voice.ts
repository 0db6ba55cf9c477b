// Voice: the words that wake a listening node, and whether a conversation by voice is on.
import { Type } from "../../core/schema.ts";
import { closed, looseMethod, maybe, method } from "../method.ts";

export const voicewakeGet = looseMethod("voicewake.get", "operator.read");
export const voicewakeSet = looseMethod("voicewake.set", "operator.write");
export const talkMode = method(
  "talk.mode",
  "operator.write",
  Type.Object({ enabled: Type.Boolean(), phase: maybe(Type.String({ maxLength: 200 })) }, closed),
);
