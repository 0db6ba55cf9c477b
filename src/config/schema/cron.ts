// `cron`: jobs at set times.
import { flag, section, text, whole } from "./field.ts";

export const cron = section("Jobs at set times.", {
  enabled: flag("Run them.", { default: true }),
  store: text("Older job file to take over from.", { fallback: "<state>/cron/jobs.json", place: "hidden" }),
  maxConcurrentRuns: whole("Jobs at the same time.", { default: 1, minimum: 1 }),
});
