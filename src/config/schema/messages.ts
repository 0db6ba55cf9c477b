// `messages`: how messages come in and replies go out, on every channel.
import { Type } from "../../core/schema.ts";
import { choice, flag, group, notBuilt, number, record, secret, section, text, texts, whole } from "./field.ts";

const queueModes = ["collect", "followup", "steer", "steer-backlog", "steer+backlog", "interrupt", "queue"] as const;

const unit = (description: string) => number(description, { minimum: 0, maximum: 1 });

const elevenlabs = group("ElevenLabs.", {
  apiKey: secret("API key. By default ELEVENLABS_API_KEY from the environment."),
  baseUrl: text("Base URL of the service."),
  voiceId: text("Voice."),
  modelId: text("Model."),
  seed: whole("Seed, for reproducible audio."),
  applyTextNormalization: choice("Reads numbers as words.", ["auto", "on", "off"]),
  languageCode: text("Language."),
  voiceSettings: group("The voice.", {
    stability: unit("Steadiness."),
    similarityBoost: unit("Likeness."),
    style: unit("Style."),
    useSpeakerBoost: flag("Emphasizes the speaker's voice."),
    speed: number("Speed.", { minimum: 0.5, maximum: 2 }),
  }),
});

const edge = group("Microsoft Edge voices.", {
  enabled: flag("Enables Edge voices."),
  voice: text("Voice."),
  lang: text("Language."),
  outputFormat: text("Audio format."),
  pitch: text("Pitch."),
  rate: text("Speed."),
  volume: text("Volume."),
  saveSubtitles: flag("Keeps subtitles."),
  proxy: secret("Proxy URL; may contain a password."),
  timeoutMs: whole("Milliseconds to wait."),
});

const override = (what: string) => flag(`Allows the model to choose ${what}.`);

const tts = notBuilt(
  group("Text to speech for replies.", {
    auto: choice("When replies are read aloud.", ["off", "always", "inbound", "tagged"], { default: "off" }),
    mode: choice("Which parts of a reply are read aloud.", ["final", "all"]),
    provider: choice("Text-to-speech provider.", ["elevenlabs", "openai", "edge"]),
    summaryModel: text("Model that shortens long replies."),
    modelOverrides: group("What the model may change by tags.", {
      enabled: override("anything"),
      allowText: override("other words"),
      allowProvider: override("the provider"),
      allowVoice: override("the voice"),
      allowModelId: override("the model"),
      allowVoiceSettings: override("voice settings"),
      allowNormalization: override("normalization"),
      allowSeed: override("the seed"),
    }),
    maxTextLength: whole("Maximum number of characters to read aloud."),
    timeoutMs: whole("Milliseconds to wait."),
    prefsPath: text("File with the preferences of users.", { fallback: "<state>/settings/tts.json", place: "hidden" }),
    elevenlabs,
    openai: group("OpenAI voices.", {
      apiKey: secret("API key. By default OPENAI_API_KEY from the environment."),
      model: text("Model."),
      voice: text("Voice."),
      baseUrl: text("Base URL of the service."),
    }),
    edge,
  }),
);

export const messages = section("How messages are received and replies are sent.", {
  responsePrefix: notBuilt(text("Prefix of replies; auto is the name of the agent in brackets.")),
  messagePrefix: notBuilt(text("Legacy prefix of received messages.")),
  ackReaction: notBuilt(
    text("Reaction that acknowledges a message; empty for none.", {
      fallback: "the agent's emoji, else 👀",
    }),
  ),
  ackReactionScope: notBuilt(
    choice("Chats in which messages are acknowledged.", ["group-mentions", "group-all", "direct", "all"], {
      default: "group-mentions",
    }),
  ),
  removeAckAfterReply: notBuilt(flag("Removes the reaction after the reply.", { default: false })),
  queue: section("What happens to messages that arrive during a run.", {
    mode: choice("How queued messages are processed.", queueModes, { default: "collect" }),
    debounceMs: whole("Milliseconds without further messages before the next run.", { default: 1000 }),
    cap: whole("Maximum number of queued messages.", { default: 20, minimum: 1 }),
    drop: choice("Which messages are dropped when there are more.", ["old", "new", "summarize"], {
      default: "summarize",
    }),
    byChannel: record("Queue mode per channel.", Type.Enum([...queueModes], { type: "string" })),
    debounceMsByChannel: record("debounceMs per channel.", Type.Integer({ minimum: 0 })),
  }),
  inbound: notBuilt(
    section("Joins messages that are sent in quick succession.", {
      debounceMs: whole("Milliseconds to wait for the next message; 0 does not wait.", { fallback: "0" }),
      byChannel: record("debounceMs per channel.", Type.Integer({ minimum: 0 })),
    }),
  ),
  groupChat: notBuilt(
    section("Behavior in groups.", {
      historyLimit: whole("Number of earlier messages the agent sees; 0 for none.", { fallback: "50, on Discord 20" }),
      mentionPatterns: texts("Patterns that count as a mention.", { fallback: "from the agent's name and emoji" }),
    }),
  ),
  tts,
});
