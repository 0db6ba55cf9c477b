// `cron`: scheduled jobs.
import { flag, section, text, whole } from "./field.ts";

export const cron = section("Scheduled jobs.", {
  enabled: flag("Runs scheduled jobs.", { default: true }),
  store: text("Job file of an older version that is imported once.", {
    fallback: "<state>/cron/jobs.json",
    place: "hidden",
  }),
  maxConcurrentRuns: whole("Maximum number of jobs that run at the same time.", { default: 1, minimum: 1 }),
});
