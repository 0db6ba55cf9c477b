// Remembers which runs each node was assigned, so that reports about other runs can be rejected.

export interface AssignedRuns {
  assign(runId: string, nodeId: string): void;
  has(runId: string, nodeId: string): boolean;
  /** True only once per run. */
  end(runId: string, nodeId: string): boolean;
}

/** Older runs beyond this number have ended. */
const MAX_RUNS = 2000;

export function createAssignedRuns(): AssignedRuns {
  const runs = new Set<string>();
  const keyOf = (runId: string, nodeId: string): string => `${nodeId} ${runId}`;
  return {
    assign(runId, nodeId) {
      runs.delete(keyOf(runId, nodeId));
      runs.add(keyOf(runId, nodeId));
      const oldest = runs.size > MAX_RUNS ? runs.values().next() : undefined;
      if (oldest !== undefined && !oldest.done) runs.delete(oldest.value);
    },
    has: (runId, nodeId) => runs.has(keyOf(runId, nodeId)),
    end: (runId, nodeId) => runs.delete(keyOf(runId, nodeId)),
  };
}
