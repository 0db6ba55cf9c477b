// `update`: newer versions.
import { choice, flag, notBuilt, section } from "./field.ts";

export const update = notBuilt(
  section("Newer versions.", {
    channel: choice("Which ones.", ["stable", "beta", "dev"], { fallback: "stable" }),
    checkOnStart: flag("Look for one at the start.", { default: true }),
  }),
);
