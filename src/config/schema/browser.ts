// `browser`: the browser the agent drives.
import { choice, closed, flag, group, number, record, secret, section, text, whole } from "./field.ts";

const color = (description: string, value?: string) =>
  text(description, { pattern: "^#?[0-9a-fA-F]{6}$", ...(value === undefined ? {} : { default: value }) });

export const browser = section("The browser that agents control.", {
  enabled: flag("Enables the browser tool.", { default: true }),
  evaluateEnabled: flag("Allows the agent to run scripts in pages.", { default: true }),
  cdpUrl: secret("Debugging URL of a remote browser; may contain a token."),
  cdpPort: whole("Debugging port of the openclaw profile.", { maximum: 65_535, fallback: "18800" }),
  remoteCdpTimeoutMs: whole("Milliseconds to wait for a remote browser.", { default: 1500 }),
  remoteCdpHandshakeTimeoutMs: whole("Milliseconds to wait for its WebSocket.", { default: 3000 }),
  defaultProfile: text("Profile that is used when the call names none.", { default: "chrome" }),
  color: color("Color of the agent's window.", "#FF4500"),
  headless: flag("Runs without a window.", { fallback: "true on a machine without a display" }),
  noSandbox: flag("Starts the browser without its own sandbox.", { default: false }),
  executablePath: text("Program to start.", { fallback: "the first Chromium found", place: "kept" }),
  attachOnly: flag("Never starts a browser, only attaches to one.", { default: false }),
  idleMinutes: number("Minutes without a call after which a browser is closed; 0 keeps it open.", {
    minimum: 0,
    default: 30,
  }),
  snapshotDefaults: group("Default form of a snapshot.", {
    mode: choice("Form of the snapshot.", ["efficient"]),
  }),
  profiles: record(
    "Profiles by name.",
    closed({
      cdpPort: whole("Debugging port.", { maximum: 65_535 }),
      cdpUrl: secret("Debugging URL of a remote browser; may contain a token."),
      color: color("Color of its window."),
      driver: choice("Program that controls it.", ["openclaw", "extension", "clawd"]),
    }),
  ),
});
