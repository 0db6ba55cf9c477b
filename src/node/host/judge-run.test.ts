// A node's own rules: variables of a call never widen an allowlist.
import assert from "node:assert/strict";
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";

import { judgeRun, type ResolvedRun } from "./judge-run.ts";
import { parseRun } from "./run-request.ts";

const state = realpathSync(mkdtempSync(join(tmpdir(), "node-rules-")));
after(() => rmSync(state, { recursive: true, force: true }));

const path = ["/usr/local/bin", "/usr/bin", "/bin"];

async function judged(command: readonly string[], prefix: readonly string[]): Promise<string> {
  const context = { cwd: state, workspace: state, home: state, path: [...prefix, ...path], guarded: [] };
  const job: ResolvedRun = { ...parseRun({ command }, "node"), context, prefix };
  const { judgment } = await judgeRun(job, state, false);
  return `${judgment.outcome} ${judgment.code}`;
}

function allow(...patterns: readonly string[]): void {
  const agents = { "*": { allowlist: patterns.map((pattern) => ({ pattern })) } };
  const file = { version: 1, defaults: { security: "allowlist", ask: "on-miss" }, agents };
  writeFileSync(join(state, "exec-approvals.json"), JSON.stringify(file), { mode: 0o600 });
}

test("asks for approval when an allowed program runs with folders added before PATH", async () => {
  allow("/usr/bin/env", "/bin/date", "/usr/bin/date");
  for (const command of [["date"], ["/bin/sh", "-lc", "date"]]) {
    assert.equal(await judged(command, []), "run exec.allowed");
    assert.equal(await judged(command, [state]), "ask exec.path");
  }
});

test("ignores added folders when the allowlist is not used", async () => {
  writeFileSync(
    join(state, "exec-approvals.json"),
    JSON.stringify({ version: 1, defaults: { security: "full", ask: "off" } }),
  );
  assert.equal(await judged(["date"], [state]), "run exec.full");
});
