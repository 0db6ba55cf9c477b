// The runs each node was given: what a node reports of any other run is made up.

export interface AssignedRuns {
  assign(runId: string, nodeId: string): void;
  has(runId: string, nodeId: string): boolean;
  /** True once: a second report of the same end finds nothing. */
  end(runId: string, nodeId: string): boolean;
}

/** The oldest beyond this are long over. */
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
