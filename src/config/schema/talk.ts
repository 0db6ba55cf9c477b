// `talk`: voice conversations with the agent through an app.
import { Type } from "../../core/schema.ts";
import { flag, notBuilt, record, secret, section, text } from "./field.ts";

export const talk = notBuilt(
  section("Voice conversations with the agent.", {
    voiceId: text("Voice."),
    voiceAliases: record("Names for voices.", Type.String()),
    modelId: text("Model."),
    outputFormat: text("Sound format."),
    apiKey: secret("Key; else ELEVENLABS_API_KEY."),
    interruptOnSpeech: flag("Stop speaking when you speak.", { default: true }),
  }),
);
