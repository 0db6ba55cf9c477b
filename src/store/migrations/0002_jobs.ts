// Scheduled jobs, and one row for each of their slots.
import type { Migration } from "./migration.ts";

// `next_at` is null for a job without a next run, so the index by time contains only jobs that can become due.
export const jobs: Migration = {
  version: 2,
  name: "jobs",
  up: `
    CREATE TABLE jobs (
      n INTEGER PRIMARY KEY, id TEXT NOT NULL, next_at INTEGER, created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL,
      body TEXT NOT NULL, state TEXT NOT NULL
    ) STRICT;
    CREATE TABLE slots (
      n INTEGER PRIMARY KEY, job_id TEXT NOT NULL, slot TEXT NOT NULL, at INTEGER NOT NULL, state TEXT NOT NULL,
      why TEXT, started_at INTEGER, ended_at INTEGER, run_id TEXT, session_key TEXT, session_id TEXT,
      error TEXT, summary TEXT, missed INTEGER
    ) STRICT;

    CREATE UNIQUE INDEX jobs_key ON jobs (id);
    CREATE INDEX jobs_due ON jobs (next_at, n) WHERE next_at IS NOT NULL;
    CREATE UNIQUE INDEX slots_key ON slots (job_id, slot);
    CREATE INDEX slots_by_job ON slots (job_id, n);
    CREATE INDEX slots_by_time ON slots (at);
    CREATE INDEX slots_running ON slots (n) WHERE state = 'running';
  `,
};
