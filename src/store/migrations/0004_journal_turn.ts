// The turn of each tool call, so that the calls of a turn can be listed.
import type { Migration } from "./migration.ts";

// Without an index: queries read the newest calls of one session, which have an index.
export const journalTurn: Migration = {
  version: 4,
  name: "journal_turn",
  up: "ALTER TABLE journal ADD COLUMN turn TEXT;",
};
