// `update`: release channel and update checks.
import { choice, flag, notBuilt, section } from "./field.ts";

export const update = notBuilt(
  section("Updates.", {
    channel: choice("Release channel.", ["stable", "beta", "dev"], { fallback: "stable" }),
    checkOnStart: flag("Checks for an update at startup.", { default: true }),
  }),
);
