import assert from "node:assert/strict";
import { test } from "node:test";

import { sectionText, withSection } from "./results.ts";

const page = "# Bench results\n\n## start\n\nold start\n\n## serve\n\nold serve\n";

test("replaces the figures of one section and keeps the others", () => {
  assert.equal(
    withSection(page, "start", "new start"),
    "# Bench results\n\n## start\n\nnew start\n\n## serve\n\nold serve\n",
  );
  assert.equal(
    withSection(page, "serve", "new serve"),
    "# Bench results\n\n## start\n\nold start\n\n## serve\n\nnew serve\n",
  );
});

test("adds a section that is not on the page yet", () => {
  assert.equal(withSection(page, "exec", "new"), `${page}\n## exec\n\nnew\n`);
});

test("marks a figure that misses its bar", () => {
  const rows = [
    { what: "a | b", bar: "≤ 2x", figure: "1x", reached: true },
    { what: "c", bar: "≤ 2x", figure: "3x", reached: false },
  ];
  assert.equal(
    sectionText(rows, "Measured today."),
    "Measured today.\n\n| What | Bar | Measured |\n| --- | --- | --- |\n| a \\| b | ≤ 2x | 1x |\n| c | ≤ 2x | 3x **missed** |",
  );
});
