// How many rounds the long tests run in `npm run test:all`. In `npm test` each runs a few.
export const longRounds: Readonly<Record<string, string>> = {
  OPENCLAW_APPROVAL_ROUNDS: "100",
  OPENCLAW_BACKUP_ROUNDS: "30",
  OPENCLAW_CONTEXT_ROUNDS: "50",
  OPENCLAW_CRASH_ROUNDS: "50",
  OPENCLAW_CRON_JOBS: "1000",
  OPENCLAW_CRON_ROUNDS: "50",
  OPENCLAW_DIFFERENTIAL_RUNS: "1000",
  OPENCLAW_EDIT_RUNS: "2000",
  OPENCLAW_FAULT_ROUNDS: "30",
  OPENCLAW_FUZZ_RUNS: "5000",
  OPENCLAW_GUARD_ROUNDS: "200",
  OPENCLAW_HOOK_ROUNDS: "30",
  OPENCLAW_INDEX_ROUNDS: "30",
  OPENCLAW_LINE_ROUNDS: "30",
  OPENCLAW_LOCK_ROUNDS: "100",
  OPENCLAW_MEMORY_ROUNDS: "30",
  OPENCLAW_MODEL_ROUNDS: "100",
  OPENCLAW_MUTATION_SHARE: "0.2",
  OPENCLAW_OVERFLOW_ROUNDS: "50",
  OPENCLAW_OWNER_ROUNDS: "50",
  OPENCLAW_PATH_RUNS: "5000",
  OPENCLAW_PROCESS_ROUNDS: "50",
  OPENCLAW_PROPERTY_RUNS: "5000",
  OPENCLAW_RACE_ROUNDS: "1000",
  OPENCLAW_RESTART_ROUNDS: "30",
  OPENCLAW_SUBAGENT_ROUNDS: "30",
  OPENCLAW_UNDO_ROUNDS: "100",
};

/** Whether a test file reads how many rounds it runs. */
export function longTests(source: string): boolean {
  return Object.keys(longRounds).some((name) => source.includes(name));
}
