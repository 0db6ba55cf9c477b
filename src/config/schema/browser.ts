// `browser`: the browser the agent drives.
import { choice, closed, flag, group, notBuilt, record, secret, section, text, whole } from "./field.ts";

const color = (description: string, value?: string) =>
  text(description, { pattern: "^#?[0-9a-fA-F]{6}$", ...(value === undefined ? {} : { default: value }) });

export const browser = notBuilt(
  section("The browser that agents control.", {
    enabled: flag("Enables the browser tool.", { default: true }),
    evaluateEnabled: flag("Let the agent run scripts in pages.", { default: true }),
    cdpUrl: secret("Debugging address of a browser that runs elsewhere; may carry a token."),
    cdpPort: whole("Debugging port of the openclaw profile.", { maximum: 65_535, fallback: "18800" }),
    remoteCdpTimeoutMs: whole("Milliseconds to wait for a browser elsewhere.", { default: 1500 }),
    remoteCdpHandshakeTimeoutMs: whole("Milliseconds to wait for its WebSocket.", { default: 3000 }),
    defaultProfile: text("Profile used when the call names none.", { default: "chrome" }),
    color: color("Color that marks the agent's window.", "#FF4500"),
    headless: flag("Run without a window.", { default: false }),
    noSandbox: flag("Start the browser without its own sandbox.", { default: false }),
    executablePath: text("Program to start.", { fallback: "the first Chromium found", place: "kept" }),
    attachOnly: flag("Never start one, only attach.", { default: false }),
    snapshotDefaults: group("What a snapshot looks like when the call does not say.", {
      mode: choice("Form of the snapshot.", ["efficient"]),
    }),
    profiles: record(
      "Profiles by name.",
      closed({
        cdpPort: whole("Debugging port.", { maximum: 65_535 }),
        cdpUrl: secret("Debugging address elsewhere; may carry a token."),
        color: color("Color that marks its window."),
        driver: choice("What drives it.", ["openclaw", "extension", "clawd"]),
      }),
    ),
  }),
);
