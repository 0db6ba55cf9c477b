// `web`: the WhatsApp Web connection.
import { flag, notBuilt, number, section, whole } from "./field.ts";

export const web = notBuilt(
  section("The WhatsApp Web connection.", {
    enabled: flag("Connect.", { fallback: "on when WhatsApp is linked" }),
    heartbeatSeconds: number("Seconds between keep-alive messages.", { default: 60, minimum: 1 }),
    reconnect: section("Reconnection.", {
      initialMs: whole("Milliseconds before the first attempt.", { default: 2000 }),
      maxMs: whole("Maximum delay in milliseconds.", { default: 120_000 }),
      factor: number("Growth factor of the delay.", { default: 1.4, minimum: 1 }),
      jitter: number("Share of random variation.", { default: 0.2, minimum: 0, maximum: 1 }),
      maxAttempts: whole("Maximum number of attempts; 0 means unlimited.", { default: 0 }),
    }),
  }),
);
