// `logging`: what is written down and what is masked in it.
import { choice, section, text, texts } from "./field.ts";

const levels = ["silent", "fatal", "error", "warn", "info", "debug", "trace"] as const;

export const logging = section("What is written down.", {
  level: choice("How much the log file holds.", levels, { default: "info" }),
  file: text("Log file.", { fallback: "openclaw-<date>.log in <state>/logs", place: "hidden" }),
  consoleLevel: choice("How much the terminal shows.", levels, { default: "info" }),
  consoleStyle: choice("How the terminal shows it.", ["pretty", "compact", "json"], {
    fallback: "pretty on a terminal",
  }),
  redactSensitive: choice("Mask secrets in tool calls.", ["off", "tools"], { default: "tools" }),
  redactPatterns: texts("Patterns to mask, as re or /re/flags, instead of the built-in ones."),
});
