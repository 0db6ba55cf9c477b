// `auth`: which stored credentials model providers use, and when they rest. The credentials themselves live elsewhere.
import { Type } from "../../core/schema.ts";
import { choice, closed, group, number, record, section, text } from "./field.ts";

export const auth = group("Credentials of model providers, by reference.", {
  profiles: record(
    "Credential profiles by id.",
    closed({
      provider: text("Provider it belongs to."),
      mode: choice("Kind of credential.", ["api_key", "oauth", "token"]),
      email: text("Account it belongs to."),
    }),
  ),
  order: record("Profiles tried in order, per provider.", Type.Array(Type.String())),
  cooldowns: section("How long a failing profile rests.", {
    billingBackoffHours: number("Hours after the first billing failure.", { default: 5, minimum: 0 }),
    billingBackoffHoursByProvider: record("The same per provider.", Type.Number({ minimum: 0 })),
    billingMaxHours: number("Hours at most.", { default: 24, minimum: 0 }),
    failureWindowHours: number("Hours after which failures are forgotten.", { default: 24, minimum: 0 }),
  }),
});
