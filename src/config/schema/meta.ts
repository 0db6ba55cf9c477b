// `meta` and `wizard`: stamps programs leave in the file. Nothing reads them to decide anything.
import { group, text } from "./field.ts";

export const meta = group("Who wrote this file last.", {
  lastTouchedVersion: text("Version that wrote it."),
  lastTouchedAt: text("When."),
});

export const wizard = group("The last run of the set-up.", {
  lastRunAt: text("When."),
  lastRunVersion: text("Version."),
  lastRunCommit: text("Commit."),
  lastRunCommand: text("Command."),
  lastRunMode: text("Mode."),
});
