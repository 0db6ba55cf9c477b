// The kind of a session key as an indexed SQL expression, so that listing by kind reads only matching rows.

const rest = "substr(key, 7 + instr(substr(key, 7), ':'))";

/** The index and the query must use the same text, otherwise SQLite does not use the index. */
export const keyKind = `CASE
  WHEN key GLOB 'agent:*:group:*' OR key GLOB 'agent:*:channel:*' OR key GLOB 'agent:*:room:*' THEN 'group'
  WHEN ${rest} GLOB 'cron:*' THEN 'cron' WHEN ${rest} GLOB 'hook:*' THEN 'hook' WHEN ${rest} GLOB 'node-*' THEN 'node'
  ELSE 'other' END`;
