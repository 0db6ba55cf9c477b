// The official MCP conformance suite, which npx fetches (52 MB), passes for every revision that /mcp agrees to.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { openSuite, suiteRuns } from "../../harness/mcp-suite.ts";

let suite: Awaited<ReturnType<typeof openSuite>>;
before(async () => {
  suite = await openSuite();
});
after(() => suite.close());

for (const { title, options, passes } of suiteRuns)
  test(`passes the official suite for ${title}`, async () => {
    const checks = await suite.run(options);
    const wrong = checks.filter(({ status }) => status === "FAILURE" || status === "WARNING");
    assert.deepEqual(wrong, []);
    const passed = new Set(checks.filter(({ status }) => status === "SUCCESS").map(({ id }) => id));
    assert.ok(passed.size >= passes, `only ${passed.size} kinds of checks ran`);
    if (title.endsWith("all scenarios")) assert.ok(passed.has("server-sse-disconnect-resume"));
  });
