// The summaries of commands: repeated names, repeated summaries and summaries outside the table are found.
import assert from "node:assert/strict";
import { test } from "node:test";

import { declaresSummary, findRepeats } from "./check-summaries.ts";

test("finds a command and a summary that are declared twice", () => {
  const declared = [
    { path: ["cron", "list"], summary: "List the jobs." },
    { path: ["cron", "jobs"], summary: "List the jobs." },
    { path: ["cron", "list"], summary: "List all jobs." },
  ];
  assert.deepEqual(findRepeats(declared), [
    "openclaw cron list is declared 2 times",
    'cron list, cron jobs share the summary "List the jobs."',
  ]);
  assert.deepEqual(findRepeats(declared.slice(0, 1)), []);
});

test("finds a summary in the file of a command", () => {
  assert.ok(declaresSummary('export const command = {\n  summary: "List the jobs.",\n};\n'));
  assert.ok(!declaresSummary("const rows = jobs.map(({ summary }) => summary);\n"));
});
