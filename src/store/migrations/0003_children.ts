// Subagents and their outcomes, and an index of sessions by the kind of their key.
import { keyKind } from "../key-kind.ts";
import type { Migration } from "./migration.ts";

export const children: Migration = {
  version: 3,
  name: "children",
  up: `
    CREATE TABLE children (
      n INTEGER PRIMARY KEY, run_id TEXT NOT NULL, child_key TEXT NOT NULL, requester_key TEXT NOT NULL,
      state TEXT NOT NULL, status TEXT, created_at INTEGER NOT NULL, ended_at INTEGER, archive_at INTEGER, body TEXT
    ) STRICT;

    CREATE UNIQUE INDEX children_key ON children (run_id);
    CREATE INDEX children_by_requester ON children (requester_key, n);
    CREATE INDEX children_running ON children (requester_key, n) WHERE state = 'running';
    CREATE INDEX children_open ON children (n) WHERE state <> 'told';
    CREATE INDEX children_due ON children (archive_at) WHERE archive_at IS NOT NULL;
    CREATE INDEX children_ended ON children (ended_at) WHERE state = 'told';
    CREATE INDEX sessions_by_kind ON sessions (agent_id, ${keyKind}, updated_at DESC, key);
  `,
};
