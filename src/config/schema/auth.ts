// `auth`: which stored credentials model providers use, and when they cool down. The credentials themselves are stored
// elsewhere.
import { Type } from "../../core/schema.ts";
import { choice, closed, group, number, record, section, text } from "./field.ts";

export const auth = group("Which stored credentials model providers use.", {
  profiles: record(
    "Auth profiles by id.",
    closed({
      provider: text("Provider of the credential."),
      mode: choice("Kind of credential.", ["api_key", "oauth", "token"]),
      email: text("Account of the credential."),
    }),
  ),
  order: record("Order in which profiles are tried, per provider.", Type.Array(Type.String())),
  cooldowns: section("How long a failing profile is not used.", {
    billingBackoffHours: number("Hours to wait after the first billing failure.", { default: 5, minimum: 0 }),
    billingBackoffHoursByProvider: record("The same, per provider.", Type.Number({ minimum: 0 })),
    billingMaxHours: number("Maximum number of hours to wait.", { default: 24, minimum: 0 }),
    failureWindowHours: number("Hours after which past failures no longer count.", { default: 24, minimum: 0 }),
  }),
});
