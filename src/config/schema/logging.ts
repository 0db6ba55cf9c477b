// `logging`: what is logged and what is redacted.
import { choice, section, text, texts } from "./field.ts";

const levels = ["silent", "fatal", "error", "warn", "info", "debug", "trace"] as const;

export const logging = section("Log file and console output.", {
  level: choice("Level of the log file.", levels, { default: "info" }),
  file: text("Path of the log file.", { fallback: "openclaw-<date>.log in <state>/logs", place: "hidden" }),
  consoleLevel: choice("Level of the console.", levels, { default: "info" }),
  consoleStyle: choice("Format of the console output.", ["pretty", "compact", "json"], {
    fallback: "pretty on a terminal",
  }),
  redactSensitive: choice("Whether secrets in tool calls are redacted.", ["off", "tools"], { default: "tools" }),
  redactPatterns: texts("Patterns to redact, as a regular expression or /regex/flags, instead of the built-in ones."),
});
