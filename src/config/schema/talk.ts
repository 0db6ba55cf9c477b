// `talk`: voice conversations with the agent through an app.
import { Type } from "../../core/schema.ts";
import { flag, notBuilt, record, secret, section, text } from "./field.ts";

export const talk = notBuilt(
  section("Voice conversations with the agent.", {
    voiceId: text("Voice."),
    voiceAliases: record("Aliases of voices.", Type.String()),
    modelId: text("Model."),
    outputFormat: text("Audio format."),
    apiKey: secret("API key. By default ELEVENLABS_API_KEY from the environment."),
    interruptOnSpeech: flag("Stops speaking when you speak.", { default: true }),
  }),
);
