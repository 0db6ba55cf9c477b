// Which turn a tool call belongs to, so that all a turn did can be told.
import type { Migration } from "./migration.ts";

// Without an index: the question is always about the newest calls of one session, which has one.
export const journalTurn: Migration = {
  version: 4,
  name: "journal_turn",
  up: "ALTER TABLE journal ADD COLUMN turn TEXT;",
};
