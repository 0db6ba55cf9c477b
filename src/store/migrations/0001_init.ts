// The first schema of the store. Every table has a number `n` and a unique index named `<table>_key`.
import type { Migration } from "./migration.ts";

// The haystack is part of the indexes by time and by agent, so that a search reads only an index. All tables come
// first, then all indexes: a copy made by VACUUM then has every root on the same page as a new store, so that salvage
// can use the first page of a new store for one that has lost its own.
export const init: Migration = {
  version: 1,
  name: "init",
  up: `
    CREATE TABLE sessions (
      n INTEGER PRIMARY KEY, key TEXT NOT NULL, agent_id TEXT NOT NULL, session_id TEXT NOT NULL,
      created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL, label TEXT, spawned_by TEXT,
      haystack TEXT NOT NULL, entry TEXT NOT NULL
    ) STRICT;
    CREATE TABLE transcript (
      n INTEGER PRIMARY KEY, session_id TEXT NOT NULL, seq INTEGER NOT NULL, id TEXT NOT NULL, type TEXT NOT NULL,
      at INTEGER NOT NULL, seal INTEGER NOT NULL, body TEXT
    ) STRICT;
    CREATE TABLE letters (
      n INTEGER PRIMARY KEY, id TEXT NOT NULL, session_key TEXT NOT NULL, run_id TEXT NOT NULL, at INTEGER NOT NULL,
      state TEXT NOT NULL, body TEXT, result TEXT
    ) STRICT;
    CREATE TABLE runs (
      n INTEGER PRIMARY KEY, id TEXT NOT NULL, session_key TEXT NOT NULL, state TEXT NOT NULL,
      started_at INTEGER NOT NULL, ended_at INTEGER, body TEXT
    ) STRICT;
    CREATE TABLE devices (n INTEGER PRIMARY KEY, device_id TEXT NOT NULL, record TEXT) STRICT;
    CREATE TABLE device_requests (
      n INTEGER PRIMARY KEY, request_id TEXT NOT NULL, device_id TEXT NOT NULL, expires_at INTEGER NOT NULL, body TEXT
    ) STRICT;
    CREATE TABLE dedupe (
      n INTEGER PRIMARY KEY, scope TEXT NOT NULL, key TEXT NOT NULL, expires_at INTEGER NOT NULL, result TEXT
    ) STRICT;
    CREATE TABLE kv (n INTEGER PRIMARY KEY, space TEXT NOT NULL, key TEXT NOT NULL, value TEXT) STRICT;
    CREATE TABLE journal (
      n INTEGER PRIMARY KEY, id TEXT NOT NULL, at INTEGER NOT NULL, tool TEXT NOT NULL, agent_id TEXT NOT NULL,
      session_key TEXT NOT NULL, caller TEXT NOT NULL, outcome TEXT NOT NULL, duration_ms REAL,
      intent TEXT, args TEXT, decision TEXT, error TEXT
    ) STRICT;

    CREATE UNIQUE INDEX sessions_key ON sessions (key);
    CREATE INDEX sessions_by_id ON sessions (session_id, updated_at DESC);
    CREATE INDEX sessions_by_time ON sessions (updated_at DESC, key, haystack);
    CREATE INDEX sessions_by_agent ON sessions (agent_id, updated_at DESC, key, haystack);
    CREATE INDEX sessions_by_label ON sessions (label, updated_at DESC, key) WHERE label IS NOT NULL;
    CREATE INDEX sessions_by_parent ON sessions (spawned_by, updated_at DESC, key) WHERE spawned_by IS NOT NULL;
    CREATE UNIQUE INDEX transcript_key ON transcript (session_id, seq);
    CREATE UNIQUE INDEX letters_key ON letters (id);
    CREATE INDEX letters_pending ON letters (session_key, n) WHERE state = 'pending';
    CREATE INDEX letters_claimed ON letters (n) WHERE state = 'claimed';
    CREATE INDEX letters_ended ON letters (at) WHERE state IN ('done', 'failed');
    CREATE UNIQUE INDEX runs_key ON runs (id);
    CREATE INDEX runs_running ON runs (n) WHERE state = 'running';
    CREATE INDEX runs_ended ON runs (ended_at) WHERE state <> 'running';
    CREATE UNIQUE INDEX devices_key ON devices (device_id);
    CREATE UNIQUE INDEX device_requests_key ON device_requests (request_id);
    CREATE INDEX device_requests_by_device ON device_requests (device_id, n);
    CREATE INDEX device_requests_by_expiry ON device_requests (expires_at);
    CREATE UNIQUE INDEX dedupe_key ON dedupe (scope, key);
    CREATE INDEX dedupe_by_expiry ON dedupe (expires_at);
    CREATE UNIQUE INDEX kv_key ON kv (space, key);
    CREATE UNIQUE INDEX journal_key ON journal (id);
    CREATE INDEX journal_by_session ON journal (session_key, n);
    CREATE INDEX journal_by_tool ON journal (tool, n);
    CREATE INDEX journal_not_ok ON journal (outcome, n) WHERE outcome <> 'ok';
  `,
};
