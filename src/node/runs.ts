// The runs each node was given: what a node reports of any other run is made up.

export interface GivenRun {
  readonly runId: string;
  readonly nodeId: string;
  /** Where its end may be told; absent when nobody asked for that. */
  readonly sessionKey?: string;
}

export interface GivenRuns {
  give(run: GivenRun): void;
  /** The run, once: a second report of the same end finds nothing. */
  take(runId: string, nodeId: string): GivenRun | undefined;
  has(runId: string, nodeId: string): boolean;
}

/** More than one machine runs at a time; the oldest are long over. */
const MAX_RUNS = 2000;

export function createGivenRuns(): GivenRuns {
  const runs = new Map<string, GivenRun>();
  const keyOf = (runId: string, nodeId: string): string => `${nodeId} ${runId}`;
  return {
    give(run) {
      const key = keyOf(run.runId, run.nodeId);
      runs.delete(key);
      runs.set(key, run);
      const oldest = runs.size > MAX_RUNS ? runs.keys().next() : undefined;
      if (oldest !== undefined && !oldest.done) runs.delete(oldest.value);
    },
    take(runId, nodeId) {
      const key = keyOf(runId, nodeId);
      const run = runs.get(key);
      runs.delete(key);
      return run;
    },
    has: (runId, nodeId) => runs.has(keyOf(runId, nodeId)),
  };
}
