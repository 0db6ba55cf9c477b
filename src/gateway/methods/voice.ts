// Wake words and talk mode; every client and node gets an event on a change.
import { OpenClawError } from "../../core/error.ts";
import * as methods from "../../protocol/methods/voice.ts";
import type { GatewayContext } from "../context.ts";
import { serve, type Served } from "../dispatch.ts";
import type { VoiceWake } from "../voice-wake.ts";

export function voiceMethods({ hub, clock }: Pick<GatewayContext, "hub" | "clock">, voiceWake: VoiceWake): Served[] {
  return [
    serve(methods.voicewakeGet)(() => ({ triggers: voiceWake.triggers() })),
    serve(methods.voicewakeSet)(({ triggers }) => {
      if (!Array.isArray(triggers) || !triggers.every((trigger) => typeof trigger === "string"))
        throw new OpenClawError("wire.invalid-request", "voicewake.set requires triggers, a list of strings");
      const kept = voiceWake.set(triggers);
      hub.broadcast("voicewake.changed", { triggers: kept }, { needs: "anybody" });
      return { triggers: kept };
    }),
    serve(methods.talkMode)(({ enabled, phase = null }) => {
      const mode = { enabled, phase, ts: clock.now() };
      hub.broadcast("talk.mode", mode, { needs: "anybody" });
      return mode;
    }),
  ];
}
