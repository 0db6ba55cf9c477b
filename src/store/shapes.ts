// The key columns and JSON columns of each table, for verify and salvage.

export interface Shape {
  readonly table: string;
  /** Unique together, under the index `<table>_key`. */
  readonly key: readonly string[];
  readonly json: readonly string[];
}

export const shapes: readonly Shape[] = [
  { table: "sessions", key: ["key"], json: ["entry"] },
  { table: "transcript", key: ["session_id", "seq"], json: ["body"] },
  { table: "letters", key: ["id"], json: ["body", "result"] },
  { table: "runs", key: ["id"], json: ["body"] },
  { table: "children", key: ["run_id"], json: ["body"] },
  { table: "devices", key: ["device_id"], json: ["record"] },
  { table: "device_requests", key: ["request_id"], json: ["body"] },
  { table: "dedupe", key: ["scope", "key"], json: ["result"] },
  { table: "kv", key: ["space", "key"], json: ["value"] },
  { table: "jobs", key: ["id"], json: ["body", "state"] },
  { table: "slots", key: ["job_id", "slot"], json: [] },
  { table: "journal", key: ["id"], json: ["intent", "args", "decision", "error"] },
];
