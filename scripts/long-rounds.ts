// How many rounds the long tests run in `npm run test:all` (chosen for about 25 minutes on two cores). `npm test` runs a few.
export const longRounds: Readonly<Record<string, string>> = {
  OPENCLAW_APPROVAL_ROUNDS: "100",
  OPENCLAW_BACKUP_ROUNDS: "30",
  OPENCLAW_CONTEXT_ROUNDS: "36",
  OPENCLAW_CRASH_ROUNDS: "20",
  OPENCLAW_CRON_JOBS: "1000",
  OPENCLAW_CRON_ROUNDS: "50",
  OPENCLAW_DIFFERENTIAL_RUNS: "1000",
  OPENCLAW_EDIT_RUNS: "2000",
  OPENCLAW_FAULT_ROUNDS: "40",
  OPENCLAW_FUZZ_RUNS: "5000",
  OPENCLAW_GUARD_ROUNDS: "150",
  OPENCLAW_HOOK_ROUNDS: "30",
  OPENCLAW_INDEX_ROUNDS: "30",
  OPENCLAW_LINE_ROUNDS: "15",
  OPENCLAW_LOCK_ROUNDS: "40",
  OPENCLAW_MEMORY_ROUNDS: "30",
  OPENCLAW_MODEL_ROUNDS: "10",
  OPENCLAW_MUTATION_SHARE: "0.2",
  OPENCLAW_OVERFLOW_ROUNDS: "10",
  OPENCLAW_OWNER_ROUNDS: "50",
  OPENCLAW_PATH_RUNS: "5000",
  OPENCLAW_PROCESS_ROUNDS: "10",
  OPENCLAW_PROPERTY_RUNS: "2000",
  OPENCLAW_RACE_ROUNDS: "500",
  OPENCLAW_RESTART_ROUNDS: "20",
  OPENCLAW_SALVAGE_ROUNDS: "400",
  OPENCLAW_SUBAGENT_ROUNDS: "20",
  OPENCLAW_UNDO_ROUNDS: "100",
};

/** Left out of `npm test`, because each takes long; `npm run test:all` runs them, most with full rounds. */
export const longFiles: ReadonlySet<string> = new Set([
  "src/exec/sandbox/docker.system.test.ts",
  "src/memory/embed/local.system.test.ts",
  "src/security/selftest/selftest.system.test.ts",
  "test/attack/browser.test.ts",
  "test/attack/exec-own.test.ts",
  "test/attack/fs-race.test.ts",
  "test/attack/fs.test.ts",
  "test/attack/patch.test.ts",
  "test/attack/sandbox.test.ts",
  "test/e2e/browser/node.test.ts",
  "test/e2e/browser/relay.test.ts",
  "test/e2e/browser/tool.test.ts",
  "test/e2e/cli/security-selftest.test.ts",
  "test/e2e/cli/update.test.ts",
  "test/e2e/cron/heartbeat.test.ts",
  "test/e2e/fault/approvals.test.ts",
  "test/e2e/fault/context.test.ts",
  "test/e2e/fault/cron.test.ts",
  "test/e2e/fault/exec.test.ts",
  "test/e2e/fault/files.test.ts",
  "test/e2e/fault/full-disk.test.ts",
  "test/e2e/fault/gateway.test.ts",
  "test/e2e/fault/memory.test.ts",
  "test/e2e/fault/model.test.ts",
  "test/e2e/fault/state-owner.test.ts",
  "test/e2e/fault/subagents.test.ts",
  "test/e2e/fault/undo.test.ts",
  "test/e2e/memory/vectors.test.ts",
  "test/e2e/page/nodes.test.ts",
]);

/** Whether a test reads its number of rounds, itself or by `rounds` of a shared file, or is long as a whole. */
export function isLongTest(file: string, source: string): boolean {
  return (
    file.endsWith(".long.test.ts") ||
    longFiles.has(file) ||
    /\brounds\(/.test(source) ||
    Object.keys(longRounds).some((name) => source.includes(name))
  );
}
