// `web`: the WhatsApp Web connection.
import { flag, notBuilt, number, section, whole } from "./field.ts";

export const web = notBuilt(
  section("The WhatsApp Web connection.", {
    enabled: flag("Connect.", { fallback: "on when WhatsApp is linked" }),
    heartbeatSeconds: number("Seconds between signs of life.", { default: 60, minimum: 1 }),
    reconnect: section("How it comes back.", {
      initialMs: whole("Milliseconds before the first try.", { default: 2000 }),
      maxMs: whole("Milliseconds before a try at most.", { default: 120_000 }),
      factor: number("Growth from try to try.", { default: 1.4, minimum: 1 }),
      jitter: number("Share of chance in it.", { default: 0.2, minimum: 0, maximum: 1 }),
      maxAttempts: whole("Tries; 0 without end.", { default: 0 }),
    }),
  }),
);
