// All migrations in order. Add new ones at the end; never edit a released one.
import { init } from "./0001_init.ts";
import { jobs } from "./0002_jobs.ts";
import { children } from "./0003_children.ts";
import { journalTurn } from "./0004_journal_turn.ts";
import type { Migration } from "./migration.ts";

export const migrations: readonly Migration[] = [init, jobs, children, journalTurn];
