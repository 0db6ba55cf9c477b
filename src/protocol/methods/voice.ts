// Voice: the wake words of listening nodes, and whether talk mode is on.
import { Type } from "../../core/schema.ts";
import { closed, method, optional, returns, uncheckedMethod } from "../method.ts";

export const voicewakeGet = uncheckedMethod("voicewake.get", "operator.read", returns<VoiceTriggers>());
export const voicewakeSet = uncheckedMethod("voicewake.set", "operator.write", returns<VoiceTriggers>());
export const talkMode = method(
  "talk.mode",
  "operator.write",
  Type.Object({ enabled: Type.Boolean(), phase: optional(Type.String({ maxLength: 200 })) }, closed),
  returns<TalkMode>(),
);

export interface VoiceTriggers {
  readonly triggers: readonly string[];
}

export interface TalkMode {
  readonly enabled: boolean;
  readonly phase: string | null;
  readonly ts: number;
}
