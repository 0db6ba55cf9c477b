// Runs the official MCP conformance suite against /mcp, once for each revision we agree to, and prints what it found.
// The suite is fetched by npx: node scripts/with-node24.mjs scripts/mcp-conformance.ts
import { openSuite, suiteRuns } from "../test/harness/mcp-suite.ts";

const suite = await openSuite();
try {
  for (const { title, options } of suiteRuns) {
    const checks = await suite.run(options);
    const count = (status: string): number => checks.filter((check) => check.status === status).length;
    console.log(`${title}: ${count("SUCCESS")} passed, ${count("FAILURE")} failed, ${count("WARNING")} warnings`);
    for (const { scenario, id, status, errorMessage } of checks)
      if (status === "FAILURE" || status === "WARNING") console.log(`  ${status} ${scenario} ${id}: ${errorMessage}`);
    // Without results the suite itself did not run.
    if (count("FAILURE") > 0 || checks.length === 0) process.exitCode = 1;
  }
} finally {
  await suite.close();
}
