// `meta` and `wizard`: stamps that programs leave in the file. They affect no decision.
import { group, text } from "./field.ts";

export const meta = group("The program that last wrote this file.", {
  lastTouchedVersion: text("Version that wrote the file."),
  lastTouchedAt: text("Time of the event, as an ISO date."),
});

export const wizard = group("The last run of the setup.", {
  lastRunAt: text("Time of the event, as an ISO date."),
  lastRunVersion: text("Version that ran."),
  lastRunCommit: text("Commit that ran."),
  lastRunCommand: text("Command that ran."),
  lastRunMode: text("Mode of the run."),
});
