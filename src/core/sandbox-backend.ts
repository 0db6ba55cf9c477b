// The kinds of sandbox backends (src/exec/sandbox); config, records and code use this one list.

export const sandboxBackends = ["docker", "bubblewrap"] as const;
export type SandboxBackend = (typeof sandboxBackends)[number];
