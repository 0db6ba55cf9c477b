// `messages`: how messages come in and replies go out, on every channel.
import { Type } from "../../core/schema.ts";
import { choice, flag, group, notBuilt, number, record, secret, section, text, texts, whole } from "./field.ts";

const queueModes = ["collect", "followup", "steer", "steer-backlog", "steer+backlog", "interrupt", "queue"] as const;

const unit = (description: string) => number(description, { minimum: 0, maximum: 1 });

const elevenlabs = group("ElevenLabs.", {
  apiKey: secret("Key; else ELEVENLABS_API_KEY."),
  baseUrl: text("Root of the service."),
  voiceId: text("Voice."),
  modelId: text("Model."),
  seed: whole("Seed, for the same sound again."),
  applyTextNormalization: choice("Read numbers as words.", ["auto", "on", "off"]),
  languageCode: text("Language."),
  voiceSettings: group("The voice.", {
    stability: unit("Steadiness."),
    similarityBoost: unit("Likeness."),
    style: unit("Style."),
    useSpeakerBoost: flag("Clearer speaker."),
    speed: number("Speed.", { minimum: 0.5, maximum: 2 }),
  }),
});

const edge = group("Microsoft Edge voices.", {
  enabled: flag("Use them."),
  voice: text("Voice."),
  lang: text("Language."),
  outputFormat: text("Sound format."),
  pitch: text("Pitch."),
  rate: text("Speed."),
  volume: text("Volume."),
  saveSubtitles: flag("Keep subtitles."),
  proxy: secret("Proxy; may carry a password."),
  timeoutMs: whole("Milliseconds to wait."),
});

const override = (what: string) => flag(`Let the model choose ${what}.`);

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
      allowNormalization: override("normalisation"),
      allowSeed: override("the seed"),
    }),
    maxTextLength: whole("Characters read at most."),
    timeoutMs: whole("Milliseconds to wait."),
    prefsPath: text("File for people's choices.", { fallback: "<state>/settings/tts.json", place: "hidden" }),
    elevenlabs,
    openai: group("OpenAI voices.", {
      apiKey: secret("Key; else OPENAI_API_KEY."),
      model: text("Model."),
      voice: text("Voice."),
      baseUrl: text("Root of the service."),
    }),
    edge,
  }),
);

export const messages = section("How messages are received and replies are sent.", {
  responsePrefix: notBuilt(text("Prefix of replies; auto is the name of the agent in brackets.")),
  messagePrefix: notBuilt(text("Older form of a prefix on what comes in.")),
  ackReaction: notBuilt(
    text("Reaction that says a message was seen; empty for none.", {
      fallback: "the agent's emoji, else 👀",
    }),
  ),
  ackReactionScope: notBuilt(
    choice("Where it is given.", ["group-mentions", "group-all", "direct", "all"], {
      default: "group-mentions",
    }),
  ),
  removeAckAfterReply: notBuilt(flag("Take it back after the reply.", { default: false })),
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
